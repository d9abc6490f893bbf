/** Confirmation dialogs of actions that cannot be undone or cost money. */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { RunAction, RunLive } from "../../../operations/view/run-view.ts";
import { actionText, type ActionInput, interactionIdProblem } from "./actions-text.ts";
import { RefusedError } from "../app/request.ts";
import { Check } from "../ui/check.tsx";
import { Problem } from "../ui/parts.tsx";

export interface ActionState {
  pending: RunAction | undefined;
  error: unknown;
  /** Resolves to whether the server did it. */
  act: (input: ActionInput) => Promise<boolean>;
}

interface DialogProps {
  run: RunLive;
  actionState: ActionState;
  close: () => void;
}

export function CancelDialog({ run, actionState, close }: DialogProps) {
  const [savePartial, setSavePartial] = useState(true);
  return (
    <ConfirmDialog
      title="Cancel this run?"
      explanation={actionText("cancel", run).explanation}
      {...stateOf(actionState)}
      close={close}
      submit={{ name: "Cancel the run", pendingName: "Cancelling…", danger: true }}
      no="Let it run"
      onSubmit={() => void actionState.act({ action: "cancel", savePartial })}
    >
      <Check checked={savePartial} onChange={setSavePartial}>
        Keep the results so far as a partial report
      </Check>
    </ConfirmDialog>
  );
}

export function DeleteDialog({ run, actionState, close }: DialogProps) {
  const [atGoogle, setAtGoogle] = useState(false);
  return (
    <ConfirmDialog
      title="Delete this run?"
      explanation={actionText("delete", run).explanation}
      {...stateOf(actionState)}
      close={close}
      submit={{ name: "Delete for good", pendingName: "Deleting…", danger: true }}
      no="Keep it"
      onSubmit={() => void actionState.act({ action: "delete", atGoogle })}
    >
      {run.interaction_id === undefined ? null : (
        <Check checked={atGoogle} onChange={setAtGoogle}>
          Delete Google's copy too
        </Check>
      )}
    </ConfirmDialog>
  );
}

export function AdoptDialog({ run, actionState, close }: DialogProps) {
  const [typed, setTyped] = useState("");
  const [judged, setJudged] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const problem = interactionIdProblem(typed);
  const submit = (): void => {
    setJudged(true);
    if (problem === undefined) void actionState.act({ action: "adopt", interactionId: typed });
    else field.current?.focus();
  };
  return (
    <ConfirmDialog
      title="Link a run from Google"
      explanation={actionText("adopt", run).explanation}
      {...stateOf(actionState)}
      close={close}
      submit={{ name: "Link run", pendingName: "Linking…", danger: false }}
      no="Not now"
      onSubmit={submit}
    >
      <div class="stack tight">
        <label for="interaction-id">Interaction id</label>
        <input
          id="interaction-id"
          ref={field}
          value={typed}
          autocomplete="off"
          spellcheck={false}
          aria-invalid={judged && problem !== undefined ? "true" : undefined}
          aria-describedby="interaction-id-where interaction-id-problem"
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <p id="interaction-id-problem" class="field-problem" role="status">
          {judged ? problem : ""}
        </p>
        <p id="interaction-id-where" class="quiet small">
          Google AI Studio lists it under the logs of your key's project: the interaction with this question, started
          about {new Date(run.created_at).toLocaleTimeString("en-GB")}. It often begins with <code>v1_</code>.
        </p>
      </div>
    </ConfirmDialog>
  );
}

export function RestartDialog({ run, actionState, close }: DialogProps) {
  const [accepted, setAccepted] = useState(false);
  const { error } = actionState;
  // The cost is above the user's limit, so the server's question must be answered as well.
  const question = error instanceof RefusedError ? error.question : undefined;
  return (
    <ConfirmDialog
      title="Start it again?"
      explanation={actionText("restart", run).explanation}
      isPending={actionState.pending !== undefined}
      error={question === undefined ? error : undefined}
      close={close}
      submit={{
        name: question === undefined ? "Start again" : "I agree, start again",
        pendingName: "Starting…",
        danger: true,
        disabled: !accepted,
      }}
      no="Not now"
      onSubmit={() => void actionState.act({ action: "restart", agreed: question?.subject })}
    >
      <p>If Google shows the first run, linking it is free.</p>
      <Check checked={accepted} onChange={setAccepted}>
        I accept that both may be charged
      </Check>
      {question === undefined ? null : (
        <p class="notice warn" role="alert">
          {question.text}
        </p>
      )}
    </ConfirmDialog>
  );
}

const stateOf = ({ pending, error }: ActionState) => ({ isPending: pending !== undefined, error });

interface ConfirmDialogProps {
  title: string;
  explanation: string;
  isPending: boolean;
  error: unknown;
  close: () => void;
  submit: { name: string; pendingName: string; danger: boolean; disabled?: boolean };
  no: string;
  onSubmit: () => void;
  children: ComponentChildren;
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, explanation, isPending, error, close, submit, no, onSubmit, children } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Modal: the browser traps the focus, closes on Escape, and restores the focus.
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={`${id}-title`} aria-describedby={`${id}-explanation`} onClose={close}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isPending) onSubmit();
        }}
      >
        <h2 id={`${id}-title`}>{title}</h2>
        <p id={`${id}-explanation`} dir="auto">
          {explanation}
        </p>
        {children}
        {error === undefined ? null : <Problem error={error} />}
        <div class="row">
          <button
            class={`button ${submit.danger ? "danger" : "primary"}`}
            type="submit"
            disabled={isPending || submit.disabled === true}
          >
            {isPending ? submit.pendingName : submit.name}
          </button>
          <button class="button" type="button" onClick={() => dialog.current?.close()}>
            {no}
          </button>
        </div>
      </form>
    </dialog>
  );
}
