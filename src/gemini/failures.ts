/** Turns upstream errors into our own messages. Upstream error text only goes to the debug log. */

import { AppError, type AppErrorOptions, type ErrorCode, type FailureReason } from "../errors.ts";
import type { Log } from "../platform/log.ts";
import { connectionFailure } from "./transport/connection-failure.ts";

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

interface Failure {
  code: ErrorCode;
  message: string;
  suggestion?: string;
  reason: FailureReason;
  retryable?: boolean;
}

const NEW_KEY = "Check GEMINI_API_KEY; you can create a new key in Google AI Studio.";

function fromStatus(status: number, { keyRefused, model }: { keyRefused: boolean; model: string }): Failure {
  if (keyRefused || status === 401) {
    return { code: "GEMINI_UNAVAILABLE", message: "Google rejected the API key.", suggestion: NEW_KEY, reason: "auth" };
  }
  if (status === 403) {
    return {
      code: "GEMINI_UNAVAILABLE",
      message: "Google does not allow this key to use the model.",
      suggestion: "Check that the Gemini API is enabled for the key's project and that its restrictions allow it.",
      reason: "auth",
    };
  }
  if (status === 404) {
    return {
      code: "EXECUTION_ERROR",
      message: `Google does not recognise the model ${model}.`,
      suggestion: "Set GEMINI_MODEL to a current model, or unset it.",
      reason: "config",
    };
  }
  if (status === 429) {
    return {
      code: "GEMINI_UNAVAILABLE",
      message: "Google's quota for this key is used up for now.",
      suggestion: "Wait a minute, or check the key's plan and limits in Google AI Studio.",
      reason: "rate_limit",
      retryable: true,
    };
  }
  if (status === 408 || status >= 500) {
    return {
      code: "GEMINI_UNAVAILABLE",
      message: `Google's service is overloaded or failing (HTTP ${status}).`,
      suggestion: "Try again in a few minutes.",
      reason: "overloaded",
      retryable: true,
    };
  }
  return {
    code: "EXECUTION_ERROR",
    message: `Google rejected the request (HTTP ${status}).`,
    suggestion: "Shorten or rephrase the question; with DEBUG=true the log contains Google's message.",
    reason: "input",
  };
}

interface ApiFailureContext {
  model: string;
  partialText: string;
  log: Pick<Log, "debug">;
  /** The host that the request was sent to, if known. */
  host?: string | undefined;
}

/** Converts any error of the SDK or of fetch. Text received before the failure is kept in the details. */
export function apiFailure(error: unknown, { model, partialText, log, host }: ApiFailureContext): AppError {
  if (error instanceof AppError) return error;
  const text = error instanceof Error ? error.message : String(error);
  log.debug(`Gemini API: ${text.slice(0, 2_000)}`);
  const status = httpStatusOf(error);
  const failure =
    status === undefined
      ? networkFailure(error, host)
      : fromStatus(status, { keyRefused: /API_KEY_INVALID|API key not valid|API key expired/i.test(text), model });
  return new AppError({
    ...failure,
    details: partialText.trim() === "" ? undefined : { partial_text: partialText },
    cause: error,
  });
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
  reason: "network",
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
