/** What went wrong upstream, in sentences of our own: foreign error text goes to the debug log and no further. */

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

interface Known {
  code: ErrorCode;
  message: string;
  suggestion?: string;
  reason: FailureReason;
  retryable?: boolean;
}

const NEW_KEY = "Check GEMINI_API_KEY; a new key can be made in Google AI Studio.";

function fromStatus(status: number, { keyRefused, model }: { keyRefused: boolean; model: string }): Known {
  if (keyRefused || status === 401) {
    return { code: "GEMINI_UNAVAILABLE", message: "Google refuses the API key.", suggestion: NEW_KEY, reason: "auth" };
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
      message: `Google does not know the model ${model}.`,
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
      message: `Google's service is overloaded or out of order (HTTP ${status}).`,
      suggestion: "Try again in a few minutes.",
      reason: "overloaded",
      retryable: true,
    };
  }
  return {
    code: "EXECUTION_ERROR",
    message: `Google rejected the request (HTTP ${status}).`,
    suggestion: "Shorten or rephrase the question; with DEBUG=true the log holds Google's own words.",
    reason: "input",
  };
}

export interface ApiFailureContext {
  model: string;
  partialText: string;
  log: Pick<Log, "debug">;
  /** Where the request went, as far as it is known. */
  host?: string | undefined;
}

/** Any error of the SDK or of fetch. What was received before a broken connection is kept. */
export function apiFailure(error: unknown, { model, partialText, log, host }: ApiFailureContext): AppError {
  if (error instanceof AppError) return error;
  const text = error instanceof Error ? error.message : String(error);
  log.debug(`Gemini API: ${text.slice(0, 2_000)}`);
  const known = statusOf(error);
  const failure =
    known === undefined
      ? networkFailure(error, host)
      : fromStatus(known, { keyRefused: /API_KEY_INVALID|API key not valid|API key expired/i.test(text), model });
  return new AppError({
    ...failure,
    details: partialText.trim() === "" ? undefined : { partial_text: partialText },
    cause: error,
  });
}

/** The HTTP status, where there was an answer. */
export function statusOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("status" in error)) return undefined;
  return typeof error.status === "number" ? error.status : undefined;
}

const NOT_GOOGLE: Known = {
  code: "GEMINI_UNAVAILABLE",
  message: "Something that is not Google answered in its place.",
  suggestion: "Check GOOGLE_GEMINI_BASE_URL, the proxy, and whether a network login page is in the way.",
  reason: "network",
  retryable: true,
};

/** For an answer that could be read but is none of Google's. */
export const notGoogle = (): AppError => new AppError(NOT_GOOGLE);

/** How the SDK, JSON.parse and our own limit complain about a page in the place of an answer. */
const NOT_JSON = /SyntaxError|Incomplete JSON segment|is not valid JSON|AnswerTooLong/;

export const isUnreadable = (error: unknown): boolean =>
  NOT_JSON.test(error instanceof Error ? `${error.name} ${error.message}` : "");

function networkFailure(error: unknown, host: string | undefined): AppErrorOptions {
  return isUnreadable(error) ? NOT_GOOGLE : connectionFailure(error, host);
}
