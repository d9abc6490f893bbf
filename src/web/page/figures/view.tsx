/** The usage view: cost by day, month and user, then plots of cost, duration and the accuracy of estimates. */

import { useMemo, useState } from "preact/hooks";
import type { Figures, FinishedRun } from "../../wire-figures.ts";
import { fetchJson } from "../app/request.ts";
import { KIND_NAMES } from "../ui/kinds.ts";
import { costRemark, markedMoney, money } from "../ui/amounts.ts";
import { durationText } from "../../../platform/duration.ts";
import { Problem, useLoad } from "../ui/parts.tsx";
import { CostFigure, DurationFigure, EstimateFigure } from "./plot/figures.tsx";
import { KIND_SIGNS } from "./plot/marks.ts";
import { UsageTables } from "./usage-tables.tsx";
import {
  type FiguresFilter,
  filterRuns,
  PERIODS,
  type KindSummary,
  marksOf,
  summariesByKind,
  totalCost,
} from "./plot/statistics.ts";

export function FiguresView() {
  const { value, error, reload } = useLoad("figures", (signal) => fetchJson<Figures>("/api/figures", { signal }));
  return (
    <div class="figures stack">
      <h1 tabIndex={-1}>Usage</h1>
      {error === undefined ? null : (
        <Problem error={error}>
          <button type="button" class="button" onClick={reload}>
            Load again
          </button>
        </Problem>
      )}
      {value === undefined ? (
        error === undefined && <p class="quiet">Loading…</p>
      ) : value.runs.length === 0 ? (
        <Empty />
      ) : (
        <FiguresContent figures={value} />
      )}
    </div>
  );
}

const Empty = () => (
  <div class="card stack tight">
    <p>No run has finished yet.</p>
    <p class="quiet">The cost and duration of runs and the accuracy of estimates will be shown here.</p>
    <p>
      <a class="button primary" href="/start">
        Ask a question
      </a>
    </p>
  </div>
);

function FiguresContent({ figures }: { figures: Figures }) {
  const [filter, setFilter] = useState<FiguresFilter>({ kind: "all", period: "all" });
  const runs = useMemo(() => filterRuns(figures.runs, filter, Date.now()), [figures, filter]);
  const kinds = useMemo(() => summariesByKind(figures.runs), [figures]);
  return (
    <>
      <UsageTables figures={figures} />
      <Filters filter={filter} kinds={kinds} choose={setFilter} />
      <Summary runs={runs} figures={figures} isAll={filter.kind === "all" && filter.period === "all"} />
      <CostFigure runs={runs} />
      <DurationFigure runs={runs} />
      <EstimateFigure runs={runs} />
    </>
  );
}

interface FiltersProps {
  filter: FiguresFilter;
  kinds: KindSummary[];
  choose: (filter: FiguresFilter) => void;
}

function Filters({ filter, kinds, choose }: FiltersProps) {
  return (
    <div class="row figures-filters">
      <label class="row">
        Kind{" "}
        <select
          value={filter.kind}
          onChange={({ currentTarget: { value } }) =>
            choose({ ...filter, kind: kinds.find(({ kind }) => kind === value)?.kind ?? "all" })
          }
        >
          <option value="all">All kinds</option>
          {kinds.map(({ kind }) => (
            <option key={kind} value={kind}>
              {KIND_NAMES[kind]}
            </option>
          ))}
        </select>
      </label>
      <label class="row">
        Period{" "}
        <select
          value={filter.period}
          onChange={({ currentTarget: { value } }) =>
            choose({ ...filter, period: PERIODS.find(({ period }) => period === value)?.period ?? "all" })
          }
        >
          {PERIODS.map(({ period, name }) => (
            <option key={period} value={period}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

interface SummaryProps {
  runs: FinishedRun[];
  figures: Figures;
  isAll: boolean;
}

/** The server's totals include runs that are too old or too many to plot. */
function Summary({ runs, figures, isAll }: SummaryProps) {
  const cost = isAll ? figures.total_cost_usd : totalCost(runs);
  const marks = isAll ? figures : marksOf(runs);
  const count = isAll ? figures.total_runs : runs.length;
  const summaries = summariesByKind(runs);
  return (
    <section class="summary stack tight" aria-label="Totals">
      <dl class="tiles">
        <div class="card">
          <dt>Total cost</dt>
          <dd title={costRemark(marks)}>{markedMoney(cost, marks)}</dd>
        </div>
        <div class="card">
          <dt>Runs</dt>
          <dd>{count.toLocaleString("en-US")}</dd>
        </div>
      </dl>
      {isAll && count > runs.length ? (
        <p class="quiet small">Showing the {runs.length.toLocaleString("en-US")} most recent finished runs.</p>
      ) : null}
      {summaries.length === 0 ? null : <KindTable summaries={summaries} />}
    </section>
  );
}

const KindTable = ({ summaries }: { summaries: KindSummary[] }) => (
  <div class="table-scroll" tabIndex={0} role="region" aria-label="By kind">
    <table class="kinds">
      <thead>
        <tr>
          <th scope="col">Kind</th>
          <th scope="col">Runs</th>
          <th scope="col">Cost</th>
          <th scope="col">Median cost</th>
          <th scope="col">Median duration</th>
        </tr>
      </thead>
      <tbody>
        {summaries.map(({ kind, runs, cost, medianCost, medianMinutes }) => (
          <tr key={kind}>
            <th scope="row">
              <span class="sign" data-kind={kind} aria-hidden="true">
                {KIND_SIGNS[kind]}
              </span>{" "}
              {KIND_NAMES[kind]}
            </th>
            <td>{runs.toLocaleString("en-US")}</td>
            <td>{money(cost)}</td>
            <td>{medianCost === undefined ? "–" : money(medianCost)}</td>
            <td>{medianMinutes === undefined ? "–" : durationText(medianMinutes * 60_000)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
