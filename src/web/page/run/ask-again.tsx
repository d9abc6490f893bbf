/** Asks the question of a finished run again, unchanged or edited. */

import { useRef, useState } from "preact/hooks";
import type { RunDetail } from "../../wire.ts";
import { go, runPath } from "../app/router.ts";
import { hasEnded } from "../figures/tally.ts";
import { askSearch } from "../start/ask.ts";
import { draftOf, isSearch, storeDraft } from "../start/draft.ts";
import { announce, Problem } from "../ui/parts.tsx";

export function AskAgain({ run }: { run: RunDetail }) {
  const [pending, setPending] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const asking = useRef(false);
  // A follow-up makes no sense without what it continues; the next one is asked below its answer.
  if (!hasEnded(run.status) || run.followup_context !== undefined) return null;
  const draft = draftOf(run);
  const edit = (): void => {
    storeDraft(draft);
    go("/start");
  };
  const ask = async (): Promise<void> => {
    if (asking.current) return;
    asking.current = true;
    setPending(true);
    setError(undefined);
    try {
      const { task_id } = await askSearch(draft);
      announce("Started.");
      go(runPath(task_id));
    } catch (refusal) {
      setError(refusal);
    } finally {
      asking.current = false;
      setPending(false);
    }
  };
  return (
    <>
      {isSearch(draft) ? (
        <button type="button" class="button" disabled={pending} onClick={() => void ask()}>
          {pending ? "Starting…" : "Ask again"}
        </button>
      ) : null}
      <button type="button" class="button" onClick={edit}>
        {isSearch(draft) ? "Edit and ask" : "Ask again…"}
      </button>
      {error === undefined ? null : <Problem error={error} />}
    </>
  );
}
