/** The button that checks the citations, what that may cost, the conflicts, and the counts of what was found. */

import { displayedClaim, VERDICTS } from "../../../claims/evidence.ts";
import type { CitationsView, ClaimView } from "../../wire.ts";
import { money } from "../ui/format.ts";
import { Problem } from "../ui/parts.tsx";
import type { CitationChecks } from "./checks.ts";
import { PairDetails, VerdictBadge } from "./verdict.tsx";

export function CitationPanel({ checks }: { checks: CitationChecks }) {
  const { view, running, error } = checks;
  if (view === undefined) return null;
  const cited = view.sources.filter(({ is_cited }) => is_cited);
  const left = cited.filter(({ checked_at }) => checked_at === undefined).length;
  const isChecked = left < cited.length;
  if (cited.length === 0) return null;
  return (
    <section class="citation-panel stack tight" aria-label="Check of the citations">
      <div class="row">
        {running === undefined ? (
          <button type="button" class="button small" onClick={() => checks.check({ isAgain: left === 0 })}>
            {left === 0 ? "Check again" : isChecked ? "Check the rest" : "Check citations"}
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
      <Conflicts view={view} />
      {isChecked ? <Counts view={view} /> : <p class="quiet small">{EXPLANATION}</p>}
      <JudgeCost view={view} />
      {error === undefined ? null : <Problem error={error} />}
    </section>
  );
}

const EXPLANATION = "Fetches the cited pages and compares them with the sentences that cite them.";

function Counts({ view }: { view: CitationsView }) {
  const { claims, independent_domains: domains, copies } = view;
  const found = VERDICTS.map((verdict) => ({
    verdict,
    n: claims.filter((claim) => claim.verdict === verdict).length,
  })).filter(({ n }) => n > 0);
  return (
    <>
      <ul class="row verdict-counts" aria-label="Sentences">
        {found.map(({ verdict, n }) => (
          <li key={verdict}>
            {n} <VerdictBadge verdict={verdict} />
          </li>
        ))}
      </ul>
      <p class="quiet small">
        {domains === 1 ? "1 independent site" : `${domains} independent sites`}
        {copies.map((group) => ` · sources ${group.join(", ")} have the same text`).join("")}
      </p>
    </>
  );
}

const MAX_CONFLICTS = 20;

export const contradicted = ({ claims }: CitationsView): ClaimView[] =>
  claims.filter(({ verdict }) => verdict === "conflict");

/** Above the report: leads to the sentences. */
export function ConflictLine({ checks: { view } }: { checks: CitationChecks }) {
  const count = view === undefined ? 0 : contradicted(view).length;
  if (count === 0) return null;
  return (
    <p class="notice bad">
      <a href="#conflicts">
        {count === 1 ? "1 sentence conflicts with its source" : `${count} sentences conflict with their source`}
      </a>
    </p>
  );
}

/** What a reader should see before the text is used: each sentence that a page contradicts. */
function Conflicts({ view }: { view: CitationsView }) {
  const found = contradicted(view);
  if (found.length === 0) return null;
  return (
    <ul class="conflicts stack tight" aria-label="Conflicts" id="conflicts" tabIndex={-1}>
      {found.slice(0, MAX_CONFLICTS).map((claim) => (
        <li key={claim.n}>
          <p dir="auto">{displayedClaim(claim)}</p>
          {claim.pairs
            .filter(({ verdict }) => verdict === "conflict")
            .map((pair) => (
              <div key={pair.source}>
                <a href={`#source-${pair.source}`} class="quiet small" dir="auto">
                  {view.sources.find((source) => source.n === pair.source)?.title ?? `Source ${pair.source}`}
                </a>
                <PairDetails pair={pair} />
              </div>
            ))}
        </li>
      ))}
    </ul>
  );
}

/** What the judge has cost and may cost for this report, and what it did not judge. */
function JudgeCost({ view }: { view: CitationsView }) {
  const { judge, judge_max_usd: max, not_judged: unjudged } = view;
  const spent = judge && `${judge.cost_incomplete === true ? "at least " : ""}${money(judge.cost_usd)} so far`;
  const limit = max === undefined ? undefined : `at most ${money(max)}`;
  const cost = [spent, limit].filter((part) => part !== undefined).join(", ");
  return cost === "" ? null : (
    <p class="quiet small">
      A model judges what the text of a page leaves open: {cost} for this report.
      {unjudged === undefined ? "" : ` ${unjudged}`}
    </p>
  );
}
