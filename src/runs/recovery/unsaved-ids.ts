/** Stores interaction ids that the database had rejected, so that their runs are polled like any other. */

import { hasAttempt } from "../attempt-store.ts";
import type { ResearchDeps } from "../deps.ts";
import { saveInteractionId } from "../interaction-store.ts";

/** Ids that are rejected again stay in `unsavedIds`. */
export async function saveUnsavedIds({ db, clock, queue, unsavedIds }: ResearchDeps): Promise<void> {
  for (const { taskId, attemptId, interactionId } of unsavedIds.values()) {
    const save = async (): Promise<boolean> =>
      (await saveInteractionId(db, { attemptId, interactionId, now: clock.now() }, queue)) ||
      // The import of orphaned ids may have stored it. A database without the attempt is another one.
      (await hasAttempt(db, attemptId));
    if (await save().catch(() => false)) unsavedIds.delete(taskId);
  }
}
