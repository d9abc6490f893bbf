/** The actions on a run: buttons that act immediately or ask first, and the result. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { RunAction, RunLive } from "../../../operations/view/run-view.ts";
import type { Acted } from "../../wire.ts";
import { type ActionState, AdoptDialog, CancelDialog, DeleteDialog, RestartDialog } from "./actions-dialogs.tsx";
import { actionText, type ActionInput, requestFor } from "./actions-text.ts";
import { AskAgain } from "./ask-again.tsx";
import { OrganizeButtons } from "../library/buttons.tsx";
import { NotifyButton } from "../live/notify.tsx";
import { postJson, RefusedError, SERVER_AWAY } from "../app/request.ts";
import { useLive } from "../live/live.ts";
import { Problem } from "../ui/parts.tsx";
import { useSending } from "../ui/sending.ts";
import { go } from "../app/router.ts";

interface ActionsProps {
  run: RunLive;
  /** Called after an action has changed the run. */
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
  const [message, setMessage] = useState<string | undefined>(undefined);
  const result = useRef<HTMLParagraphElement>(null);
  const actionState = useAction(run, (text, status) => {
    // The run no longer exists.
    if (status === "deleted") return go("/", { replace: true });
    setAsking(undefined);
    setMessage(text);
    done();
    // Focused so that screen readers announce it; the button that had the focus may be gone.
    setTimeout(() => result.current?.focus());
  });
  const { pending, error, act, forget } = actionState;
  // An error about an earlier state of the run, or of a server that is back, would be wrong.
  useEffect(forget, [run.status]);
  useLive({
    hello: () => {
      if (error instanceof RefusedError && error.code === SERVER_AWAY) forget();
    },
  });
  const Dialog = asking === undefined ? undefined : DIALOGS[asking];
  const begin = (action: RunAction): void => {
    setMessage(undefined);
    forget();
    if (action in DIALOGS) setAsking(action);
    else void act({ action });
  };
  const button = (action: RunAction) => (
    <ActionButton key={action} run={run} action={action} pending={pending} begin={() => begin(action)} />
  );
  if (run.actions.length === 0 && message === undefined && error === undefined) return null;
  return (
    <section class="actions stack tight" aria-label="Actions">
      <div class="row">
        {run.actions.filter((action) => action !== "delete").map(button)}
        <NotifyButton run={run} />
        <AskAgain run={run} />
        <OrganizeButtons run={run} />
        {run.actions.filter((action) => action === "delete").map(button)}
      </div>
      {message === undefined ? null : (
        <p class="notice" tabIndex={-1} ref={result}>
          {message}
        </p>
      )}
      {error === undefined || asking !== undefined ? null : <Problem error={error} />}
      {Dialog === undefined ? null : <Dialog run={run} actionState={actionState} close={() => setAsking(undefined)} />}
    </section>
  );
}

interface ActionButtonProps {
  run: RunLive;
  action: RunAction;
  pending: RunAction | undefined;
  begin: () => void;
}

function ActionButton({ run, action, pending, begin }: ActionButtonProps) {
  const { name, pendingName, explanation, confirmation, tone } = actionText(action, run);
  return (
    <>
      <button
        type="button"
        class={`button ${tone}`}
        disabled={pending !== undefined}
        aria-describedby={confirmation === undefined ? `${action}-explanation` : undefined}
        onClick={begin}
      >
        {pending === action ? pendingName : name}
      </button>
      {confirmation === undefined ? (
        <span id={`${action}-explanation`} class="quiet small">
          {explanation}
        </span>
      ) : null}
    </>
  );
}

/** One action at a time; further clicks are ignored. */
function useAction(
  run: RunLive,
  done: (message: string, status: Acted["status"]) => void,
): ActionState & { forget: () => void } {
  const { send, ...state } = useSending<RunAction>();
  const act = (input: ActionInput): Promise<boolean> =>
    send(input.action, async () => {
      const { path, body } = requestFor(run.task_id, input);
      const { message = "Done.", notice, status } = await postJson<Acted>(path, body);
      done(notice === undefined ? message : `${message} ${notice}`, status);
    });
  return { ...state, act };
}
