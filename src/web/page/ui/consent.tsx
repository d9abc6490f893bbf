/** Consent of the user to a cost above the limit. */

import { useState } from "preact/hooks";
import type { ConsentQuestion } from "../../wire.ts";
import { Check } from "./check.tsx";

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
