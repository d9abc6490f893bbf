/** The one boundary around every operation: input checked, output cleaned, errors in their one shape. */

import type { z } from "zod";
import { AppError, type ErrorRun, UnexpectedRunError } from "../errors.ts";
import { isRecord } from "../platform/is-record.ts";
import { cleanValue } from "../platform/clean-text.ts";
import { unexpectedError } from "../platform/unexpected-error.ts";
import { inSpan, RUN_ID } from "../telemetry/telemetry.ts";
import { factLines } from "./parts/answer-text.ts";
import type { StoredRun } from "../runs/history/read.ts";
import {
  type Call,
  CAUTION,
  type Operation,
  type OperationDeps,
  type Question,
  taskId as taskIdSchema,
} from "./operation.ts";

export interface Outcome {
  failed: boolean;
  structured: Record<string, unknown>;
  text: string;
}

export async function perform(operation: Operation, deps: OperationDeps, input: unknown, call: Call): Promise<Outcome> {
  return inSpan({ name: operation.name }, async (span) => {
    const outcome = await outcomeOf(operation, { log: logFor(input, deps) }, () =>
      operation.run(deps, parseInput(operation.input, input), call),
    );
    const { task_id: runId, error } = outcome.structured;
    if (typeof runId === "string") span.set({ [RUN_ID]: runId });
    if (outcome.failed) span.fail(isRecord(error) ? String(error["code"]) : "UNEXPECTED_ERROR");
    return outcome;
  });
}

/** Throws our own sentence about the first thing that is wrong. */
export function parseInput<Input extends z.ZodObject>(schema: Input, input: unknown): z.output<Input> {
  const parsed = schema.safeParse(input ?? {});
  if (!parsed.success) throw invalidInput(parsed.error);
  return parsed.data;
}

/** The outcome of a call, or the id of its run, which goes on without the caller. */
export type TaskOrOutcome = { taskId: string } | { outcome: Outcome };

/**
 * Runs a call whose client accepts a task. An outcome within `answerWithinMs` is returned directly; after that the call
 * is detached from its client, which gets the id of the run. Until then the client can cancel it like any other call.
 */
export async function performDetachable(
  operation: Operation,
  deps: OperationDeps,
  input: unknown,
  { answerWithinMs, ...call }: Call & { answerWithinMs: number },
): Promise<TaskOrOutcome> {
  const cancelled = new AbortController();
  const cancel = (): void => cancelled.abort();
  call.signal.addEventListener("abort", cancel, { once: true });
  if (call.signal.aborted) cancel();
  const detached = new AbortController();
  const stored = Promise.withResolvers<{ taskId: string }>();
  const detachable: Call = {
    ...call,
    signal: AbortSignal.any([deps.leaving, cancelled.signal]),
    background: { onStored: (taskId) => stored.resolve({ taskId }), detached: detached.signal },
  };
  if (answerWithinMs === 0) detached.abort();
  const performing = perform(operation, deps, input, detachable);
  deps.inBackground(performing);
  const timer = new AbortController();
  const ended = performing.then((outcome) => ({ outcome }));
  const late = answerWithinMs === 0 ? stored.promise : storedAfter(answerWithinMs);
  async function storedAfter(ms: number): Promise<TaskOrOutcome> {
    await deps.clock.sleep(ms, timer.signal).catch(() => undefined);
    return stored.promise;
  }
  try {
    const first = await Promise.race([ended, late]);
    const isUnfinished = "outcome" in first && operation.task?.isUnfinished?.(first.outcome.structured) === true;
    return isUnfinished ? await stored.promise : first;
  } finally {
    timer.abort();
    detached.abort();
    call.signal.removeEventListener("abort", cancel);
  }
}

/** How the call that made a run ended, read from the store. */
export const outcomeOfRun = (operation: Operation, deps: OperationDeps, stored: StoredRun): Promise<Outcome> =>
  outcomeOf(operation, deps, () => {
    const { inlineCharacters } = deps.settings;
    return operation.task?.answer(stored, { now: deps.clock.now(), inlineCharacters });
  });

/** Names the run in the log when the call is about one. */
function logFor(input: unknown, { log }: LogDeps): LogDeps["log"] {
  const named = taskIdSchema.safeParse(isRecord(input) ? input["task_id"] : undefined);
  return named.success ? log.forRun(named.data) : log;
}

async function outcomeOf(operation: Operation, deps: LogDeps, answer: () => unknown): Promise<Outcome> {
  try {
    return success(operation, await answer());
  } catch (error) {
    return refused(error, deps);
  }
}

/** What a door must ask the user first. Input that is not valid raises no question: perform() refuses it. */
export async function questionFor(
  operation: Operation,
  deps: OperationDeps,
  input: unknown,
  call: Call,
): Promise<Question | undefined> {
  const parsed = operation.input.safeParse(input ?? {});
  return parsed.success ? operation.question?.(deps, parsed.data, call) : undefined;
}

type LogDeps = Pick<OperationDeps, "log">;

export const refused = (error: unknown, deps: LogDeps): Outcome =>
  failure(error instanceof AppError ? error : unexpected(error, deps));

/** Where answers carry what web pages say, or a model that has read them. */
const WEB_TEXT = ["result", "report", "results", "outline", "document", "last_thought"];

/** What details of an error may quote of it. */
const FOREIGN_DETAILS = ["best_text", "partial_text"];

function success(operation: Operation, answer: unknown): Outcome {
  const output = cleanValue(answer);
  const structured = isRecord(output) ? output : {};
  const text = operation.toText(output);
  if (operation.webText !== true || WEB_TEXT.every((field) => structured[field] === undefined)) {
    return { failed: false, structured, text };
  }
  const { success: succeeded, ...rest } = structured;
  return {
    failed: false,
    structured: { success: succeeded, caution: CAUTION, ...rest },
    text: `${CAUTION}\n\n${text}`,
  };
}

function invalidInput(error: z.ZodError): AppError {
  const issue = error.issues[0];
  const field = String(issue?.path[0] ?? "");
  const message = issue === undefined ? "The input is not valid." : sentence(issue, field);
  if (field === "query" || field === "topic") {
    return new AppError({ code: "INVALID_QUERY", message, details: { status: 400, field } });
  }
  return new AppError({
    code: field === "task_id" ? "INVALID_TASK_ID" : "INVALID_INPUT",
    message,
    details: { status: 400, ...(field === "" ? {} : { field }) },
  });
}

/** Who sends more unknown parameters than this needs no list of them. */
const MOST_NAMED = 5;

function sentence(issue: z.core.$ZodIssue, field: string): string {
  // Our own schemas end their messages with a full stop; the library's do not.
  if (issue.message.endsWith(".")) return issue.message;
  if (issue.code === "unrecognized_keys")
    return `There is no parameter ${issue.keys
      .slice(0, MOST_NAMED)
      .map((key) => `"${key.slice(0, 40)}"`)
      .join(", ")}.`;
  return `${field === "" ? "The input" : field} is not valid: ${issue.message.toLowerCase()}.`;
}

/** The stack goes to the log under an id; the caller gets the id. */
function unexpected(error: unknown, { log }: LogDeps): AppError {
  const ofRun = error instanceof UnexpectedRunError;
  const { id, message } = unexpectedError(ofRun ? error.cause : error);
  (ofRun ? log.forRun(error.taskId) : log).error(message);
  return new AppError({
    code: "UNEXPECTED_ERROR",
    message: `Something went wrong that should not have (error ${id} in the log).`,
    suggestion: "Please report it with the log lines around this id.",
  });
}

function failure({ code, message, suggestion, details, run }: AppError): Outcome {
  const cautioned = FOREIGN_DETAILS.some((field) => details?.[field] !== undefined) ? { caution: CAUTION } : {};
  const error = { code, message, suggestion, details: details && { ...cautioned, ...details } };
  const structured = cleanValue({ success: false, error, ...run });
  return { failed: true, structured, text: failureText(structured) };
}

interface FailureShape extends Partial<ErrorRun> {
  error: Pick<AppError, "code" | "message" | "suggestion" | "details">;
}

function failureText({ error, task_id, status, progress }: FailureShape): string {
  const { code, message, suggestion, details } = error;
  const facts = factLines({ task_id, status, progress, ...details });
  return [`${code}: ${message}`, ...(suggestion === undefined ? [] : [suggestion]), facts]
    .filter((line) => line !== "")
    .join("\n");
}
