/** What the status of a background run says that it is doing. */

import type { Interaction } from "../../gemini/research-agent.ts";
import { oneLine } from "../../platform/clean-text.ts";
import { type Database, storable } from "../../store/database.ts";
import { newestEvents } from "../event-store.ts";
import type { FollowedRun } from "./followed-run.ts";

/** Notes of ours that stand there while something is in the way; what was known before comes back after them. */
export const NOTES = {
  unreachable: "Google cannot be reached; trying again",
  forbidden: "Google does not allow a look at the moment; trying again",
  rejected: "Google rejects requests for this research at the moment; trying again",
  tooLong: "What Google has of this research is too long to be read here; AI Studio shows it",
} as const;

const TEXTS = new Set<string>(Object.values(NOTES));
const WAITING = "Waiting: ";

const isNote = (action: string): boolean => TEXTS.has(action) || action.startsWith(WAITING);

export interface SeenAction {
  /** Undefined: it stays as it is. */
  text: string | undefined;
  /** Something has happened since the last poll. */
  changed: boolean;
}

/** A poll of a run that works mostly shows nothing of its work: then the last thing that is known stays. */
export async function actionOf(db: Database, run: FollowedRun, interaction: Interaction): Promise<SeenAction> {
  const last = interaction.thoughts.at(-1) ?? (interaction.searches.at(-1) || undefined);
  if (last !== undefined) {
    const text = storable(oneLine(last));
    return { text, changed: text !== run.currentAction };
  }
  if (run.currentAction !== undefined && !isNote(run.currentAction)) return { text: undefined, changed: false };
  const [event] = await newestEvents(db, run.taskId, 1);
  return { text: event === undefined ? "Researching" : storable(oneLine(event.text)), changed: false };
}
