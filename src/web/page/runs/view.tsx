/** The list of runs, with search and progress. */

import { useEffect } from "preact/hooks";
import type { RunPage } from "../../wire.ts";
import { announce, Problem } from "../ui/parts.tsx";
import { RunsFilters } from "./filters.tsx";
import { EVERYTHING, listPath, readFilter, type RunsFilter } from "./list.ts";
import { useRunsPage } from "./page.ts";
import { RunsPaging } from "./paging.tsx";
import { RunRow } from "./row.tsx";

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
      {error === undefined ? null : <Problem error={error} />}
      {page === undefined ? <Waiting isOver={error !== undefined} /> : <Listing {...{ page, filter, loading }} />}
    </div>
  );
}

const Waiting = ({ isOver }: { isOver: boolean }) => (isOver ? null : <p class="quiet soon">Loading…</p>);

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
