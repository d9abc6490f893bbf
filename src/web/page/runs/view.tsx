/** The list of runs: its rows, with progress, and the links between its pages. */

import { useEffect } from "preact/hooks";
import type { ListedRun, RunPage } from "../../wire.ts";
import { Age, announce, Problem, Progress, Status } from "../ui/parts.tsx";
import { RunsFilters } from "./filters.tsx";
import { EVERYTHING, listPath, readFilter, type RunsFilter, useRunsPage } from "./list.ts";
import type { RunHead } from "../../../operations/view/run-view.ts";
import { OrganizeButtons } from "../run/organize.tsx";
import { costRemark, durationOf, isUnfinished, kindName, markedMoney, money, nameOf } from "../ui/format.ts";
import { runPath } from "../app/router.ts";

export function RunsView({ filter: parameters }: { filter: URLSearchParams }) {
  const filter = readFilter(parameters);
  const { page, error, loading } = useRunsPage(filter);
  const foundNow = filter.text === "" || loading ? undefined : foundText(page?.found);
  useEffect(() => {
    if (foundNow !== undefined) announce(foundNow);
  }, [foundNow, filter.text]);
  return (
    <div class="stack runs-view">
      <div class="row apart">
        <h1>Runs</h1>
        <a class="button primary" href="/start">
          Ask
        </a>
      </div>
      {page === undefined || hasRuns(page) ? (
        <RunsFilters filter={filter} counts={filter.text === "" ? page : page?.found} />
      ) : null}
      <Problem error={error} />
      {page === undefined && error === undefined ? <p class="quiet soon">Loading…</p> : null}
      {page === undefined ? null : <Listing {...{ page, filter, loading }} />}
    </div>
  );
}

function Listing({ page, filter, loading }: { page: RunPage; filter: RunsFilter; loading: boolean }) {
  if (!hasRuns(page) && page.runs.length === 0) return <NoRuns />;
  if (page.runs.length === 0) {
    return (
      <div class="card stack tight" aria-busy={loading}>
        <p>{filter.text === "" ? "No runs match this filter." : `No results for “${filter.text}”.`}</p>
        <p>
          {page.total === 0 ? (
            <a href={listPath(filter, { ...EVERYTHING, archived: "true" })}>Show archived runs</a>
          ) : (
            <a href={listPath(filter, EVERYTHING)}>Show all runs</a>
          )}
        </p>
      </div>
    );
  }
  return (
    <>
      <table role="table" class="runs" aria-label={tableName(filter)} aria-busy={loading}>
        <thead role="rowgroup">
          <tr role="row">
            {["Status", "Question", "Kind", "Started", "Cost"].map((name) => (
              <th key={name} role="columnheader" scope="col" class={name.toLowerCase()}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {page.runs.map((run) => (
            <RunRow key={run.task_id} run={run} />
          ))}
        </tbody>
      </table>
      <RunsPaging page={page} filter={filter} />
    </>
  );
}

const hasRuns = ({ total, archived }: RunPage): boolean => total + archived > 0;

const tableName = ({ text }: RunsFilter): string =>
  text === "" ? "Runs, newest first" : `Runs with ${text}, best matches first`;

function foundText(found: RunPage["found"]): string | undefined {
  if (found === undefined) return undefined;
  if (found.total === 0) return "No results.";
  return found.total === 1 ? "1 run found." : `${found.total.toLocaleString("en-US")} runs found.`;
}

/** Before the first run: the three ways to start one. */
const NoRuns = () => (
  <div class="card stack empty">
    <h2>No runs yet</h2>
    <p>Everything you research appears here, with its question, progress, report and cost.</p>
    <ul class="stack">
      <li>
        <h3>Here</h3>
        <p>
          <a href="/start">Ask a question</a>. A search takes seconds; for Deep Research you see the likely cost first.
        </p>
      </li>
      <li>
        <h3>In a terminal</h3>
        <pre tabIndex={0}>
          <code>gemini-search-mcp ask "When is the next total solar eclipse?"</code>
        </pre>
      </li>
      <li>
        <h3>In your assistant</h3>
        <p>
          Ask it to research something with gemini-search-mcp. <code>gemini-search-mcp init</code> connects it.
        </p>
      </li>
    </ul>
  </div>
);

function RunsPaging({ page, filter }: { page: RunPage; filter: RunsFilter }) {
  if (filter.cursor === "" && page.next_cursor === undefined) return null;
  return (
    <nav class="row" aria-label="Pages">
      {filter.cursor === "" ? null : (
        <a class="button" href={listPath(filter, {})}>
          First page
        </a>
      )}
      {page.next_cursor === undefined ? null : (
        <a class="button" href={listPath(filter, { cursor: page.next_cursor })} rel="next">
          {filter.text === "" ? "Older" : "More"}
        </a>
      )}
    </nav>
  );
}

/** More than fits into two lines. */
const MAX_SHOWN_CHARACTERS = 300;

function RunRow({ run }: { run: ListedRun }) {
  const name = nameOf(run);
  const took = durationOf(run);
  const found = (run.found ?? []).map(({ text }) => text).join("");
  return (
    <tr role="row" data-status={run.status}>
      <td role="cell" class="state">
        <Status status={run.status} />
      </td>
      <td role="cell" class="what">
        <a class="run-link" href={runPath(run.task_id)}>
          <Text text={name} run={run} found={found} />
        </a>
        {run.title === undefined ? null : (
          <p class="asked quiet small" dir="auto">
            <Text text={run.query} run={run} found={found} />
          </p>
        )}
        {run.found === undefined || found === name || found === run.query ? null : (
          <p class="found quiet small">
            <Marked pieces={run.found} />
          </p>
        )}
        <Progress run={run} />
        {run.status === "start_unknown" ? (
          <p class="small stalled">We can't tell whether Google started this. Open the run to resolve it.</p>
        ) : null}
      </td>
      <td role="cell" class="kind quiet">
        {kindName(run)}
      </td>
      <td role="cell" class="age">
        <Age at={run.created_at} />
        {took === undefined ? null : <span class="took quiet small">took {took}</span>}
      </td>
      <td role="cell" class="cost">
        <Cost run={run} />
        <OrganizeButtons run={run} compact />
      </td>
    </tr>
  );
}

type Pieces = NonNullable<ListedRun["found"]>;

/** A title or short question is found as a whole: its words are marked where it is shown, instead of repeating it. */
const Text = ({ text, run, found }: { text: string; run: ListedRun; found: string }) =>
  found === text ? <Marked pieces={run.found ?? []} /> : <>{text.slice(0, MAX_SHOWN_CHARACTERS)}</>;

const Marked = ({ pieces }: { pieces: Pieces }) => (
  <>{pieces.map(({ text, marked }, index) => (marked === true ? <mark key={index}>{text}</mark> : plain(text)))}</>
);

/** Heading marks are removed from excerpts. */
const plain = (text: string): string => text.replaceAll(/(^|[\s…])#{1,6} /g, "$1");

function Cost({ run }: { run: RunHead }) {
  if (isUnfinished(run.status) && run.estimated_usd !== undefined) {
    return (
      <span class="quiet" title="Estimated at the start">
        <span aria-hidden="true">≈ </span>
        <span class="unseen">about </span>
        {money(run.estimated_usd)}
      </span>
    );
  }
  if (run.cost_usd !== undefined) return <span title={costRemark(run)}>{markedMoney(run.cost_usd, run)}</span>;
  return (
    <span class="quiet">
      <span aria-hidden="true">–</span>
      <span class="unseen">cost not known</span>
    </span>
  );
}
