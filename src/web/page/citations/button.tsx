/** The button that checks the page of one source. */

import type { CitationChecks } from "./checks.ts";

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
