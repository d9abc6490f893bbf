/** `figures`: cost and duration of finished runs by month, and the accuracy of the estimates. */

import type { App } from "../../app.ts";
import { LOCAL_OWNER } from "../../caller.ts";
import { addCosts, type Cost, NO_COST } from "../../costs/actual.ts";
import {
  countRuns,
  FIGURES_PERIOD_MS,
  type FinishedFigures,
  finishedFigures,
  totalCost,
} from "../../runs/history/figures-store.ts";
import { UNFINISHED } from "../../runs/run.ts";
import { type Answer, runAnswer } from "../answer-command.ts";
import { type Comparison, type Figures, figuresView, type MonthFigures } from "../render/figures-view.ts";
import { answerWidth } from "../output.ts";
import { paintFor } from "../render/paint.ts";

const MAX_RUNS = 20_000;
const MINUTE_MS = 60_000;

export const printFigures = ({ json }: { json: boolean }): Promise<void> => runAnswer(json, answer);

async function answer({ deps }: App): Promise<Answer> {
  const db = await deps.database();
  const owner = LOCAL_OWNER;
  const counts = await countRuns(db, owner);
  const total = await totalCost(db, owner);
  const figures: Figures = {
    total_runs: Object.values(counts).reduce((sum, count) => sum + count, 0),
    unfinished_runs: UNFINISHED.reduce((sum, status) => sum + (counts[status] ?? 0), 0),
    total_cost_usd: roundedTo(total.usd ?? 0, 4),
    ...marksOf(total),
    ...summarise(await finishedFigures(db, owner, { since: deps.clock.now() - FIGURES_PERIOD_MS, limit: MAX_RUNS })),
  };
  const text = figuresView(figures, { width: answerWidth() ?? PLAIN_WIDTH, paint: paintFor(process.stdout) });
  return { structured: { success: true, ...figures }, text };
}

/** Width when stdout is not a terminal. */
const PLAIN_WIDTH = 80;

export function summarise(
  runs: FinishedFigures[],
): Pick<Figures, "months" | "judge_cost_usd" | "cost_usd" | "minutes"> {
  const judged = runs.reduce((sum, { judgeCost: { usd = 0 } }) => sum + usd, 0);
  const months = Map.groupBy(runs, ({ completedAt }) => new Date(completedAt).toISOString().slice(0, 7));
  return {
    ...(judged > 0 ? { judge_cost_usd: roundedTo(judged, 4) } : {}),
    months: [...months]
      .map(([month, ofMonth]) => ({
        month,
        runs: ofMonth.length,
        ...sumOf(ofMonth),
        median_minutes: printedMinutes(median(ofMonth.map(minutesOf))),
      }))
      .toSorted((one, other) => one.month.localeCompare(other.month)),
    cost_usd: compared(
      runs.map(({ estimate, cost }) => [estimate.usd?.likely, cost.incomplete ? undefined : cost.usd]),
      printedDollars,
    ),
    minutes: compared(
      runs.map((run) => [run.estimate.minutes?.likely, finishedMinutes(run)]),
      printedMinutes,
    ),
  };
}

function sumOf(runs: FinishedFigures[]): Pick<MonthFigures, "cost_usd" | "cost_incomplete" | "cost_estimated"> {
  const sum = runs.reduce((total, { cost, judgeCost }) => addCosts(total, addCosts(cost, judgeCost)), NO_COST);
  return { cost_usd: roundedTo(sum.usd ?? 0, 4), ...marksOf(sum) };
}

/** The marks that are set. */
const marksOf = ({ incomplete, estimated }: Cost): { cost_incomplete?: true; cost_estimated?: true } => ({
  ...(incomplete ? { cost_incomplete: true } : {}),
  ...(estimated ? { cost_estimated: true } : {}),
});

const minutesOf = ({ startedAt, completedAt }: FinishedFigures): number => (completedAt - startedAt) / MINUTE_MS;

/** Undefined for failed and cancelled runs, whose duration cannot be compared. */
const finishedMinutes = (run: FinishedFigures): number | undefined =>
  run.status === "completed" ? minutesOf(run) : undefined;

/** A user computes the percentage from the medians as they are printed, so it is computed from these. */
function compared(
  pairs: [estimated: number | undefined, actual: number | undefined][],
  asPrinted: (value: number) => number,
): Comparison | undefined {
  const known = pairs.flatMap(([estimated, actual]) =>
    estimated === undefined || actual === undefined || estimated <= 0 ? [] : [{ estimated, actual }],
  );
  if (known.length === 0) return undefined;
  const estimated = asPrinted(median(known.map((pair) => pair.estimated)));
  const actual = asPrinted(median(known.map((pair) => pair.actual)));
  return { runs: known.length, estimated, actual, off_percent: Math.round((100 * (actual - estimated)) / estimated) };
}

/** As formatDollars: whole cents, or two digits of less than a cent. */
const printedDollars = (usd: number): number => (usd < 0.01 ? Number(usd.toPrecision(2)) : roundedTo(usd, 2));

/** Below a minute whole seconds. */
const printedMinutes = (minutes: number): number =>
  minutes < 1 ? roundedTo(Math.max(1, Math.round(minutes * 60)) / 60, 4) : roundedTo(minutes, 1);

function median(values: number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

const roundedTo = (value: number, digits: number): number => Number(value.toFixed(digits));
