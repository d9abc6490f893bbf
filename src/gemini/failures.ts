/**
 * Google's errors in our own words: refused requests by a table of status, code and words, failed connections by their
 * cause. Google's text is only matched; it goes to the debug log.
 */

import { AppError, type AppErrorOptions, type ErrorCode, type FailureReason } from "../errors.ts";
import type { Log } from "../platform/log.ts";
import { isRecord } from "../platform/is-record.ts";
import { parseJson } from "../platform/parse-json.ts";

/** Where a user gets an API key. */
export const KEY_PAGE = "https://aistudio.google.com/apikey";

export function cancelled(): AppError {
  return new AppError({ code: "CANCELLED", message: "The call was cancelled.", reason: "stopped" });
}

export function timedOut(timeoutMs: number, partialText: string): AppError {
  return new AppError({
    code: "EXECUTION_ERROR",
    message: `Gemini did not finish within ${timeoutMs / 1_000} s.`,
    suggestion: "Ask a narrower question, or allow more time with GEMINI_SEARCH_TIMEOUT (milliseconds).",
    details: partialText.trim() === "" ? undefined : { partial_text: partialText },
    reason: "timeout",
  });
}

interface ApiFailureContext extends RefusedRequest {
  partialText: string;
  log: Pick<Log, "debug">;
  /** The host that the request was sent to, if known. */
  host?: string | undefined;
}

/** Converts any error of the SDK or of fetch. Text received before the failure is kept in the details. */
export function apiFailure(error: unknown, context: ApiFailureContext): AppError {
  if (error instanceof AppError) return error;
  const { partialText, log, host } = context;
  const text = textOf(error);
  log.debug(`Gemini API: ${text.slice(0, 2_000)}`);
  const status = httpStatusOf(error);
  const failure = status === undefined ? networkFailure(error, host) : answeredFailure(status, text, context);
  return new AppError({
    ...failure,
    details: partialText.trim() === "" ? undefined : { partial_text: partialText },
    cause: error,
  });
}

/** Where the SDK rejects a response although its status is no error, its content is not Google's. */
const answeredFailure = (status: number, text: string, request: RefusedRequest): Failure =>
  status < 400 ? NOT_GOOGLE : refusalOf(status, text, request);

/** The response where the SDK keeps it; the message of its errors contains it only in part. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "body" in error && typeof error.body === "string" && error.body !== "" ? error.body : error.message;
}

/** The HTTP status of an SDK error; undefined if there was no response. */
export function httpStatusOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("status" in error)) return undefined;
  return typeof error.status === "number" ? error.status : undefined;
}

const NOT_GOOGLE: Failure = {
  code: "GEMINI_UNAVAILABLE",
  message: "Something other than Google answered.",
  suggestion: "Check GOOGLE_GEMINI_BASE_URL, the proxy, and whether the network requires a login.",
  reason: "not_google",
  retryable: true,
};

/** For a readable response that does not come from Google. */
export const notGoogle = (): AppError => new AppError(NOT_GOOGLE);

/** Errors of the SDK, JSON.parse and our size limit when a web page arrives instead of a response. */
const NOT_JSON = /SyntaxError|Incomplete JSON segment|is not valid JSON|ResponseTooLarge/;

export const isUnreadable = (error: unknown): boolean =>
  NOT_JSON.test(error instanceof Error ? `${error.name} ${error.message}` : "");

function networkFailure(error: unknown, host: string | undefined): AppErrorOptions {
  return isUnreadable(error) ? NOT_GOOGLE : connectionFailure(error, host);
}

interface Failure {
  code: ErrorCode;
  message: string;
  suggestion: string;
  reason: FailureReason;
  retryable?: boolean;
}

/** What the refused request was for: each has its own setting for the model. */
export type Purpose = "search" | "agent" | "followup" | "judge";

export interface RefusedRequest {
  model: string;
  purpose: Purpose;
  /** Whether the request had labels, and the address of our webhook. */
  hasExtras?: boolean | undefined;
}

interface GoogleAnswer {
  status: number;
  /** Codes, statuses and reasons of the error, in lower case. */
  codes: readonly string[];
  /** The response, as text. */
  text: string;
}

interface Row {
  /** Any of these codes is enough. */
  codes?: readonly string[];
  /** Otherwise one of these statuses, with these words if there are any. */
  statuses?: readonly number[];
  words?: RegExp;
  /** The row is about a field that not every request has. */
  needs?: "hasExtras";
  refusal: Failure | ((request: RefusedRequest) => Failure);
}

export const CREDITS_USED_UP: Failure = {
  code: "GEMINI_UNAVAILABLE",
  message: "The prepaid credits of the API key's billing account are used up.",
  suggestion: "Add credits or turn on auto-reload at https://ai.studio/projects.",
  reason: "billing",
};

export const WRONG_LOCATION: Failure = {
  code: "GEMINI_UNAVAILABLE",
  message: "Google does not offer the Gemini API at this server's location.",
  suggestion:
    "Run the server where the Gemini API is available, reach Google through a proxy there (HTTPS_PROXY), or use Vertex AI.",
  reason: "location",
};

/** Keys of the newer form were seen to be refused like this although one credential was sent. */
export const TWO_CREDENTIALS: Failure = {
  code: "GEMINI_UNAVAILABLE",
  message: "Google reports more than one credential in the request.",
  suggestion:
    "Check that no proxy or gateway adds one (HTTPS_PROXY, GOOGLE_GEMINI_BASE_URL). If the key begins with AQ., use one that begins with AIza.",
  reason: "credentials",
};

const CONTENT_REFUSED: Failure = {
  code: "EXECUTION_ERROR",
  message: "Google's content filters refuse the question.",
  suggestion: "Rephrase the question; the same words are refused again.",
  reason: "blocked",
};

const KEY_REJECTED: Failure = {
  code: "GEMINI_UNAVAILABLE",
  message: "Google rejected the API key.",
  suggestion: `Create a new key at ${KEY_PAGE}, then run gemini-search-mcp init, or correct GEMINI_API_KEY.`,
  reason: "auth",
};

const NOT_PERMITTED: Failure = {
  code: "GEMINI_UNAVAILABLE",
  message: "Google does not allow this key to use the model.",
  suggestion: "Check that the Gemini API is enabled for the key's project and that its restrictions allow it.",
  reason: "auth",
};

const PRECONDITION: Failure = {
  code: "GEMINI_UNAVAILABLE",
  message: "Google refuses the key's project because a precondition, such as billing, is not met.",
  suggestion: "Check the billing of the project in Google AI Studio.",
  reason: "config",
};

const UNKNOWN_PARAMETER: Failure = {
  code: "EXECUTION_ERROR",
  message: "Google does not accept a parameter of this request.",
  suggestion:
    "Update gemini-search-mcp, and check GOOGLE_GEMINI_BASE_URL if it is set; with DEBUG=true the log contains Google's message.",
  reason: "config",
};

const TOO_LARGE: Failure = {
  code: "EXECUTION_ERROR",
  message: "The request is too large for Google.",
  suggestion: "Shorten the question, or send fewer or smaller files.",
  reason: "input",
};

const OVER_QUOTA: Failure = {
  code: "GEMINI_UNAVAILABLE",
  message: "Google's quota for this key is used up for now.",
  suggestion: "Wait a minute, or check the key's plan and limits in Google AI Studio.",
  reason: "rate_limit",
  retryable: true,
};

const CURRENT_MODEL: Record<Purpose, string> = {
  search: "Set GEMINI_MODEL to a current model, or unset it.",
  agent: "Name a current Deep Research agent, or leave the model out.",
  followup: "Update gemini-search-mcp: its newest version names a current model.",
  judge: "Set VERIFY_JUDGE=off, or use a key that has this model.",
};

const unknownModel = ({ model, purpose }: RefusedRequest): Failure => ({
  code: "EXECUTION_ERROR",
  message: `Google does not recognise the model ${model}.`,
  suggestion: CURRENT_MODEL[purpose],
  reason: "config",
});

const interactionsOnly = ({ model }: RefusedRequest): Failure => ({
  code: "EXECUTION_ERROR",
  message: `The model ${model} cannot search: Google serves it through the Interactions API only.`,
  suggestion:
    "Unset GEMINI_MODEL or set it to a current Gemini model; Deep Research agents can be used for research only, not for searches.",
  reason: "config",
});

const overloaded = (status: number): Failure => ({
  code: "GEMINI_UNAVAILABLE",
  message: `Google's service is overloaded or failing (HTTP ${status}).`,
  suggestion: "Try again in a few minutes.",
  reason: "overloaded",
  retryable: true,
});

const rejected = (status: number): Failure => ({
  code: "EXECUTION_ERROR",
  message: `Google rejected the request (HTTP ${status}).`,
  suggestion: "Shorten or rephrase the question; with DEBUG=true the log contains Google's message.",
  reason: "input",
});

/** The first match wins. The codes are those of Google's page on API errors, besides the older ones of google.rpc. */
const ROWS: readonly Row[] = [
  { codes: ["payment_required"], statuses: [402], refusal: CREDITS_USED_UP },
  { statuses: [429], words: /prepay(?:ment)? credit/i, refusal: CREDITS_USED_UP },
  { statuses: [400, 401], words: /multiple authentication credentials/i, refusal: TWO_CREDENTIALS },
  { codes: ["api_key_invalid", "authentication", "unauthenticated"], statuses: [401], refusal: KEY_REJECTED },
  { statuses: [400, 403], words: /API_KEY_INVALID|API key not valid|API key expired/i, refusal: KEY_REJECTED },
  { statuses: [400, 403], words: /location is not supported/i, refusal: WRONG_LOCATION },
  { codes: ["prohibited_content", "safety", "recitation"], refusal: CONTENT_REFUSED },
  {
    statuses: [400],
    words: /\b(?:labels|webhook\w*)\b/i,
    needs: "hasExtras",
    refusal: { ...UNKNOWN_PARAMETER, reason: "extras" },
  },
  { codes: ["parameter_unknown"], refusal: UNKNOWN_PARAMETER },
  { statuses: [400], words: /unknown (?:parameter|name)\b/i, refusal: UNKNOWN_PARAMETER },
  { statuses: [400], words: /only supports? (?:the )?Interactions API/i, refusal: interactionsOnly },
  { statuses: [400], words: /payload size exceeds|token count\b.*\bexceeds/i, refusal: TOO_LARGE },
  { statuses: [413], refusal: TOO_LARGE },
  { codes: ["failed_precondition"], refusal: PRECONDITION },
  { statuses: [403], refusal: NOT_PERMITTED },
  { statuses: [404], refusal: unknownModel },
  { statuses: [429], refusal: OVER_QUOTA },
];

export function refusalOf(status: number, text: string, request: RefusedRequest): Failure {
  const answer = { status, codes: codesIn(text), text };
  const row = ROWS.find((each) => (each.needs === undefined || request[each.needs] === true) && isAbout(each, answer));
  if (row === undefined) return status === 408 || status >= 500 ? overloaded(status) : rejected(status);
  return typeof row.refusal === "function" ? row.refusal(request) : row.refusal;
}

function isAbout({ codes = [], statuses = [], words }: Row, answer: GoogleAnswer): boolean {
  if (answer.codes.some((code) => codes.includes(code))) return true;
  return statuses.includes(answer.status) && (words === undefined || words.test(answer.text));
}

/** Reads the error of the Interactions API and that of Google's other APIs, alone or in an array. */
function codesIn(text: string): string[] {
  // The SDK puts words of its own in front of an error that arrives in a stream.
  const body = parseJson(text.slice(Math.max(0, text.search(/[[{]/))));
  const first: unknown = Array.isArray(body) ? body[0] : body;
  const error = isRecord(first) && isRecord(first["error"]) ? first["error"] : {};
  const details: unknown[] = Array.isArray(error["details"]) ? error["details"] : [];
  const reasons = details.map((detail) => (isRecord(detail) ? detail["reason"] : undefined));
  return [error["code"], error["status"], ...reasons].flatMap((code) =>
    typeof code === "string" ? [code.toLowerCase()] : [],
  );
}

type Diagnosis = "dns" | "refused" | "tls" | "timeout" | "other";

const DNS = /^(?:ENOTFOUND|EAI_\w+|ENODATA|ESERVFAIL)$/;
const TLS =
  /^(?:CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|EPROTO)/;
const TIMEOUT = /^(?:ETIMEDOUT|UND_ERR_\w*TIMEOUT)$/;

/** Node and the SDK wrap an error several times, and report attempts at several addresses of a host together. */
const MAX_DEPTH = 6;

function diagnose(error: unknown): Diagnosis {
  for (let cause = error, depth = 0; isRecord(cause) && depth < MAX_DEPTH; cause = cause["cause"], depth += 1) {
    const { syscall, errors } = cause;
    const code = typeof cause["code"] === "string" ? cause["code"] : "";
    if (DNS.test(code) || syscall === "getaddrinfo") return "dns";
    if (code === "ECONNREFUSED") return "refused";
    if (TLS.test(code)) return "tls";
    if (TIMEOUT.test(code)) return "timeout";
    if (Array.isArray(errors) && errors.length > 0) return diagnose(errors[0]);
  }
  return "other";
}

/** A model call is charged only once Google has answered it; a program such as the CLI may have made several calls. */
export function wasNotCharged({ code, reason, cause }: AppError): boolean {
  if (code === "CLI_NOT_FOUND" || UNCHARGED.has(reason)) return true;
  if (cause === undefined) return false;
  const status = httpStatusOf(cause);
  if (status === undefined) return NEVER_CONNECTED.has(diagnose(cause));
  // A gateway between may have given up on a request that Google answers and charges.
  return status >= 500 || status === 408 ? codesIn(textOf(cause)).some((one) => GOOGLES.has(one)) : status >= 400;
}

/** The codes of google.rpc for 5xx, and those of the Interactions API. A gateway has words of its own in their place. */
const GOOGLES: ReadonlySet<string> = new Set([
  "api_error",
  "data_loss",
  "deadline_exceeded",
  "internal",
  "service_unavailable",
  "unavailable",
  "unimplemented",
  "unknown",
]);

const UNCHARGED = new Set<FailureReason | undefined>(["auth", "config", "billing", "location", "credentials"]);
const NEVER_CONNECTED = new Set<Diagnosis>(["dns", "refused", "tls"]);

const PROXY = "the proxy variables (HTTPS_PROXY) and GOOGLE_GEMINI_BASE_URL";

const ADVICE: Record<Diagnosis, string> = {
  dns: `Its address could not be found (DNS). Check the network and its name server, ${PROXY}.`,
  refused: `Check the firewall, ${PROXY}.`,
  tls: "Check this machine's clock. A proxy that inspects traffic needs its certificate in NODE_EXTRA_CA_CERTS.",
  timeout: `Check the network, the firewall, ${PROXY}.`,
  other: `Check the network, ${PROXY}.`,
};

function connectionFailure(error: unknown, host = "Google's service"): AppErrorOptions {
  const diagnosis = diagnose(error);
  const messages: Record<Diagnosis, string> = {
    // Nearly always a machine without a network, for which the name of a host says nothing.
    dns: "Can't reach Google. Are you online?",
    refused: `The connection to ${host} was refused.`,
    tls: `No secure connection to ${host} could be made: its certificate or protocol was not accepted (TLS).`,
    timeout: `The connection to ${host} timed out.`,
    other: `The connection to ${host} failed.`,
  };
  return {
    code: "GEMINI_UNAVAILABLE",
    message: messages[diagnosis],
    suggestion: ADVICE[diagnosis],
    reason: "network",
    retryable: true,
  };
}
