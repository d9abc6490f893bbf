/** Cancels the paid run of a call whose client cancelled the call before it was answered. */

import { AppError } from "../../errors.ts";
import { cancelResearch } from "../cancel-research.ts";
import type { Call, OperationDeps } from "../operation.ts";

interface StartedRun {
  kind: "joined" | "started";
  taskId: string;
}

/**
 * A client that disconnects and a server that shuts down cancel nothing. Nor does a call that joined the run of another,
 * or whose run another call has joined. Throws if the run was cancelled.
 */
export async function cancelWithCall(deps: OperationDeps, call: Call, { kind, taskId }: StartedRun): Promise<void> {
  if (kind === "joined" || deps.leaving.aborted || call.isCancelled?.() !== true) return;
  const db = await deps.database();
  const { noteCancelledCall, requestCancel } = await import("../../runs/cancel/cancel-store.ts");
  const now = deps.clock.now();
  if (!(await requestCancel(db, { taskId, keepPartial: true, unlessJoined: true, now }))) return;
  const input = { task_id: taskId, save_partial: true, delete: false, delete_at_google: false };
  const { message } = await cancelResearch.run(deps, input, call);
  await noteCancelledCall(db, { taskId, message: CALL_CANCELLED });
  const { status, progress } = await deps.findRun(call.owner, taskId);
  throw new AppError({
    code: "CANCELLED",
    message: `${CALL_CANCELLED} ${message}`,
    run: { task_id: taskId, status, progress },
  });
}

const CALL_CANCELLED = "The client cancelled the call that had started this run.";
