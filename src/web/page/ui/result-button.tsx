/** A button whose label shows for a moment how its action ended; screen readers announce it. */

import { useEffect, useState } from "preact/hooks";
import { announce } from "./parts.tsx";

const SHOWN_MS = 3_000;

interface ResultButtonProps {
  label: string;
  /** What it acts on, where the label alone leaves that open. */
  subject?: string;
  act: () => Promise<unknown>;
  /** Shown after it worked; without it the label stays. */
  done?: string;
  failed?: string;
}

export function ResultButton({ label, subject, act, done, failed = `${label}: try again` }: ResultButtonProps) {
  const [result, setResult] = useState<string>();
  useEffect(() => {
    if (result === undefined) return undefined;
    announce(subject === undefined ? result : `${result}: ${subject}`);
    const timer = setTimeout(() => setResult(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [result]);
  const click = (): void => {
    act().then(
      () => setResult(done),
      () => setResult(failed),
    );
  };
  const name = subject === undefined ? undefined : `${label} ${subject}`;
  return (
    <button type="button" class="button small" aria-label={result ?? name} onClick={click}>
      {result ?? label}
    </button>
  );
}
