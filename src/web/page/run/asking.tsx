/** What the forms of paid follow-ups share: sending once, the price on the button, and consent above the limit. */

import { useRef, useState } from "preact/hooks";
import type { Acted } from "../../wire.ts";
import { postJson } from "../app/request.ts";
import { money } from "../ui/amounts.ts";
import { announce } from "../ui/parts.tsx";

interface Asking {
  error: unknown;
  pending: boolean;
  /** Returns whether it was accepted. */
  ask: (body: Record<string, unknown>) => Promise<boolean>;
}

/** Asks a follow-up on a run; `asked` is called afterwards, whatever the outcome. */
export function useAsking(taskId: string, asked: () => void): Asking {
  const [error, setError] = useState<unknown>(undefined);
  const [pending, setPending] = useState(false);
  // A second click can come before the button is rendered as disabled.
  const sending = useRef(false);
  const ask = async (body: Record<string, unknown>): Promise<boolean> => {
    if (sending.current) return false;
    sending.current = true;
    setPending(true);
    setError(undefined);
    try {
      const { joined } = await postJson<Acted>(`/api/runs/${taskId}/followup`, body);
      announce(joined === true ? "This was asked before; nothing is charged." : "Asked.");
      return true;
    } catch (refusal) {
      setError(refusal);
      return false;
    } finally {
      sending.current = false;
      setPending(false);
      asked();
    }
  };
  return { error, pending, ask };
}

interface ConsentState {
  /** What the user must confirm; undefined if nothing. */
  question: string | undefined;
  agreed: boolean;
  /** Whether the form may be sent. */
  isGiven: boolean;
  setAgreed: (agreed: boolean) => void;
}

/** Consent applies to the text that was read: another amount is another question. */
export function useConsent(question: string | undefined): ConsentState {
  const [agreedTo, setAgreedTo] = useState<string>();
  const agreed = question !== undefined && question === agreedTo;
  const setAgreed = (checked: boolean): void => setAgreedTo(checked ? question : undefined);
  return { question, agreed, isGiven: question === undefined || agreed, setAgreed };
}

export function Consent({ question, agreed, setAgreed }: ConsentState) {
  if (question === undefined) return null;
  return (
    <label class="check notice warn">
      <input type="checkbox" checked={agreed} onChange={({ currentTarget }) => setAgreed(currentTarget.checked)} />
      <span>
        {question} <strong>I agree.</strong>
      </span>
    </label>
  );
}

export const priced = (label: string, usd: number | undefined): string =>
  usd === undefined ? label : `${label} · about ${money(usd)}`;
