/** The three plots: cost, duration, and estimated against actual cost. */

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { FinishedRun } from "../../../wire-figures.ts";
import { markedMoney, money } from "../../ui/amounts.ts";
import { durationText } from "../../../../platform/duration.ts";
import { Plot } from "./plot.tsx";
import type { PlotSpec } from "./draw.ts";
import type { PlotMark } from "./marks.ts";
import {
  accuracyOf,
  type Compared,
  comparedRuns,
  isWithinRange,
  median,
  monthLine,
  monthTotals,
  spentOn,
  percent,
  totalCost,
} from "./statistics.ts";
import { PlotTable } from "./table.tsx";

const MINUTE_MS = 60_000;

const dayOf = (at: string): string =>
  new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });
const axisMoney = (usd: number): string => `$${usd < 10 && !Number.isInteger(usd) ? usd.toFixed(2) : usd}`;
const axisMinutes = (value: number): string => `${value}`;

const markOf = (run: FinishedRun, y: number, description: string): PlotMark => ({
  x: Date.parse(run.completed_at) / 1_000,
  y,
  kind: run.kind,
  taskId: run.task_id,
  title: run.query,
  description: `${description} · ${dayOf(run.completed_at)}`,
});

interface FigureProps {
  title: string;
  isSquare?: boolean;
  children: ComponentChildren;
}

function Figure({ title, isSquare = false, children }: FigureProps) {
  return (
    <section class={`figure card stack tight${isSquare ? " square" : ""}`}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

export function CostFigure({ runs }: { runs: FinishedRun[] }) {
  const paid = useMemo(
    () => runs.filter(({ cost_usd, judge_cost_usd }) => (cost_usd ?? judge_cost_usd) !== undefined),
    [runs],
  );
  const totals = useMemo(() => monthTotals(paid), [paid]);
  const spec = useMemo<PlotSpec>(
    () => ({
      marks: paid.map((run) => markOf(run, spentOn(run), markedMoney(spentOn(run), run))),
      isTime: true,
      yName: "Cost of a run",
      formatY: axisMoney,
      line: { name: "Month so far", points: monthLine(paid), format: axisMoney },
      hasDiagonal: false,
    }),
    [paid],
  );
  if (paid.length === 0) return <NoData title="Cost" />;
  const rows = () =>
    paid
      .map((run, index) => ({
        taskId: run.task_id,
        query: run.query,
        cells: [dayOf(run.completed_at), markedMoney(spentOn(run), run), money(totals[index] ?? 0)],
      }))
      .toReversed();
  return (
    <Figure title="Cost">
      <p class="quiet small">Dots: individual runs. Line: month-to-date total (right axis).</p>
      <Plot spec={spec} label={`Cost of ${paid.length} runs over time, ${money(totalCost(paid))} in total.`} />
      <PlotTable
        caption="Cost of each run"
        columns={["Ended", "Cost", "Month so far"]}
        count={paid.length}
        rows={rows}
      />
    </Figure>
  );
}

export function DurationFigure({ runs }: { runs: FinishedRun[] }) {
  const spec = useMemo<PlotSpec>(
    () => ({
      marks: runs.map((run) => markOf(run, run.duration_minutes, durationText(run.duration_minutes * MINUTE_MS))),
      isTime: true,
      yName: "Minutes",
      formatY: axisMinutes,
      hasDiagonal: false,
    }),
    [runs],
  );
  if (runs.length === 0) return <NoData title="Duration" />;
  const middle = median(runs.map(({ duration_minutes }) => duration_minutes)) ?? 0;
  const rows = () =>
    runs.toReversed().map((run) => ({
      taskId: run.task_id,
      query: run.query,
      cells: [
        dayOf(run.completed_at),
        durationText(run.duration_minutes * MINUTE_MS),
        run.estimated_minutes === undefined ? "–" : durationText(run.estimated_minutes * MINUTE_MS),
      ],
    }));
  return (
    <Figure title="Duration">
      <Plot
        spec={spec}
        label={`Duration of ${runs.length} runs over time, half of them under ${durationText(middle * MINUTE_MS)}.`}
      />
      <PlotTable
        caption="Duration of each run"
        columns={["Ended", "Took", "Estimated"]}
        count={runs.length}
        rows={rows}
      />
    </Figure>
  );
}

export function EstimateFigure({ runs }: { runs: FinishedRun[] }) {
  const compared = useMemo(() => comparedRuns(runs), [runs]);
  const spec = useMemo<PlotSpec>(
    () => ({
      marks: compared.map(({ run, min, likely, max, actual }) => ({
        ...markOf(run, actual, `estimated ${money(likely)} (${money(min)}–${money(max)}), cost ${money(actual)}`),
        x: likely,
        range: { from: min, to: max },
      })),
      isTime: false,
      xName: "Likely cost, estimated",
      yName: "Actual cost",
      formatY: axisMoney,
      hasDiagonal: true,
    }),
    [compared],
  );
  if (compared.length === 0) return <NoData title="Estimated and actual cost" />;
  const { withinRange, withinTenth } = accuracyOf(compared);
  const [inRange, near] = [percent(withinRange, compared.length), percent(withinTenth, compared.length)];
  return (
    <Figure title="Estimated and actual cost" isSquare>
      <p>
        <strong>{inRange}</strong> of {compared.length} runs stayed within the estimated range; <strong>{near}</strong>{" "}
        came within ±10 % of the likely cost.
      </p>
      <p class="quiet small">
        Bars: estimated range. Dots: actual cost, hollow if outside the range. Dashed line: cost equals the likely
        estimate.
      </p>
      <Plot
        spec={spec}
        label={`Estimated and actual cost of ${compared.length} runs: ${inRange} within the range, ${near} within ten percent.`}
      />
      <PlotTable
        caption="Estimate and cost of each run"
        columns={["Estimated", "Range", "Cost", "Within the range"]}
        count={compared.length}
        rows={() => compared.toSorted(newestFirst).map(estimateRow)}
      />
    </Figure>
  );
}

const newestFirst = (one: Compared, other: Compared): number =>
  Date.parse(other.run.completed_at) - Date.parse(one.run.completed_at);

const estimateRow = (one: Compared) => ({
  taskId: one.run.task_id,
  query: one.run.query,
  cells: [
    money(one.likely),
    `${money(one.min)}–${money(one.max)}`,
    money(one.actual),
    isWithinRange(one) ? "yes" : one.actual > one.max ? "no, more" : "no, less",
  ],
});

const NoData = ({ title }: { title: string }) => (
  <Figure title={title}>
    <p class="quiet">No finished run with this filter has this data.</p>
  </Figure>
);
