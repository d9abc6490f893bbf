/** The button that checks all citations, its progress, and the counts of what was found. */

import { VERDICTS } from "../../../claims/evidence.ts";
import type { CitationsView } from "../../wire-citations.ts";
import { Consent, useConsent } from "../ui/consent.tsx";
import { Problem } from "../ui/parts.tsx";
import type { CitationChecks } from "./checks.ts";
import { judgeCost } from "./price.ts";
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
