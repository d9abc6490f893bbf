/** The error every surface shows: one class, one list of codes, sentences of our own. */

/** Where a code is not self-explaining, what it is and what it is not. */
export const ERROR_CODES = [
  // The Gemini CLI is not installed and no other backend can answer.
  "CLI_NOT_FOUND",
  // A model call could not be carried out, or never gave a usable answer. Not: the model said no.
  "EXECUTION_ERROR",
  // The model answered properly and said that it found nothing.
  "SEARCH_FAILED",
  // The process that worked on the run ended before the run did.
  "INTERRUPTED",
  // Google's API is out of reach, refuses the key, or no key is set.
  "GEMINI_UNAVAILABLE",
  // A paid start was sent and nobody knows whether it was accepted.
  "START_UNKNOWN",
  "INVALID_QUERY",
  "INVALID_TASK_ID",
  "INVALID_INPUT",
  "TASK_NOT_FOUND",
  "RESEARCH_NOT_COMPLETED",
  "RESEARCH_ALREADY_COMPLETED",
  "RESEARCH_FAILED",
  // The call was cancelled by its caller.
  "CANCELLED",
  "SQLITE_ERROR",
  "DISK_FULL",
  "PERMISSION_DENIED",
  // A bug of ours; the message carries the id under which the log holds the stack.
  "UNEXPECTED_ERROR",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** Why a backend call failed, for the few places that act differently on it. */
export type FailureReason =
  | "auth"
  | "config"
  | "input"
  | "timeout"
  | "output_limit"
  | "no_answer"
  | "rate_limit"
  | "overloaded"
  | "network"
  | "stopped";

/** The run an error is about, as the error shape names it. */
export interface ErrorRun {
  task_id: string;
  status: string;
  progress?: number | undefined;
}

export interface AppErrorOptions {
  code: ErrorCode;
  /** A whole sentence of ours. Never text from a web page, a model or an upstream error body. */
  message: string;
  suggestion?: string | undefined;
  details?: Record<string, unknown> | undefined;
  run?: ErrorRun | undefined;
  reason?: FailureReason | undefined;
  /** The same call may succeed if it is made again. */
  retryable?: boolean | undefined;
  cause?: unknown;
}

export class AppError extends Error {
  readonly code: ErrorCode;
  readonly suggestion: string | undefined;
  readonly details: Record<string, unknown> | undefined;
  readonly run: ErrorRun | undefined;
  readonly reason: FailureReason | undefined;
  readonly retryable: boolean;

  constructor(options: AppErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AppError";
    this.code = options.code;
    this.suggestion = options.suggestion;
    this.details = options.details;
    this.run = options.run;
    this.reason = options.reason;
    this.retryable = options.retryable ?? false;
  }
}
