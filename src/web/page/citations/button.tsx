/** The button that checks the page of one source. */

import { useState } from "preact/hooks";
import { Consent, useConsent } from "../ui/consent.tsx";
import type { CitationChecks } from "./checks.ts";
import { judgeCost } from "./price.ts";

export function CheckButton({ n, checks }: { n: number; checks: CitationChecks }) {
  const { view, running } = checks;
  const source = view?.sources.find((each) => each.n === n);
  // Shown once the button is pressed: a question beside every source would hide the sources.
  const [isAsking, setAsking] = useState(false);
  const consent = useConsent(source?.judge?.question);
  if (source === undefined) return null;
  const isRunning = running?.numbers.has(n) === true;
  const label = source.checked_at === undefined ? "Check this page" : "Check again";
  const price = judgeCost(source.judge);
  const press = (): void => {
    setAsking(!consent.isGiven);
    if (!consent.isGiven) return;
    // For one check: the next one is charged again.
    consent.setAgreed(false);
    checks.check({ numbers: [n], agreed: consent.agreed });
  };
  return (
    <>
      {isAsking ? <Consent {...consent} /> : null}
      <button
        type="button"
        class="button small check"
        disabled={running !== undefined}
        aria-label={`${label}: source ${n}${price}`}
        onClick={press}
      >
        {isRunning ? "Checking…" : label}
        {isRunning ? null : price}
      </button>
    </>
  );
}
