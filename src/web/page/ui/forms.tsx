/** What forms share: dialogs that ask first, checkboxes, consent to a cost, and requests that are sent one at a time. */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Problem } from "./parts.tsx";
import type { ConsentQuestion } from "../../wire.ts";

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
        <Problem error={error} />
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

interface CheckProps {
  checked: boolean;
  onChange: (checked: boolean) => void;
  class?: string;
  children: ComponentChildren;
}

export const Check = ({ checked, onChange, class: more = "", children }: CheckProps) => (
  <label class={`check ${more}`.trim()}>
    <input type="checkbox" checked={checked} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
    <span>{children}</span>
  </label>
);

export type Agreed = ConsentQuestion["subject"] | undefined;

interface ConsentState {
  /** What the user must confirm; undefined if nothing. */
  question: ConsentQuestion | undefined;
  /** What the user has agreed to, for the request. */
  agreed: Agreed;
  /** Whether the request may be sent. */
  isGiven: boolean;
  setAgreed: (agreed: boolean) => void;
}

/** Consent applies to the text that was read: another amount is another question. */
export function useConsent(question: ConsentQuestion | undefined): ConsentState {
  const [agreedTo, setAgreedTo] = useState<string>();
  const agreed = question?.text === agreedTo ? question?.subject : undefined;
  const setAgreed = (checked: boolean): void => setAgreedTo(checked ? question?.text : undefined);
  return { question, agreed, isGiven: question === undefined || agreed !== undefined, setAgreed };
}

export function Consent({ question, agreed, setAgreed }: ConsentState) {
  if (question === undefined) return null;
  return (
    <Check class="notice warn" checked={agreed !== undefined} onChange={setAgreed}>
      {question.text} <strong>I agree.</strong>
    </Check>
  );
}

export function useSending<Name>() {
  const [pending, setPending] = useState<Name | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  // A second click can come before the button is rendered as disabled.
  const busy = useRef(false);
  /** Resolves to whether the server did it. While a request is pending, further ones are ignored. */
  const send = async (name: Name, request: () => Promise<void>): Promise<boolean> => {
    if (busy.current) return false;
    busy.current = true;
    setPending(name);
    setError(undefined);
    try {
      await request();
      return true;
    } catch (refusal) {
      setError(refusal);
      return false;
    } finally {
      busy.current = false;
      setPending(undefined);
    }
  };
  return { pending, error, send, forget: () => setError(undefined) };
}
