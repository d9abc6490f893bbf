/** What a run is doing, in a line: for its status, and as progress of a call that waits for it. */

import { oneLine } from "../../platform/clean-text.ts";
import { lastEvent } from "../../runs/event-store.ts";
import { isFinished, type Run } from "../../runs/run.ts";
import type { Call, OperationDeps } from "../operation.ts";

const ACTION: Record<Run["status"], string> = {
  pending: "Waiting for Google to accept the research",
  running: "Working",
  running_async: "Researching",
  start_unknown: "It is not known whether Google started it; resume_research shows the options",
  awaiting_approval: "The plan is ready and waits for approval",
  completed: "Completed",
  failed: "Failed",
  cancelled: "Cancelled",
};

export const actionOf = ({ currentAction, status }: Run): string => currentAction ?? ACTION[status];

export const lastThought = async (deps: OperationDeps, { kind, taskId: id }: Run): Promise<string | undefined> =>
  kind === "agent" ? (await lastEvent(await deps.database(), id, "thought"))?.text : undefined;

/** The action, or only the heading of the thought that it is. */
export const shortActionOf = (run: Run, thought: string | undefined): string =>
  thought !== undefined && oneLine(thought) === run.currentAction ? headingOf(thought) : actionOf(run);

const MAX_HEADING_CHARACTERS = 80;

/** The bold heading with which most thoughts begin. */
function headingOf(thought: string): string {
  const [line = ""] = thought.trim().split("\n", 1);
  const heading = oneLine(line.replaceAll(/^[#*\s]+|[*\s]+$/g, ""));
  return heading.length <= MAX_HEADING_CHARACTERS ? heading : `${heading.slice(0, MAX_HEADING_CHARACTERS)}…`;
}

/** Sends each new action of a run to the caller once: a person reads it while the client waits, at no cost in tokens. */
export function createActionReporter(deps: OperationDeps, call: Call): (run: Run) => Promise<void> {
  let sent: string | undefined;
  return async (run) => {
    const action = actionOf(run);
    if (action === sent || isFinished(run.status)) return;
    sent = action;
    const progress = run.kind === "agent" && run.progress > 0 ? `${run.progress} % (estimate): ` : "";
    call.progress(`${progress}${shortActionOf(run, await lastThought(deps, run))}`);
  };
}
