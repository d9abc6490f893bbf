/** The costs: their sum, and tables by month, kind and user. */

import { durationText } from "../../platform/duration.ts";
import type { Figures } from "../wire.ts";
import { fetchJson } from "./app/request.ts";
import { costRemark, KIND_NAMES, markedMoney, money } from "./ui/format.ts";
import { Problem, useLoad } from "./ui/parts.tsx";

export function FiguresView() {
  const { value, error, reload } = useLoad("figures", (signal) => fetchJson<Figures>("/api/figures", { signal }));
  return (
    <div class="figures stack">
      <h1 tabIndex={-1}>Costs</h1>
      <Problem error={error}>
        <button type="button" class="button" onClick={reload}>
          Load again
        </button>
      </Problem>
      {value === undefined ? (
        error === undefined && <p class="quiet">Loading…</p>
      ) : value.months.length === 0 ? (
        <p class="quiet">No run has finished yet. The cost and duration of runs will be shown here.</p>
      ) : (
        <FiguresContent figures={value} />
      )}
    </div>
  );
}

function FiguresContent({ figures }: { figures: Figures }) {
  const { total_runs: total, unfinished_runs: unfinished, judge_cost_usd: judged, months, kinds, users } = figures;
  return (
    <>
      <p class="total">
        <strong title={costRemark(figures)}>{markedMoney(figures.total_cost_usd, figures)}</strong> for{" "}
        {total.toLocaleString("en-US")} {total === 1 ? "run" : "runs"}
        {unfinished === 0 ? "" : `, ${unfinished.toLocaleString("en-US")} unfinished`}
        {judged === undefined ? "" : `; ${money(judged)} of it for judged citations`}
      </p>
      <UsageTable
        title="By month"
        first="Month"
        rows={months.map(({ month, ...sum }) => ({ name: monthName(month), ...sum }))}
      />
      <UsageTable
        title="By kind"
        first="Kind"
        rows={kinds.map(({ kind, ...sum }) => ({ name: KIND_NAMES[kind], ...sum }))}
      />
      {users === undefined ? null : (
        <>
          <UsageTable title="By user, last 30 days" first="User" rows={users} />
          <p class="quiet small">
            Only you, as the operator of this server, see this. Questions and reports stay private.
          </p>
        </>
      )}
    </>
  );
}

const monthName = (month: string): string =>
  new Date(`${month}-01T00:00:00Z`).toLocaleDateString("en-US", { month: "short", year: "numeric", timeZone: "UTC" });

const MINUTE_MS = 60_000;

type Sum = Figures["months"][number];

interface UsageTableProps {
  title: string;
  first: string;
  rows: ({ name: string } & Pick<Sum, "runs" | "cost_usd"> & Partial<Sum>)[];
}

function UsageTable({ title, first, rows }: UsageTableProps) {
  const isTimed = rows.some(({ average_minutes: minutes }) => minutes !== undefined);
  return (
    <section class="card stack tight" aria-label={title}>
      <h2>{title}</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">{first}</th>
            <th scope="col">Runs</th>
            <th scope="col">Cost</th>
            {isTimed ? <th scope="col">Average time</th> : null}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, runs, cost_usd: cost, average_minutes: minutes, ...marks }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{runs.toLocaleString("en-US")}</td>
              <td title={costRemark(marks)}>{markedMoney(cost, marks)}</td>
              {isTimed ? <td>{minutes === undefined ? "–" : durationText(minutes * MINUTE_MS)}</td> : null}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
