/** Consent of the user to a cost above the limit. */

import { useState } from "preact/hooks";
import { Check } from "./check.tsx";

interface ConsentState {
  /** What the user must confirm; undefined if nothing. */
  question: string | undefined;
  agreed: boolean;
  /** Whether the request may be sent. */
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
    <Check class="notice warn" checked={agreed} onChange={setAgreed}>
      {question} <strong>I agree.</strong>
    </Check>
  );
}
