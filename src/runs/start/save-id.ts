/** Stores the interaction id of an accepted start, or keeps it in memory, in a file and in the log until that succeeds. */

import { failpoint } from "../../platform/failpoint.ts";
import { hasAttempt } from "../attempt-store.ts";
import type { ResearchDeps } from "../deps.ts";
import type { UnsavedRun } from "../run.ts";
import { saveInteractionId } from "../interaction-store.ts";
import { keepOrphanedId } from "../recovery/orphaned-ids.ts";

/** After this time the id is also written to a file: if the network drops packets, the save can hang for minutes. */
const MAX_SAVE_MS = 1_500;

export async function saveId(deps: ResearchDeps, accepted: UnsavedRun): Promise<void> {
  const { taskId, attemptId, interactionId } = accepted;
  const log = deps.log.forRun(taskId);
  const started = `Run ${taskId} was started at Google as ${interactionId}, but the database`;
  let orphanNote: string | undefined;
  const keepUnsavedId = (): string => {
    deps.unsavedIds.set(taskId, accepted);
    orphanNote ??= writeOrphanedId(deps, attemptId, interactionId);
    return orphanNote;
  };
  const saving = saveInteractionId(deps.db, { attemptId, interactionId, now: deps.clock.now() }, deps.queue);
  try {
    if (!(await settlesInTime(deps, saving))) {
      const where = keepUnsavedId();
      // During shutdown the id is written to the file as a precaution; usually the save still succeeds.
      if (!deps.leaving.aborted) log.warn(`${started} has not answered yet. ${where}`);
    }
    const isSaved = await saving;
    // The attempt is missing: this is not the database in which the start was stored.
    if (!isSaved && !(await hasAttempt(deps.db, attemptId))) {
      log.error(`${started} no longer contains it. ${keepUnsavedId()}`);
      return;
    }
    deps.unsavedIds.delete(taskId);
    failpoint("after-id");
  } catch {
    log.error(`${started} refused the id. ${keepUnsavedId()}`);
  }
}

/** Resolves with false on timeout or shutdown. Uses a real timer, not the clock: it bounds a network operation. */
function settlesInTime({ leaving }: ResearchDeps, work: Promise<unknown>): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const giveUp = (): void => resolve(false);
  const timer = setTimeout(giveUp, MAX_SAVE_MS);
  leaving.addEventListener("abort", giveUp, { once: true });
  if (leaving.aborted) giveUp();
  work.then(() => resolve(true), reject);
  return promise.finally(() => {
    clearTimeout(timer);
    leaving.removeEventListener("abort", giveUp);
  });
}

function writeOrphanedId(deps: ResearchDeps, attemptId: string, interactionId: string): string {
  try {
    const file = keepOrphanedId(deps.stateDir, { attemptId, interactionId });
    return `It is saved in ${file} and imported as soon as the database can be written.`;
  } catch {
    return "It could not be written to orphans.jsonl either: this line is its only record besides this process's memory.";
  }
}
