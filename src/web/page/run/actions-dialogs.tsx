/** The questions before an action that cannot be taken back or that costs money. */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { RunAction, RunDetail } from "../../wire.ts";
import { actionText, type Deed, interactionIdProblem } from "./actions-text.ts";
import { RefusedError } from "../app/request.ts";
import { Problem } from "../ui/parts.tsx";

export interface Acting {
  pending: RunAction | undefined;
  error: unknown;
  /** Whether the server did it. */
  act: (deed: Deed) => Promise<boolean>;
}

interface DialogProps {
  run: RunDetail;
  acting: Acting;
  close: () => void;
}

export function CancelDialog({ run, acting, close }: DialogProps) {
  const [savePartial, setSavePartial] = useState(true);
  return (
    <Asking
      title="Cancel this run?"
      says={actionText("cancel", run).says}
      acting={acting}
      close={close}
      submit={{ name: "Cancel the run", doing: "Cancelling…", danger: true }}
      no="Let it run"
      onSubmit={() => void acting.act({ action: "cancel", savePartial })}
    >
      <label class="check">
        <input
          type="checkbox"
          checked={savePartial}
          onChange={({ currentTarget }) => setSavePartial(currentTarget.checked)}
        />
        <span>Keep what was found so far as a partial report</span>
      </label>
    </Asking>
  );
}

export function DeleteDialog({ run, acting, close }: DialogProps) {
  const [atGoogle, setAtGoogle] = useState(false);
  return (
    <Asking
      title="Delete this run?"
      says={actionText("delete", run).says}
      acting={acting}
      close={close}
      submit={{ name: "Delete for good", doing: "Deleting…", danger: true }}
      no="Keep it"
      onSubmit={() => void acting.act({ action: "delete", atGoogle })}
    >
      {run.interaction_id === undefined ? null : (
        <label class="check">
          <input
            type="checkbox"
            checked={atGoogle}
            onChange={({ currentTarget }) => setAtGoogle(currentTarget.checked)}
          />
          <span>Delete Google's copy too</span>
        </label>
      )}
    </Asking>
  );
}

export function AdoptDialog({ run, acting, close }: DialogProps) {
  const [typed, setTyped] = useState("");
  const [judged, setJudged] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const problem = interactionIdProblem(typed);
  const submit = (): void => {
    setJudged(true);
    if (problem === undefined) void acting.act({ action: "adopt", interactionId: typed });
    else field.current?.focus();
  };
  return (
    <Asking
      title="Adopt a run of Google"
      says={actionText("adopt", run).says}
      acting={acting}
      close={close}
      submit={{ name: "Adopt", doing: "Adopting…", danger: false }}
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
    </Asking>
  );
}

export function RestartDialog({ run, acting, close }: DialogProps) {
  const [accepted, setAccepted] = useState(false);
  const { error } = acting;
  // The cost is above the user's limit: the server's own question has to be answered as well.
  const question = error instanceof RefusedError && error.code === "CONFIRMATION_NEEDED" ? error.message : undefined;
  return (
    <Asking
      title="Start it again?"
      says={actionText("restart", run).says}
      acting={question === undefined ? acting : { ...acting, error: undefined }}
      close={close}
      submit={{
        name: question === undefined ? "Start again" : "I agree, start again",
        doing: "Starting…",
        danger: true,
        disabled: !accepted,
      }}
      no="Not now"
      onSubmit={() => void acting.act({ action: "restart", agreed: question !== undefined })}
    >
      <p>Adopting the first start, if Google shows one, costs nothing.</p>
      <label class="check">
        <input
          type="checkbox"
          checked={accepted}
          onChange={({ currentTarget }) => setAccepted(currentTarget.checked)}
        />
        <span>I accept that both may be charged</span>
      </label>
      {question === undefined ? null : (
        <p class="notice warn" role="alert">
          {question}
        </p>
      )}
    </Asking>
  );
}

interface AskingProps {
  title: string;
  says: string;
  acting: Acting;
  close: () => void;
  submit: { name: string; doing: string; danger: boolean; disabled?: boolean };
  no: string;
  onSubmit: () => void;
  children: ComponentChildren;
}

function Asking({ title, says, acting, close, submit, no, onSubmit, children }: AskingProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const isPending = acting.pending !== undefined;
  // Modal: the browser keeps the focus in, closes at Escape, and gives the focus back.
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={`${id}-title`} aria-describedby={`${id}-says`} onClose={close}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isPending) onSubmit();
        }}
      >
        <h2 id={`${id}-title`}>{title}</h2>
        <p id={`${id}-says`}>{says}</p>
        {children}
        {acting.error === undefined ? null : <Problem error={acting.error} />}
        <div class="row">
          <button
            class={`button ${submit.danger ? "danger" : "primary"}`}
            type="submit"
            disabled={isPending || submit.disabled === true}
          >
            {isPending ? submit.doing : submit.name}
          </button>
          <button class="button" type="button" onClick={() => dialog.current?.close()}>
            {no}
          </button>
        </div>
      </form>
    </dialog>
  );
}
