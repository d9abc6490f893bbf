/** Asks the question of a finished run again, unchanged or edited. */

import type { RunLive } from "../../../operations/view/run-view.ts";
import { go, runPath } from "../app/router.ts";
import { hasEnded } from "../ui/run-state.ts";
import { askSearch, draftOf, isSearch, storeDraft } from "../start/draft.ts";
import { announce, Problem } from "../ui/parts.tsx";
import { useSending } from "../ui/sending.ts";

export function AskAgain({ run }: { run: RunLive }) {
  const { pending, error, send } = useSending<"ask">();
  // A follow-up makes no sense without what it continues; the next one is asked below its answer.
  if (!hasEnded(run.status) || run.followup_context !== undefined) return null;
  const draft = draftOf(run);
  const edit = (): void => {
    storeDraft(draft);
    go("/start");
  };
  const ask = (): Promise<boolean> =>
    send("ask", async () => {
      const { task_id } = await askSearch(draft);
      announce("Started.");
      go(runPath(task_id));
    });
  return (
    <>
      {isSearch(draft) ? (
        <button type="button" class="button" disabled={pending !== undefined} onClick={() => void ask()}>
          {pending === undefined ? "Ask again" : "Starting…"}
        </button>
      ) : null}
      <button type="button" class="button" onClick={edit}>
        {isSearch(draft) ? "Edit and ask" : "Ask again…"}
      </button>
      {error === undefined ? null : <Problem error={error} />}
    </>
  );
}
