/** The buttons that check all citations or those of one source, what that may cost, and the counts of what was found. */

import { VERDICTS } from "../../../claims/evidence.ts";
import type { CitationsView } from "../../wire.ts";
import { money } from "../ui/format.ts";
import { Problem } from "../ui/parts.tsx";
import type { CitationChecks } from "./checks.ts";
import { VerdictBadge } from "./verdict.tsx";

export function CitationPanel({ checks }: { checks: CitationChecks }) {
  const { view, running, error } = checks;
  if (view === undefined || !view.sources.some(({ is_cited }) => is_cited)) return null;
  const isChecked = view.sources.some(({ checked_at }) => checked_at !== undefined);
  return (
    <section class="citation-panel stack tight" aria-label="Check of the citations">
      <div class="row">
        {running === undefined ? (
          <button type="button" class="button small" onClick={() => checks.check()}>
            {isChecked ? "Check the rest" : "Check citations"}
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
      <JudgeCost view={view} />
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
  if (source === undefined) return null;
  const isRunning = running?.numbers.has(n) === true;
  const label = source.checked_at === undefined ? "Check this page" : "Check again";
  return (
    <button
      type="button"
      class="button small check"
      disabled={running !== undefined}
      aria-label={`${label}: source ${n}`}
      onClick={() => checks.check([n])}
    >
      {isRunning ? "Checking…" : label}
    </button>
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
