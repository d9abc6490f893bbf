/** Stores interaction ids that the database had refused, so that their runs are polled like any other. */

import { hasAttempt } from "../attempt-store.ts";
import type { ResearchDeps } from "../deps.ts";
import { saveInteractionId } from "../interaction-store.ts";

/** The ids that are still refused stay in `unsavedIds`. */
export async function saveUnsavedIds({ db, clock, queue, unsavedIds }: ResearchDeps): Promise<void> {
  for (const { taskId, attemptId, interactionId } of unsavedIds.values()) {
    const save = async (): Promise<boolean> =>
      (await saveInteractionId(db, { attemptId, interactionId, now: clock.now() }, queue)) ||
      // The import of orphaned ids was faster. A database without the attempt is another one and lacks the id.
      (await hasAttempt(db, attemptId));
    if (await save().catch(() => false)) unsavedIds.delete(taskId);
  }
}
