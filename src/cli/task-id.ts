/** Completes the beginning of a task_id to the whole id, if it is unique. */

import type { Operation, OperationDeps } from "../operations/operation.ts";
import { AppError } from "../errors.ts";
import { oneLine } from "../platform/clean-text.ts";
import { type NamedRun, runsBeginningWith } from "../runs/history/run-prefix-store.ts";
import { cutToWidth } from "./render/text-width.ts";

/** Shorter prefixes are soon ambiguous. */
const MIN_PREFIX_CHARACTERS = 6;
const WHOLE_LENGTH = 36;
const ID_PREFIX = /^[0-9a-f][0-9a-f-]*$/;

/** Returns anything else than the beginning of an id unchanged; the operation rejects it. */
export async function withWholeTaskId(
  operation: Operation,
  deps: Pick<OperationDeps, "database">,
  { input, owner }: { input: Record<string, unknown>; owner: string },
): Promise<Record<string, unknown>> {
  const given = input["task_id"];
  if (operation.positional !== "task_id" || typeof given !== "string") return input;
  const prefix = given.trim().toLowerCase();
  if (prefix.length >= WHOLE_LENGTH || !ID_PREFIX.test(prefix)) return input;
  if (prefix.length < MIN_PREFIX_CHARACTERS) throw tooShort();
  const found = await runsBeginningWith(await deps.database(), owner, prefix);
  const [only] = found;
  if (only === undefined) throw unknown(prefix);
  if (found.length > 1) throw ambiguous(prefix, found);
  return { ...input, task_id: only.taskId };
}

const tooShort = (): AppError =>
  new AppError({
    code: "INVALID_TASK_ID",
    message: `task_id must be whole, or at least its first ${MIN_PREFIX_CHARACTERS} characters.`,
    suggestion: "gemini-search-mcp list-research shows the runs that are stored.",
    details: { status: 400, field: "task_id" },
  });

const unknown = (prefix: string): AppError =>
  new AppError({
    code: "TASK_NOT_FOUND",
    message: `There is no run whose task_id begins with ${prefix}.`,
    suggestion: "gemini-search-mcp list-research shows the runs that are stored.",
  });

const ambiguous = (prefix: string, found: NamedRun[]): AppError =>
  new AppError({
    code: "INVALID_TASK_ID",
    message: `More than one task_id begins with ${prefix}.`,
    suggestion: "Give more of it.",
    details: { status: 400, matches: found.map(matchLine).join("\n") },
  });

const matchLine = ({ taskId, query }: NamedRun): string => `${taskId}  ${cutToWidth(oneLine(query), 60)}`;
