/** The table from what Google answered to one of our refusals. Google's text is only matched, never passed on. */

import type { ErrorCode, FailureReason } from "../errors.ts";
import { isRecord } from "../platform/is-record.ts";
import { KEY_PAGE } from "./key-page.ts";
import { parseJson } from "./parse-json.ts";

export interface Failure {
  code: ErrorCode;
  message: string;
  suggestion: string;
  reason: FailureReason;
  retryable?: boolean;
}

/** What the refused request was for: each has its own setting for the model. */
export type Purpose = "search" | "agent" | "followup";

export interface RefusedRequest {
  model: string;
  purpose: Purpose;
  /** Whether the request had labels. */
  hasLabels?: boolean | undefined;
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
  needs?: "hasLabels";
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
  followup: "Set RESEARCH_FOLLOWUP_MODEL to a current model, or unset it.",
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
    "Unset GEMINI_MODEL or set it to a current Gemini model; use Deep Research agents with start_deep_research.",
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
    words: /\blabels\b/,
    needs: "hasLabels",
    refusal: { ...UNKNOWN_PARAMETER, reason: "labels" },
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
