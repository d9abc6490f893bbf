/** Turns upstream errors into our own messages. Upstream error text only goes to the debug log. */

import { AppError, type AppErrorOptions } from "../errors.ts";
import type { Log } from "../platform/log.ts";
import { type Failure, type RefusedRequest, refusalOf } from "./refusals.ts";
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
