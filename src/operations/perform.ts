/** The one boundary around every operation: input checked, output cleaned, errors in their one shape. */

import type { z } from "zod";
import { AppError, type ErrorRun } from "../errors.ts";
import { isRecord } from "../platform/is-record.ts";
import { cleanValue } from "../platform/clean-text.ts";
import { factLines } from "./answer-text.ts";
import type { Call, Operation, OperationDeps } from "./operation.ts";

export interface Outcome {
  failed: boolean;
  structured: Record<string, unknown>;
  text: string;
}

export async function perform(operation: Operation, deps: OperationDeps, input: unknown, call: Call): Promise<Outcome> {
  try {
    const parsed = operation.input.safeParse(input ?? {});
    if (!parsed.success) throw invalidInput(parsed.error);
    const output = cleanValue(await operation.run(deps, parsed.data, call));
    return { failed: false, structured: isRecord(output) ? output : {}, text: operation.toText(output) };
  } catch (error) {
    return failure(error instanceof AppError ? error : unexpected(error, deps));
  }
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

function sentence(issue: z.core.$ZodIssue, field: string): string {
  // Our own schemas end their messages with a full stop; the library's do not.
  if (issue.message.endsWith(".")) return issue.message;
  if (issue.code === "unrecognized_keys")
    return `There is no parameter ${issue.keys.map((key) => `"${key.slice(0, 40)}"`).join(", ")}.`;
  return `${field === "" ? "The input" : field} is not valid: ${issue.message.toLowerCase()}.`;
}

/** The stack goes to the log under an id; the caller gets the id. */
function unexpected(error: unknown, deps: OperationDeps): AppError {
  const id = crypto.randomUUID().slice(0, 8);
  deps.log.error(`Unexpected error ${id}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return new AppError({
    code: "UNEXPECTED_ERROR",
    message: `Something went wrong that should not have (error ${id} in the log).`,
    suggestion: "Please report it with the log lines around this id.",
  });
}

function failure({ code, message, suggestion, details, run }: AppError): Outcome {
  const structured = cleanValue({ success: false, error: { code, message, suggestion, details }, ...run });
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
