/** What can be done about a run: buttons that act at once or ask first, and what came of it. */

import { useRef, useState } from "preact/hooks";
import type { Acted, RunAction, RunDetail } from "../../wire.ts";
import { type Acting, AdoptDialog, CancelDialog, DeleteDialog, RestartDialog } from "./actions-dialogs.tsx";
import { actionText, type Deed, requestFor } from "./actions-text.ts";
import { tell } from "../app/request.ts";
import { Problem } from "../ui/parts.tsx";
import { go } from "../app/router.ts";

interface ActionsProps {
  run: RunDetail;
  /** The run has changed by what was done. */
  done: () => void;
}

const DIALOGS: Partial<Record<RunAction, typeof CancelDialog>> = {
  cancel: CancelDialog,
  adopt: AdoptDialog,
  restart: RestartDialog,
  delete: DeleteDialog,
};

export function Actions({ run, done }: ActionsProps) {
  const [asking, setAsking] = useState<RunAction | undefined>(undefined);
  const [said, setSaid] = useState<string | undefined>(undefined);
  const result = useRef<HTMLParagraphElement>(null);
  const acting = useActing(run, (message, status) => {
    // There is nothing left to look at.
    if (status === "deleted") return go("/", { replace: true });
    setAsking(undefined);
    setSaid(message);
    done();
    // Heard by having the focus; the button that had it may be gone with what it did.
    setTimeout(() => result.current?.focus());
  });
  const { pending, error, act, forget } = acting;
  const Dialog = asking === undefined ? undefined : DIALOGS[asking];
  const begin = (action: RunAction): void => {
    setSaid(undefined);
    forget();
    if (actionText(action, run).asks) setAsking(action);
    else void act({ action });
  };
  if (run.actions.length === 0 && said === undefined && error === undefined) return null;
  return (
    <section class="actions stack tight" aria-label="What can be done">
      <div class="row">
        {run.actions.map((action) => (
          <ActionButton key={action} run={run} action={action} pending={pending} begin={() => begin(action)} />
        ))}
      </div>
      {said === undefined ? null : (
        <p class="notice" tabIndex={-1} ref={result}>
          {said}
        </p>
      )}
      {error === undefined || asking !== undefined ? null : <Problem error={error} />}
      {Dialog === undefined ? null : <Dialog run={run} acting={acting} close={() => setAsking(undefined)} />}
    </section>
  );
}

interface ActionButtonProps {
  run: RunDetail;
  action: RunAction;
  pending: RunAction | undefined;
  begin: () => void;
}

function ActionButton({ run, action, pending, begin }: ActionButtonProps) {
  const { name, doing, says, asks, tone } = actionText(action, run);
  return (
    <>
      <button
        type="button"
        class={`button ${tone}`}
        disabled={pending !== undefined}
        aria-describedby={asks ? undefined : `${action}-says`}
        onClick={begin}
      >
        {pending === action ? doing : name}
      </button>
      {asks ? null : (
        <span id={`${action}-says`} class="quiet small">
          {says}
        </span>
      )}
    </>
  );
}

/** One thing at a time: a second press while the first is under way does nothing. */
function useActing(
  run: RunDetail,
  done: (message: string, status: Acted["status"]) => void,
): Acting & { forget: () => void } {
  const [pending, setPending] = useState<RunAction | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const busy = useRef(false);
  const act = async (deed: Deed): Promise<boolean> => {
    if (busy.current) return false;
    busy.current = true;
    setPending(deed.action);
    setError(undefined);
    try {
      const { path, body } = requestFor(run.task_id, deed);
      const { message = "Done.", notice, status } = await tell<Acted>(path, body);
      done(notice === undefined ? message : `${message} ${notice}`, status);
      return true;
    } catch (refusal) {
      setError(refusal);
      return false;
    } finally {
      busy.current = false;
      setPending(undefined);
    }
  };
  return { pending, error, act, forget: () => setError(undefined) };
}
