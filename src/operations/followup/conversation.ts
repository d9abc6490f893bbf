/** The runs that a run continues and that continue it, for answers that contain its report. */

import { z } from "zod";
import { AppError } from "../../errors.ts";
import { FOLLOWUP_CONTEXTS, type Run } from "../../runs/run.ts";
import { followUpHeadsOn, followUpsOn } from "../../runs/run-store.ts";
import { currentOf } from "../../runs/conversation-store.ts";
import type { Database } from "../../store/database.ts";

export const conversationFields = {
  context: z
    .enum(FOLLOWUP_CONTEXTS)
    .describe("Of a follow-up: whether it continued the conversation at Google, or was given the stored report."),
  follow_up_of: z.looseObject({ task_id: z.string(), query: z.string() }).describe("The run that it continues."),
  follow_ups: z
    .array(z.looseObject({ task_id: z.string(), query: z.string(), status: z.string() }))
    .describe("The runs that continue it, oldest first."),
};

export interface Conversation {
  context?: Run["followupContext"] | undefined;
  follow_up_of?: { task_id: string; query: string } | undefined;
  follow_ups?: { task_id: string; query: string; status: Run["status"] }[] | undefined;
}

export async function conversationOf(db: Database, run: Run): Promise<Conversation> {
  const listed = await followUpHeadsOn(db, run.owner, run.taskId);
  const parent = await parentOf(db, run);
  return {
    context: run.followupContext,
    follow_up_of: parent && { task_id: parent.taskId, query: parent.query },
    follow_ups: listed.length === 0 ? undefined : listed,
  };
}

/** The run that a follow-up continues; undefined if it was deleted. */
async function parentOf(db: Database, run: Run): Promise<Run | undefined> {
  if (run.followupContext === undefined || run.parentTaskId === undefined) return undefined;
  return currentOf(db, run.owner, run.parentTaskId).catch((error: unknown) => {
    if (error instanceof AppError && error.code === "TASK_NOT_FOUND") return undefined;
    throw error;
  });
}

const MAX_TURNS = 50;

/** The runs that a follow-up continues, the first question first. */
export async function earlierTurns(db: Database, run: Run): Promise<Run[]> {
  const turns: Run[] = [];
  for (let next = await parentOf(db, run); next !== undefined && turns.length < MAX_TURNS;) {
    turns.unshift(next);
    next = await parentOf(db, next);
  }
  return turns;
}

/** The run that began the conversation of each follow-up, by the id of the follow-up. */
export async function conversationRoots(db: Database, runs: readonly Run[]): Promise<Map<string, Run>> {
  const known = new Map<string, Run>();
  const rootOf = async (run: Run): Promise<Run> => {
    const found = known.get(run.parentTaskId ?? "");
    if (found !== undefined) return found;
    const [root = run] = await earlierTurns(db, run);
    if (run.parentTaskId !== undefined) known.set(run.parentTaskId, root);
    return root;
  };
  const roots = new Map<string, Run>();
  for (const run of runs) if (run.followupContext !== undefined) roots.set(run.taskId, await rootOf(run));
  return roots;
}

/** The follow-ups on a run and on those, in the order in which they were asked. */
export async function laterTurns(db: Database, run: Run): Promise<Run[]> {
  const turns: Run[] = [];
  const asked = [run];
  for (let next = asked.shift(); next !== undefined && turns.length < MAX_TURNS; next = asked.shift()) {
    const followUps = await followUpsOn(db, run.owner, next.taskId);
    turns.push(...followUps);
    asked.push(...followUps);
  }
  return turns.slice(0, MAX_TURNS).toSorted((one, other) => one.createdAt - other.createdAt);
}
