/** Completes a task_id of which a caller gives only the first characters, as messages for people name runs. */

import { AppError } from "../errors.ts";
import { type OperationDeps, taskIdField } from "../operations/operation.ts";
import { isRecord } from "../platform/is-record.ts";

const WHOLE_LENGTH = 36;

/** An id without a run is left as it is: the operation says that there is none. */
export async function withWholeId(
  { database }: Pick<OperationDeps, "database">,
  owner: string,
  input: unknown,
): Promise<unknown> {
  const named = isRecord(input) ? input["task_id"] : undefined;
  if (!isRecord(input) || (typeof named === "string" && named.length === WHOLE_LENGTH)) return input;
  const given = taskIdField.safeParse(named).data;
  if (given === undefined) return input;
  const { runsBeginningWith } = await import("../runs/run-store.ts");
  const [first, second] = await runsBeginningWith(await database(), owner, given);
  if (first === undefined) return input;
  if (second === undefined) return { ...input, task_id: first.taskId };
  throw new AppError({
    code: "INVALID_TASK_ID",
    message: `More than one run begins with ${given}.`,
    suggestion: "Give more characters of its task_id.",
    next: [{ do: "list" }],
    details: { status: 400, field: "task_id" },
  });
}
