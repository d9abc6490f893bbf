/** The buttons that check all citations or those of one source, with their price, and the counts of what was found. */

import { useState } from "preact/hooks";
import { VERDICTS } from "../../../claims/evidence.ts";
import type { CitationsView, JudgePrice } from "../../wire.ts";
import { money } from "../ui/format.ts";
import { Consent, useConsent } from "../ui/forms.tsx";
import { Problem } from "../ui/parts.tsx";
import type { CitationChecks } from "./checks.ts";
import { VerdictBadge } from "./verdict.tsx";

export function CitationPanel({ checks }: { checks: CitationChecks }) {
  const { view, running, error } = checks;
  const consent = useConsent(view?.judge?.question);
  if (view === undefined || !view.sources.some(({ is_cited }) => is_cited)) return null;
  const isChecked = view.sources.some(({ checked_at }) => checked_at !== undefined);
  return (
    <section class="citation-panel stack tight" aria-label="Check of the citations">
      {running === undefined ? <Consent {...consent} /> : null}
      <div class="row">
        {running === undefined ? (
          <button
            type="button"
            class="button small"
            disabled={!consent.isGiven}
            onClick={() => checks.check({ agreed: consent.agreed })}
          >
            {isChecked ? "Check the rest" : "Check citations"}
            {judgeCost(view.judge)}
          </button>
        ) : (
          <button type="button" class="button small" onClick={checks.stop}>
            Stop
          </button>
        )}
        {running === undefined ? null : (
          <progress
            max={running.of}
            value={running.done}
            aria-label={`${running.done} of ${running.of} sources checked`}
          />
        )}
      </div>
      {isChecked ? <Counts view={view} /> : <p class="quiet small">{EXPLANATION}</p>}
      {error === undefined ? null : <Problem error={error} />}
    </section>
  );
}

const EXPLANATION = "Fetches the cited pages and compares them with the sentences that cite them.";

function Counts({ view }: { view: CitationsView }) {
  const { counts, independent_domains: domains, copies } = view;
  return (
    <>
      <ul class="row verdict-counts">
        {VERDICTS.map((verdict) =>
          counts[verdict] === undefined ? null : (
            <li key={verdict}>
              {counts[verdict]} <VerdictBadge verdict={verdict} />
            </li>
          ),
        )}
      </ul>
      <p class="quiet small">
        {domains === 1 ? "1 independent site" : `${domains} independent sites`}
        {copies.map((group) => ` · sources ${group.join(", ")} have the same text`).join("")}
      </p>
    </>
  );
}

/** The button that checks the page of one source. */
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

/** The price of the judge, as the end of a button's label; empty without a judge, or if there is nothing to judge. */
export function judgeCost(judge: JudgePrice | undefined): string {
  if (judge === undefined || judge.pairs === 0) return "";
  const { model, likely_usd: likely, max_usd: max } = judge;
  return likely === undefined || max === undefined
    ? ` (with ${model}, price unknown)`
    : ` (about ${money(likely)}, at most ${money(Math.ceil(max * 100) / 100)} for ${model})`;
}
