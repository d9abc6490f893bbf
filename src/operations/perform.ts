/** The one boundary around every operation: checks the input, cleans the output and gives errors their one shape. */

import type { z } from "zod";
import type { Advice } from "../action.ts";
import { AppError, type ErrorRun, UnexpectedRunError } from "../errors.ts";
import { isRecord } from "../platform/is-record.ts";
import { cleanValue } from "../platform/clean-text.ts";
import { unexpectedError } from "../platform/unexpected-error.ts";
import { adviceText } from "./parts/advice.ts";
import { factLines } from "./parts/answer-text.ts";
import { withDetails } from "./question/vague-question.ts";
import type { StoredRun } from "../runs/history/read.ts";
import {
  type Call,
  CAUTION,
  type Operation,
  type OperationDeps,
  type PictureLink,
  type Question,
  type Reader,
  taskIdField,
} from "./operation.ts";

/** The one error shape of every surface. A type, because an interface is not assignable to a record. */
export type FailureAnswer = Partial<ErrorRun> & {
  success: false;
  error: Pick<AppError, "code" | "message" | "suggestion" | "details">;
};

type AnyOutput = Record<string, unknown>;

export type Outcome<Output extends AnyOutput = AnyOutput> = Success<Output> | Failure;

export interface Success<Output> {
  failed: false;
  structured: Output;
  text: string;
  pictures?: { taskId: string; links: readonly PictureLink[] } | undefined;
}

export interface Failure {
  failed: true;
  /** Its suggestion names the tools that help. */
  structured: FailureAnswer;
  text: string;
  /** What surfaces for people print instead: the suggestion as data, and the message with slots for parameters. */
  advice: Advice;
  template: string | undefined;
}

interface Request {
  input: unknown;
  call: Call;
}

export async function perform<Output extends AnyOutput>(
  operation: Operation<z.ZodObject, Output>,
  deps: OperationDeps,
  { input, call }: Request,
): Promise<Outcome<Output>> {
  const about = {
    get log() {
      return logFor(input, deps);
    },
  };
  const outcome = await outcomeOf(operation, about, () =>
    operation.run(deps, parseInput(operation.input, input), call),
  );
  const counted = `operation="${operation.name}",outcome="${outcome.failed ? outcome.structured.error.code : "ok"}"`;
  callCounts.set(counted, (callCounts.get(counted) ?? 0) + 1);
  return outcome;
}

/** Calls of this process, by the labels of their metric. */
export const callCounts = new Map<string, number>();

/** Throws an error about the first invalid field, in our own words. */
export function parseInput<Input extends z.ZodObject>(schema: Input, input: unknown): z.output<Input> {
  const parsed = schema.safeParse(input ?? {}, { error: missingMessage });
  if (!parsed.success) throw invalidInput(parsed.error);
  return parsed.data;
}

/** The outcome of a call, or the id of its run, which continues without the caller. */
export type TaskOrOutcome = { taskId: string } | { outcome: Outcome };

/**
 * Runs a call whose client accepts a task. An outcome within `answerWithinMs` is returned directly; after that the call
 * is detached from its client, which gets the id of the run. Until then the client can cancel it like any other call.
 */
export async function performDetachable(
  operation: Operation,
  deps: OperationDeps,
  { input, call, answerWithinMs }: Request & { answerWithinMs: number },
): Promise<TaskOrOutcome> {
  const cancelled = new AbortController();
  const cancel = (): void => cancelled.abort();
  call.signal.addEventListener("abort", cancel);
  if (call.signal.aborted) cancel();
  const detached = new AbortController();
  if (answerWithinMs === 0) detached.abort();
  const created = Promise.withResolvers<{ taskId: string }>();
  const performing = perform(operation, deps, {
    input,
    call: {
      ...call,
      signal: AbortSignal.any([deps.leaving, cancelled.signal]),
      isCancelled: () => cancelled.signal.aborted && call.isCancelled?.() === true,
      onRunCreated: (taskId) => created.resolve({ taskId }),
      returnWhen: detached.signal,
    },
  });
  deps.inBackground(performing);
  const timer = new AbortController();
  const ended = performing.then((outcome) => ({ outcome }));
  const late = answerWithinMs === 0 ? created.promise : createdAfter(answerWithinMs);
  async function createdAfter(ms: number): Promise<TaskOrOutcome> {
    await deps.clock.sleep(ms, timer.signal).catch(() => undefined);
    return created.promise;
  }
  try {
    const first = await Promise.race([ended, late]);
    const { isUnfinished } = operation.task ?? {};
    const leavesRun = "outcome" in first && !first.outcome.failed && isUnfinished?.(first.outcome.structured) === true;
    return leavesRun ? await created.promise : first;
  } finally {
    timer.abort();
    detached.abort();
    call.signal.removeEventListener("abort", cancel);
  }
}

/** The outcome of the call that created a run, rebuilt from the stored run. */
export const outcomeOfRun = (
  operation: Operation,
  deps: OperationDeps,
  { stored, ...reader }: Reader & { stored: StoredRun },
): Promise<Outcome> =>
  outcomeOf(operation, deps, async () => (await operation.task?.answer(deps, stored, reader)) ?? {});

/** Names the run in the log when the call is about one. */
function logFor(input: unknown, { log }: LogDeps): LogDeps["log"] {
  const named = taskIdField.safeParse(isRecord(input) ? input["task_id"] : undefined);
  return named.success ? log.forRun(named.data) : log;
}

async function outcomeOf<Output extends AnyOutput>(
  operation: Operation<z.ZodObject, Output>,
  deps: LogDeps,
  answer: () => Promise<Output>,
): Promise<Outcome<Output>> {
  try {
    return success(operation, await answer());
  } catch (error) {
    return refused(error, deps);
  }
}

/** The question that a transport must put to the user first. Invalid input raises none: perform() refuses it. */
export async function questionFor(
  operation: Operation,
  deps: OperationDeps,
  { input, call }: Request,
): Promise<Question | undefined> {
  const parsed = operation.input.safeParse(input ?? {});
  return parsed.success ? operation.question?.(deps, parsed.data, call) : undefined;
}

/** The question that a transport may put to the user to make a vague one more precise. */
export async function clarificationFor(
  operation: Operation,
  deps: OperationDeps,
  { input, call }: Request,
): Promise<string | undefined> {
  const parsed = operation.input.safeParse(input ?? {});
  return parsed.success ? operation.clarify?.(deps, parsed.data, call) : undefined;
}

/** The input with the user's answer to that question; unchanged if there is none. */
export function clarified<Input>({ clarify, positional }: Operation, input: Input, answer: unknown) {
  if (clarify === undefined || positional === undefined || !isRecord(input)) return input;
  const query = input[positional];
  return typeof query === "string" ? { ...input, [positional]: withDetails(query, answer) } : input;
}

type LogDeps = Pick<OperationDeps, "log">;

export const refused = (error: unknown, deps: LogDeps): Failure =>
  failureOf(error instanceof AppError ? error : unexpected(error, deps));

/** Details of an error that may quote such text. */
const WEB_TEXT_DETAILS = ["best_text", "partial_text"];

function success<Output extends AnyOutput>(operation: Operation<z.ZodObject, Output>, answer: Output): Outcome<Output> {
  const structured = cleanValue(answer);
  const text = operation.toText(structured);
  const pictures = operation.picturesOf?.(structured);
  const { webText = [] } = operation;
  if (webText.every((field) => structured[field] === undefined)) {
    return { failed: false, structured, text, pictures };
  }
  return {
    failed: false,
    structured: { success: structured["success"], caution: CAUTION, ...structured },
    text: `${CAUTION}\n\n${text}`,
    pictures,
  };
}

function invalidInput(error: z.ZodError): AppError {
  const issue = error.issues[0];
  const field = String(issue?.path[0] ?? "");
  const template = issue?.message ?? "The input is not valid.";
  const message = fillIn(template, (parameter) => parameter);
  if (field === "query" || field === "topic" || field === "question") {
    return new AppError({ code: "INVALID_QUERY", message, template, details: { status: 400, field } });
  }
  return new AppError({
    code: field === "task_id" ? "INVALID_TASK_ID" : "INVALID_INPUT",
    next: field === "task_id" ? [{ do: "list" }] : [],
    message,
    template,
    details: { status: 400, ...(field === "" ? {} : { field }) },
  });
}

/** Unknown parameters that an error names. */
const MAX_NAMED_PARAMETERS = 5;

/** Where a schema has no message of its own. */
function missingMessage(issue: z.core.$ZodRawIssue): string {
  if (issue.code === "unrecognized_keys")
    return `There is no parameter ${issue.keys
      .slice(0, MAX_NAMED_PARAMETERS)
      .map((key) => `"${key.slice(0, 40)}"`)
      .join(", ")}.`;
  const [field] = issue.path ?? [];
  const subject = field === undefined ? "The input" : `{${String(field)}}`;
  return issue.code === "invalid_type" ? `${subject} must be of type ${issue.expected}.` : `${subject} is not valid.`;
}

/** Fills in the names of parameters. Slots that a caller could have written are names, too: nothing else is filled in. */
export const fillIn = (template: string, nameOf: (parameter: string) => string): string =>
  template.replaceAll(/\{(\w+)\}/g, (_slot, parameter: string) => nameOf(parameter));

/** Logs the stack under an id that the caller gets. */
function unexpected(error: unknown, { log }: LogDeps): AppError {
  const ofRun = error instanceof UnexpectedRunError;
  const { id, message } = unexpectedError(ofRun ? error.cause : error);
  (ofRun ? log.forRun(error.taskId) : log).error(message);
  return new AppError({
    code: "UNEXPECTED_ERROR",
    message: `Unexpected error ${id}; see the log.`,
    suggestion: "Please report it with the log lines that contain this id.",
  });
}

export function failureOf({ code, message, template, suggestion, next, details, run }: AppError): Failure {
  const advice = { suggestion, next };
  const cautioned = WEB_TEXT_DETAILS.some((field) => details?.[field] !== undefined) ? { caution: CAUTION } : {};
  const shown = { code, message, suggestion: adviceText(advice), details: details && { ...cautioned, ...details } };
  const structured: FailureAnswer = cleanValue({ success: false, error: shown, ...run });
  return {
    failed: true,
    structured,
    text: failureText(structured),
    advice: cleanValue(advice),
    template: cleanValue(template),
  };
}

function failureText({ error, task_id, status, progress }: FailureAnswer): string {
  const { code, message, suggestion, details } = error;
  const facts = factLines({ task_id, status, progress, ...details });
  return [`${code}: ${message}`, ...(suggestion === undefined ? [] : [suggestion]), facts]
    .filter((line) => line !== "")
    .join("\n");
}
