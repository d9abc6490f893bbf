/** Confirmation dialogs of actions that cannot be undone or cost money. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { RunAction, RunLive } from "../../../operations/view/run-view.ts";
import { actionText, type ActionInput } from "./actions-text.ts";
import { RefusedError } from "../app/request.ts";
import { Check } from "../ui/check.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";

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

export function CancelDialog(props: DialogProps) {
  const [savePartial, setSavePartial] = useState(true);
  return (
    <ActionDialog {...props} input={{ action: "cancel", savePartial }}>
      <Check checked={savePartial} onChange={setSavePartial}>
        Keep the results so far as a partial report
      </Check>
    </ActionDialog>
  );
}

export function DeleteDialog(props: DialogProps) {
  const [atGoogle, setAtGoogle] = useState(false);
  return (
    <ActionDialog {...props} input={{ action: "delete", atGoogle }}>
      {props.run.interaction_id === undefined ? null : (
        <Check checked={atGoogle} onChange={setAtGoogle}>
          Delete Google's copy too
        </Check>
      )}
    </ActionDialog>
  );
}

export function AdoptDialog(props: DialogProps) {
  const [typed, setTyped] = useState("");
  return (
    <ActionDialog {...props} input={{ action: "adopt", interactionId: typed }} disabled={typed.trim() === ""}>
      <div class="stack tight">
        <label for="interaction-id">Interaction id</label>
        <input
          id="interaction-id"
          value={typed}
          autocomplete="off"
          spellcheck={false}
          aria-describedby="interaction-id-where"
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <p id="interaction-id-where" class="quiet small">
          Google AI Studio lists it under the logs of your key's project: the interaction with this question, started
          about {new Date(props.run.created_at).toLocaleTimeString("en-GB")}. It often begins with <code>v1_</code>.
        </p>
      </div>
    </ActionDialog>
  );
}

export function RestartDialog({ actionState, ...props }: DialogProps) {
  const [accepted, setAccepted] = useState(false);
  const { error } = actionState;
  // The cost is above the user's limit, so the server's question must be answered as well.
  const question = error instanceof RefusedError ? error.question : undefined;
  return (
    <ActionDialog
      {...props}
      actionState={question === undefined ? actionState : { ...actionState, error: undefined }}
      input={{ action: "restart", agreed: question?.subject }}
      yes={question === undefined ? undefined : "I agree, start again"}
      disabled={!accepted}
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
    </ActionDialog>
  );
}

interface ActionDialogProps extends DialogProps {
  input: ActionInput;
  /** Another name of the button that acts. */
  yes?: string | undefined;
  disabled?: boolean;
  children: ComponentChildren;
}

function ActionDialog({ run, actionState, close, input, children, ...more }: ActionDialogProps) {
  const { disabled = false } = more;
  const { pendingName, explanation, tone, confirmation } = actionText(input.action, run);
  if (confirmation === undefined) return null;
  return (
    <ConfirmDialog
      title={confirmation.title}
      explanation={explanation}
      isPending={actionState.pending !== undefined}
      error={actionState.error}
      close={close}
      submit={{ name: more.yes ?? confirmation.yes, pendingName, danger: tone !== "primary", disabled }}
      no={confirmation.no}
      onSubmit={() => void actionState.act(input)}
    >
      {children}
    </ConfirmDialog>
  );
}
