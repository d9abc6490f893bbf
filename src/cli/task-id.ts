/** Completes the beginning of a run id to the whole id, if it is unique. */

import type { Operation, OperationDeps } from "../operations/operation.ts";
import { AppError } from "../errors.ts";
import { oneLine } from "../platform/clean-text.ts";
import { type NamedRun, runsBeginningWith } from "../runs/run-store.ts";
import { cutToWidth } from "./render/text-width.ts";

/** Shorter prefixes are soon ambiguous. */
const MIN_PREFIX_CHARACTERS = 6;

/** Describes the argument of a command that names a run. */
export const RUN_ARGUMENT = `run id, or its first ${MIN_PREFIX_CHARACTERS} or more characters`;

export const TOO_SHORT = `Enter a full run id or at least its first ${MIN_PREFIX_CHARACTERS} characters.`;

const WHOLE_LENGTH = 36;
const ID_PREFIX = /^[0-9a-f][0-9a-f-]*$/;

/** Completes the id of a command's run. */
export async function withWholeTaskId(
  operation: Operation,
  deps: Pick<OperationDeps, "database">,
  { input, owner }: { input: Record<string, unknown>; owner: string },
): Promise<Record<string, unknown>> {
  const given = input["task_id"];
  if (!("task_id" in operation.input.shape) || typeof given !== "string") return input;
  return { ...input, task_id: await wholeRunId(deps, owner, given) };
}

/** Throws unless it is the id of one run. A complete id is not looked up. */
export async function wholeRunId(
  { database }: Pick<OperationDeps, "database">,
  owner: string,
  given: string,
): Promise<string> {
  const prefix = given.trim().toLowerCase();
  if (!ID_PREFIX.test(prefix) || prefix.length > WHOLE_LENGTH)
    throw invalid(`"${cutToWidth(oneLine(given), 40)}" is not a run id.`);
  if (prefix.length === WHOLE_LENGTH) return prefix;
  if (prefix.length < MIN_PREFIX_CHARACTERS) throw invalid(TOO_SHORT);
  const found = await runsBeginningWith(await database(), owner, prefix);
  const [only] = found;
  if (only === undefined) {
    const message = `There is no run whose id begins with ${prefix}.`;
    throw new AppError({ code: "TASK_NOT_FOUND", message, suggestion: LIST });
  }
  if (found.length > 1) {
    const details = { matches: found.map(matchLine).join("\n") };
    throw invalid(`More than one run id begins with ${prefix}.`, { suggestion: "Enter more characters.", details });
  }
  return only.taskId;
}

const LIST = "To see your runs: gemini-search-mcp list";

const invalid = (message: string, { suggestion = LIST, details = { field: "task_id" } }: Partial<Advised> = {}) =>
  new AppError({ code: "INVALID_TASK_ID", message, suggestion, details: { status: 400, ...details } });

interface Advised {
  suggestion: string;
  details: Record<string, string>;
}

const matchLine = ({ taskId, query }: NamedRun): string => `${taskId}  ${cutToWidth(oneLine(query), 60)}`;
