/** The error every surface shows: one class, one list of codes, sentences of our own. */

/** Every code with what it is; where that could be mistaken, with what it is not. */
export const ERROR_CODES = {
  CLI_NOT_FOUND: "The Gemini CLI is not installed and no other backend can answer.",
  EXECUTION_ERROR: "A model call failed or never gave a usable answer. Not: the model found nothing.",
  SEARCH_FAILED: "The model answered properly and said that it found nothing useful.",
  INTERRUPTED: "The process that worked on the run ended before the run did.",
  GEMINI_UNAVAILABLE: "Google's API is out of reach, refuses the key or the quota, or no key is set.",
  START_UNKNOWN: "A paid start was sent and it is not known whether it was accepted.",
  INVALID_QUERY: "The question is missing, too short or too long.",
  INVALID_TASK_ID: "The task_id is not one that a tool returned.",
  INVALID_INPUT: "Another parameter is wrong or unknown.",
  TASK_NOT_FOUND: "No run with this task_id is stored.",
  RESEARCH_NOT_COMPLETED: "The run has no text to return yet, or was cancelled before it had any.",
  RESEARCH_ALREADY_COMPLETED: "The run is finished, so there is nothing to cancel.",
  RESEARCH_FAILED: "The run failed and left no text.",
  CONFIRMATION_NEEDED: "The cost is above the user's limit and the user could not be asked. Not: the user said no.",
  DECLINED: "The user was asked and did not agree.",
  BUSY: "As much is under way, or started in a minute, as this server allows. Not: Google's quota is used up.",
  CANCELLED: "The call was cancelled by its caller.",
  SQLITE_ERROR: "The database cannot be read or written.",
  DISK_FULL: "The disk is full.",
  PERMISSION_DENIED: "A file or directory may not be written.",
  UNAUTHORIZED: "Over HTTP: no token, or not one that is known.",
  FORBIDDEN: "Over HTTP: this host name or this web page may not use the server.",
  NOT_FOUND: "Over HTTP: nothing stands at this address. Not: a run is missing.",
  RATE_LIMITED: "Over HTTP: too many requests, or too many wrong tokens, in the last minute.",
  ISSUER_UNAVAILABLE: "Over HTTP: the OAuth issuer is out of reach. Not: the token is wrong.",
  UNEXPECTED_ERROR: "A bug; the message carries the id under which the log holds the stack.",
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

export const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(ERROR_CODES, text);

/** Why a backend call failed, for the few places that act differently on it. */
export type FailureReason =
  | "auth"
  | "config"
  | "input"
  | "timeout"
  | "output_limit"
  | "no_answer"
  /** The output tokens were used up before there was an answer. */
  | "cut"
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

/** An unexpected error that ended a run: the run id for the log line of its cause. */
export class UnexpectedRunError extends Error {
  readonly taskId: string;

  constructor(taskId: string, cause: unknown) {
    super("An unexpected error ended the run.", { cause });
    this.name = "UnexpectedRunError";
    this.taskId = taskId;
  }
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
