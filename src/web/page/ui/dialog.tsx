/** A modal dialog that asks before something is done. */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Problem } from "./parts.tsx";

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
