/** What changed between a report and an earlier one of the same question, side by side. */

import { useState } from "preact/hooks";
import type { EarlierReports, ReportComparison } from "../wire.ts";
import { fetchJson } from "./app/request.ts";
import { runPath } from "./app/router.ts";
import { exactTime } from "./ui/format.ts";
import { Problem, useLoad } from "./ui/parts.tsx";

export function ChangesView({ taskId }: { taskId: string }) {
  const [chosen, choose] = useState("");
  const path = `/api/runs/${taskId}/changes${chosen === "" ? "" : `?earlier=${chosen}`}`;
  const { value, error, reload } = useLoad(path, (signal) => fetchJson<ReportComparison>(path, { signal }));
  const { value: earlier } = useLoad(taskId, (signal) =>
    fetchJson<EarlierReports>(`/api/runs/${taskId}/earlier`, { signal }),
  );
  return (
    <article class="changes stack">
      <h1 tabIndex={-1}>What changed</h1>
      {earlier === undefined || earlier.reports.length < 2 ? null : (
        <p class="row">
          <label for="earlier">Compare with</label>
          <select
            id="earlier"
            value={chosen || value?.earlier.task_id}
            onChange={({ currentTarget }) => choose(currentTarget.value)}
          >
            {earlier.reports.map(({ task_id: id, created_at: at }) => (
              <option key={id} value={id}>
                {exactTime(at)}
              </option>
            ))}
          </select>
        </p>
      )}
      {value === undefined ? null : <Changes {...value} />}
      {value !== undefined || error !== undefined ? null : <p class="quiet">Comparing…</p>}
      <Problem error={error}>
        <button type="button" class="button" onClick={reload}>
          Compare again
        </button>
      </Problem>
      <p>
        <a href={runPath(taskId)}>Back to the report</a>
      </p>
    </article>
  );
}

interface Row {
  before?: string;
  now?: string;
}

function Changes({ message, earlier, changed, added, gone, ...sources }: ReportComparison) {
  const { new_sources: more, gone_sources: fewer } = sources;
  const rows: Row[] = [...changed, ...added.map((now) => ({ now })), ...gone.map((before) => ({ before }))];
  return (
    <>
      <p dir="auto">
        {earlier.query} · compared with{" "}
        <a href={runPath(earlier.task_id)}>the report of {exactTime(earlier.created_at)}</a>
      </p>
      <p role="status">{message}</p>
      <Table title="Findings" rows={rows} />
      <Table
        title="Sources"
        rows={[...more.map((now) => ({ now: nameOf(now) })), ...fewer.map((before) => ({ before: nameOf(before) }))]}
      />
    </>
  );
}

const nameOf = ({ title, url }: { title: string; url: string }): string => `${title} (${hostOf(url)})`;

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : url);

function Table({ title, rows }: { title: string; rows: readonly Row[] }) {
  if (rows.length === 0) return null;
  return (
    <table>
      <caption>{title}</caption>
      <thead>
        <tr>
          <th scope="col">Before</th>
          <th scope="col">Now</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ before, now }, index) => (
          <tr key={index}>
            <td dir="auto">{before ?? <span class="quiet">not there</span>}</td>
            <td dir="auto">{now ?? <span class="quiet">no longer there</span>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
