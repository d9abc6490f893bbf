/** Determines the current action shown in the status of a background run. */

import type { AppError, FailureReason } from "../../errors.ts";
import type { Interaction } from "../../gemini/research-agent.ts";
import { oneLine } from "../../platform/clean-text.ts";
import { type Database, storable } from "../../store/database.ts";
import { newestEvents } from "../event-store.ts";
import { CITING } from "../streams/stream-events.ts";
import type { PolledRun } from "./polled-run.ts";

/** Shown instead of Google's action while polling is obstructed; afterwards the last known action is restored. */
export const NOTES = {
  unreachable: "Google cannot be reached; trying again",
  failing: "Google's service is overloaded or failing; trying again",
  unreadable: "Google's answer cannot be read; trying again",
  billing: "Google refuses polls because the prepaid credits are used up; add credits at https://ai.studio/projects",
  location: "Google does not serve this server's location; trying again",
  credentials: "Google reports more than one credential in each poll; trying again",
  missing: "Google does not find this research at the moment; trying again",
  forbidden: "Google does not allow polls at the moment; trying again",
  rejected: "Google rejects requests for this research at the moment; trying again",
  tooLong: "Google's response is too large to be read here; AI Studio shows the research",
} as const;

const NOTES_BY_REASON: Partial<Record<FailureReason, string>> = {
  overloaded: NOTES.failing,
  not_google: NOTES.unreadable,
  billing: NOTES.billing,
  location: NOTES.location,
  credentials: NOTES.credentials,
  input: NOTES.rejected,
  config: NOTES.rejected,
};

/** The note about a poll that failed. */
export const noteOf = ({ reason = "network" }: AppError): string => NOTES_BY_REASON[reason] ?? NOTES.unreachable;

const NOTE_TEXTS = new Set<string>(Object.values(NOTES));
const WAITING_PREFIX = "Waiting: ";

const isNote = (action: string): boolean => NOTE_TEXTS.has(action) || action.startsWith(WAITING_PREFIX);

/** Google sends many citation events while it writes the report; they are not actions. */
const MAX_EVENTS_READ = 100;

export interface SeenAction {
  /** Undefined: the stored action is kept. */
  text: string | undefined;
  /** True if the action changed since the last poll. */
  changed: boolean;
}

/** Polls of a running interaction usually contain no thoughts or searches; then the last known action is kept. */
export async function actionOf(db: Database, run: PolledRun, interaction: Interaction): Promise<SeenAction> {
  const last = interaction.thoughts.at(-1) ?? (interaction.searches.at(-1) || undefined);
  if (last !== undefined) {
    const text = storable(oneLine(last));
    return { text, changed: text !== run.currentAction };
  }
  if (run.currentAction !== undefined && !isNote(run.currentAction)) return { text: undefined, changed: false };
  const event = (await newestEvents(db, run.taskId, MAX_EVENTS_READ)).findLast(({ text }) => !text.startsWith(CITING));
  return { text: event === undefined ? "Researching" : storable(oneLine(event.text)), changed: false };
}
