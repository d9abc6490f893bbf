/** Turns a failed Gemini CLI call into one of our own messages (C8). Upstream text is only classified, never quoted. */

import { AppError, type AppErrorOptions, type FailureReason } from "../../errors.ts";
import type { ChildOutcome } from "../../platform/child.ts";
import { CREDITS_USED_UP, KEY_PAGE, TWO_CREDENTIALS, WRONG_LOCATION } from "../failures.ts";
import type { CliOutput } from "./output.ts";

const INSTALL_COMMAND = "npm install -g @google/gemini-cli";

export function cliNotFound(): AppError {
  return new AppError({
    code: "CLI_NOT_FOUND",
    message: `The Gemini CLI is not installed. Install it with: ${INSTALL_COMMAND}`,
    suggestion: "Or set GEMINI_API_KEY and SEARCH_BACKEND=api to use the Gemini API instead.",
    reason: "config",
  });
}

/** With SEARCH_BACKEND=auto either would do; a key is the shorter way for most users. */
export function nothingConfigured(): AppError {
  return new AppError({
    code: "CLI_NOT_FOUND",
    message: `No Gemini API key found. Get one at ${KEY_PAGE}, then run: gemini-search-mcp init`,
    suggestion: `Or set GEMINI_API_KEY yourself, or install the Gemini CLI: ${INSTALL_COMMAND}`,
    reason: "config",
  });
}

interface FailedCall {
  child: ChildOutcome;
  output: CliOutput;
  timeoutMs: number;
  /** Text received before the failure; kept because it was paid for. */
  partialText: string;
}

export function cliFailure({ child, output, timeoutMs, partialText }: FailedCall): AppError {
  const failed = failureOf(child, output, timeoutMs);
  const details = { ...failed.details, ...(partialText.trim() === "" ? {} : { partial_text: partialText }) };
  return new AppError({
    code: "EXECUTION_ERROR",
    ...failed,
    details: Object.keys(details).length === 0 ? undefined : details,
  });
}

type Failure = Omit<AppErrorOptions, "code" | "cause"> & { code?: AppErrorOptions["code"] };

function failureOf(child: ChildOutcome, output: CliOutput, timeoutMs: number): Failure {
  switch (child.ended) {
    case "not_started":
      return notStarted(child.errorCode);
    case "timeout":
      return {
        message: `The Gemini CLI did not finish within ${timeoutMs / 1_000} s and was stopped.`,
        suggestion: "Ask a narrower question, or raise GEMINI_SEARCH_TIMEOUT (milliseconds).",
        reason: "timeout",
      };
    case "output_limit":
      return {
        message: "The Gemini CLI printed more than 32 MB and was stopped.",
        suggestion: "Ask a narrower question.",
        reason: "output_limit",
      };
    case "stopped":
      return {
        code: "INTERRUPTED",
        message: "The server was shut down while the Gemini CLI was working.",
        reason: "stopped",
      };
    case "aborted":
      return { code: "CANCELLED", message: "The call was cancelled.", reason: "stopped" };
    default:
      return {
        ...failureOfExit(child.exitCode, child.signal, { output, stderr: child.stderr }),
        details: { exit_code: child.exitCode ?? null, signal: child.signal ?? null },
      };
  }
}

function notStarted(errorCode: string): Failure {
  if (errorCode === "ENOENT") {
    return {
      code: "CLI_NOT_FOUND",
      message: `The Gemini CLI is no longer installed where it was found. Install it with: ${INSTALL_COMMAND}`,
      reason: "config",
    };
  }
  return {
    message: `The Gemini CLI could not be started (${errorCode}).`,
    suggestion: `Check that the file is executable, or install it again with: ${INSTALL_COMMAND}`,
    reason: "config",
    // The machine is temporarily short of processes, memory or file handles.
    retryable: ["EAGAIN", "ENOMEM", "EMFILE", "ETXTBSY"].includes(errorCode),
  };
}

const SIGN_IN_HELP = `Set GEMINI_API_KEY to a key from ${KEY_PAGE}. Google ended free and individual Google logins for the Gemini CLI on 2026-06-18; keys, Vertex AI and Code Assist licences continue to work.`;

const failure = (message: string, suggestion: string, reason: FailureReason): Failure => ({
  message,
  suggestion,
  reason,
});

const passing = (message: string, suggestion: string, reason: FailureReason): Failure => ({
  ...failure(message, suggestion, reason),
  retryable: true,
});

const AUTH = failure("The Gemini CLI could not sign in to Google.", SIGN_IN_HELP, "auth");

const RATE_LIMIT = passing(
  "Google refused the request because of a rate limit or an exhausted quota.",
  "Try again shortly, or check your key's limits in Google AI Studio.",
  "rate_limit",
);

const OVERLOADED = passing(
  "Gemini is overloaded or failing right now.",
  "Try again in a few minutes, or set GEMINI_MODEL to another model.",
  "overloaded",
);

const NETWORK = passing(
  "The Gemini CLI could not reach Google over the network.",
  "Check the connection and the proxy variables.",
  "network",
);

const NO_ANSWER = passing(
  "The Gemini CLI ended without an answer.",
  "Try again; with DEBUG=true the log shows what it printed.",
  "no_answer",
);

const BAD_MODEL = failure(
  "Google does not recognise the model, or your account cannot use it.",
  "Check GEMINI_MODEL and GEMINI_CORRECTION_MODEL, or unset them.",
  "config",
);

const TOO_MANY_TURNS = failure(
  "The Gemini CLI reached its limit of turns in one session.",
  "Raise model.maxSessionTurns in its settings, or ask a narrower question.",
  // Not a fault of the settings alone: the turns before the limit were answered and charged.
  "no_answer",
);

const INVALID_REQUEST = failure(
  "Google refused the request as invalid.",
  "Check GEMINI_MODEL, or ask a shorter question.",
  "input",
);

const EXIT_CODES: Record<number, Failure> = {
  41: AUTH,
  42: failure("The Gemini CLI found no input.", "Ask a question that is not empty.", "input"),
  44: failure(
    "The Gemini CLI could not start its sandbox.",
    "Remove the sandbox setting from the machine's Gemini CLI settings.",
    "config",
  ),
  52: failure(
    "The Gemini CLI refused its settings file.",
    "Correct or delete .gemini/settings.json in the folder gemini-cli of the config directory.",
    "config",
  ),
  53: TOO_MANY_TURNS,
  54: failure(
    "A tool of the Gemini CLI failed permanently, probably because the disk is full.",
    "Free some disk space.",
    "no_answer",
  ),
  55: failure(
    "The Gemini CLI does not trust its working directory.",
    "Remove security.folderTrust from its settings so that ours is used.",
    "config",
  ),
  126: failure("The Gemini CLI cannot be executed.", `Install it again with: ${INSTALL_COMMAND}`, "config"),
  127: failure(
    "The Gemini CLI was found, but not the Node.js it runs on.",
    "Put Node.js on the PATH of this server.",
    "config",
  ),
};

const INTERRUPTED: Failure = { ...NO_ANSWER, message: "The Gemini CLI was interrupted by another process." };

interface CliMessages {
  output: CliOutput;
  stderr: string;
}

/** The exit code decides if it is specific enough; stderr may also contain harmless errors of tools. */
function failureOfExit(code: number | undefined, signal: string | undefined, messages: CliMessages): Failure {
  if (signal !== undefined)
    return { ...NO_ANSWER, message: "The Gemini CLI crashed or was killed by another process." };
  if (code === 41) return matchPatterns(SIGN_IN_PATTERNS, messages) ?? AUTH;
  // An expired login also exits with 130, the code for an interrupt.
  if (code === 130) return matchPatterns(SIGN_IN_PATTERNS, messages) ?? INTERRUPTED;
  const known = EXIT_CODES[code ?? 0];
  if (known !== undefined) return known;
  // The CLI exits with the HTTP status, of which only the low eight bits are kept.
  const status = (code ?? 0) + 256;
  if (status >= 400) {
    const patterns = status === 400 ? [...SIGN_IN_PATTERNS, ...ACCOUNT_PATTERNS] : ACCOUNT_PATTERNS;
    return matchPatterns(patterns, messages) ?? failureOfStatus(status);
  }
  const { succeeded, stats } = messages.output;
  if (code === 0 && succeeded === true && stats?.idle === true) {
    return failure("The question and its context are too long for the model.", "Ask a shorter question.", "input");
  }
  return matchPatterns([...SIGN_IN_PATTERNS, ...ACCOUNT_PATTERNS, ...OTHER_PATTERNS], messages) ?? NO_ANSWER;
}

function failureOfStatus(status: number): Failure {
  if (status === 401 || status === 403) return AUTH;
  if (status === 402) return CREDITS_USED_UP;
  if (status === 404) return BAD_MODEL;
  if (status === 429) return RATE_LIMIT;
  if (status === 408 || status === 409 || status >= 499) return OVERLOADED;
  return INVALID_REQUEST;
}

type Patterns = readonly (readonly [pattern: RegExp, failure: Failure])[];

/** Match text of the CLI and of Google, not of web pages, and only choose the message. The first match wins. */
const SIGN_IN_PATTERNS: Patterns = [
  [
    /IneligibleTier|UNSUPPORTED_CLIENT/,
    failure("Google no longer serves this login through the Gemini CLI.", SIGN_IN_HELP, "auth"),
  ],
  [
    /ProjectIdRequired|InvalidNumericProjectId|requires setting the GOOGLE_CLOUD_PROJECT/,
    failure(
      "This Google login needs a Google Cloud project.",
      `Set GOOGLE_CLOUD_PROJECT to the id of your project. ${SIGN_IN_HELP}`,
      "auth",
    ),
  ],
  [
    /API_KEY_INVALID|API key not valid|API key expired|PERMISSION_DENIED|UNAUTHENTICATED|FatalAuthenticationError|Please set an Auth method|invalid_grant|Manual authorization is required|Authentication (?:cancelled|timed out)|Failed to (?:login|authenticate)/,
    AUTH,
  ],
];

/** About the account or the network, whatever the status is. */
const ACCOUNT_PATTERNS: Patterns = [
  [/prepay(?:ment)? credit/i, CREDITS_USED_UP],
  [/multiple authentication credentials/i, TWO_CREDENTIALS],
  [/location is not supported/i, WRONG_LOCATION],
];

const OTHER_PATTERNS: Patterns = [
  [
    /Unknown arguments?:|Invalid values:\s+Argument: output-format/,
    failure("The installed Gemini CLI is too old for this server.", `Update it with: ${INSTALL_COMMAND}`, "config"),
  ],
  [/\b(?:code|status): 404\b|"code":404\b|ModelNotFoundError/, BAD_MODEL],
  [/Maximum session turns exceeded|Reached max session turns/i, TOO_MANY_TURNS],
  [/INVALID_ARGUMENT|\b(?:code|status): 400\b|"code":\s*400\b/, INVALID_REQUEST],
  [/RESOURCE_EXHAUSTED|QuotaError|\bstatus: 429\b/, RATE_LIMIT],
  [/overloaded|"UNAVAILABLE"|\bstatus: 5\d\d\b/, OVERLOADED],
  [/fetch failed|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNRESET|UND_ERR_|ENETUNREACH|SELF_SIGNED/, NETWORK],
  [
    /blocked due to safety|blocked due to recitation|SAFETY_BLOCKED|RECITATION_BLOCKED|PROHIBITED_CONTENT/i,
    failure("Google's filters blocked the answer.", "Rephrase the question.", "no_answer"),
  ],
];

/** Prefers the errors in the CLI's output to those on stderr. */
function matchPatterns(patterns: Patterns, { output, stderr }: CliMessages): Failure | undefined {
  const find = (text: string): Failure | undefined => patterns.find(([pattern]) => pattern.test(text))?.[1];
  return find(output.errors.join("\n")) ?? find(stderr);
}
