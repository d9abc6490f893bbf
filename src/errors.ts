/** Defines AppError, the error that every surface shows, and the list of its codes. */

import type { Action } from "./action.ts";

/** Each code with its meaning and, where it could be misunderstood, what it does not mean. */
export const ERROR_CODES = {
  CLI_NOT_FOUND: "The Gemini CLI is not installed and no other backend can answer.",
  EXECUTION_ERROR:
    "A model call failed or never returned a usable answer, or a web page could not be read. If the model found nothing, the code is SEARCH_FAILED.",
  SEARCH_FAILED: "The model answered, but found nothing useful.",
  INTERRUPTED: "The process that executed the run ended before the run did.",
  GEMINI_UNAVAILABLE:
    "Google's API cannot be reached, rejects the key, its quota, its credits or the location, or no key is set.",
  START_UNKNOWN: "A paid start was sent, but it is unknown whether Google accepted it.",
  PLAN_EXPIRED: "The plan was not approved in time, or Google no longer has it. The research was not started.",
  INVALID_QUERY: "The question is missing, too short or too long.",
  INVALID_TASK_ID: "The task_id is not one that a tool returned.",
  INVALID_INPUT: "Another parameter is invalid or unknown; over HTTP, there is nothing at this URL.",
  TASK_NOT_FOUND: "No run with this task_id is stored.",
  RESEARCH_NOT_COMPLETED: "The run has no text to return yet, or was cancelled before it had any.",
  RESEARCH_ALREADY_COMPLETED: "The run is finished, so there is nothing to cancel.",
  RESEARCH_FAILED: "The run failed before producing any text.",
  CONFIRMATION_NEEDED:
    "The cost is above the user's limit, or a budget would be exceeded, and the user could not be asked, or what the user agreed to has changed. If the user declined, the code is DECLINED.",
  BUDGET_EXCEEDED:
    "The request could exceed a budget's hard limit, so nothing was sent. Above the soft limit the user is asked: CONFIRMATION_NEEDED.",
  DECLINED: "The user was asked and declined, or closed the question.",
  BUSY: "This server cannot take the call now: a limit on runs in progress, open streams or requests is reached, or the OAuth issuer cannot be reached. Google's quota is not involved.",
  CANCELLED: "The call was cancelled by its caller.",
  SQLITE_ERROR: "The database cannot be read or written.",
  DISK_FULL: "The disk is full.",
  PERMISSION_DENIED:
    "No permission to write a file or directory; over HTTP, no valid token, or a host name or web page that is not allowed.",
  UNEXPECTED_ERROR: "A bug; the message contains the id under which the stack is logged.",
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

export const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(ERROR_CODES, text);

/** Why a backend call failed, where callers branch on it. */
export type FailureReason =
  | "auth"
  | "config"
  /** Prepaid credits are used up. */
  | "billing"
  | "location"
  /** Google reports two credentials in one request. */
  | "credentials"
  /** Content filters refused the question. */
  | "blocked"
  /** Google does not accept the labels of a start, or the address to which it would announce the end. */
  | "extras"
  | "input"
  | "timeout"
  | "output_limit"
  | "no_answer"
  /** The output tokens were used up before there was an answer. */
  | "cut"
  | "rate_limit"
  | "overloaded"
  | "network"
  /** A web page or other data arrived instead of Google's response. */
  | "not_google"
  | "stopped";

/** The run that an error is about, as in the error format. */
export interface ErrorRun {
  task_id: string;
  status: string;
  progress?: number | undefined;
}

export interface AppErrorOptions {
  code: ErrorCode;
  /** A complete sentence of our own, never text from a web page, a model or an upstream error. */
  message: string;
  /** The message with a slot for each parameter that it names, such as `{limit}`: a surface fills in its own names. */
  template?: string | undefined;
  /** Another such sentence: what to do. It names no tool, parameter or command of its own surface. */
  suggestion?: string | undefined;
  /** What can be done about it, the best first. */
  next?: readonly Action[] | undefined;
  details?: Record<string, unknown> | undefined;
  run?: ErrorRun | undefined;
  reason?: FailureReason | undefined;
  /** The same call may succeed when repeated. */
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
  readonly template: string | undefined;
  readonly suggestion: string | undefined;
  readonly next: readonly Action[] | undefined;
  readonly details: Record<string, unknown> | undefined;
  readonly run: ErrorRun | undefined;
  readonly reason: FailureReason | undefined;
  readonly retryable: boolean;

  constructor(options: AppErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AppError";
    this.code = options.code;
    this.template = options.template;
    this.suggestion = options.suggestion;
    this.next = options.next;
    this.details = options.details;
    this.run = options.run;
    this.reason = options.reason;
    this.retryable = options.retryable ?? false;
  }
}

/** `field`: the one that cannot be used. */
export const invalidInput = (message: string, of: { suggestion?: string; field?: string } = {}): AppError => {
  const { suggestion, field } = of;
  const details = field === undefined ? undefined : { status: 400, field };
  return new AppError({ code: "INVALID_INPUT", message, suggestion, details });
};
