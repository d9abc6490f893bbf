/** What a run is doing, in a line: for its status, and as progress of a call that waits for it. */

import { oneLine } from "../../platform/clean-text.ts";
import { lastEvent } from "../../runs/event-store.ts";
import type { Obstacle } from "../../runs/poll/obstacle.ts";
import { isFinished, type Run } from "../../runs/run.ts";
import type { Database } from "../../store/database.ts";
import type { Call, OperationDeps } from "../operation.ts";

const ACTION: Record<Run["status"], string> = {
  pending: "Waiting for Google to accept the research",
  running: "Working",
  running_async: "Researching",
  start_unknown: "It is not known whether Google started it",
  awaiting_approval: "The plan is ready and waits for approval",
  completed: "Completed",
  failed: "Failed",
  cancelled: "Cancelled",
};

/** Shown while polls fail; afterwards the last known action is shown again. */
const OBSTRUCTED: Record<Exclude<Obstacle["kind"], "other_key" | "other_address">, string> = {
  unreachable: "Google cannot be reached; trying again",
  failing: "Google's service is overloaded or failing; trying again",
  unreadable: "Google's answer cannot be read; trying again",
  billing: "Google refuses polls because the prepaid credits are used up; add credits at https://ai.studio/projects",
  location: "Google does not serve this server's location; trying again",
  credentials: "Google reports more than one credential in each poll; trying again",
  missing: "Google does not find this research at the moment; trying again",
  forbidden: "Google does not allow polls at the moment; trying again",
  rejected: "Google rejects requests for this research at the moment; trying again",
  too_long: "Google's response is too large to be read here; AI Studio shows the research",
};

function obstacleText({ kind, setting }: Obstacle): string {
  if (kind === "other_key")
    return `Waiting: it was started with another API key (its SHA-256 begins with ${setting ?? "none"}); set GEMINI_API_KEY to that key to collect it`;
  if (kind !== "other_address") return OBSTRUCTED[kind];
  return setting === undefined
    ? "Waiting: it was started at Google's own address; unset GOOGLE_GEMINI_BASE_URL to collect it"
    : `Waiting: it was started at ${setting}; set GOOGLE_GEMINI_BASE_URL to that address to collect it`;
}

export function actionOf({ obstacle, currentAction, status, hasWarning }: Run): string {
  if (obstacle !== undefined) return obstacleText(obstacle);
  if (status === "completed" && hasWarning) return "Completed with a warning: the note of its report says why";
  return currentAction ?? ACTION[status];
}

export const lastThought = async (db: Database, { kind, taskId: id }: Run): Promise<string | undefined> =>
  kind === "agent" ? (await lastEvent(db, id, "thought"))?.text : undefined;

/** The action, or only the heading of the thought that it is. */
export const shortActionOf = (action: string, thought: string | undefined): string =>
  thought !== undefined && oneLine(thought) === action ? headingOf(thought) : action;

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
    call.progress(`${progress}${shortActionOf(action, await lastThought(await deps.database(), run))}`);
  };
}
