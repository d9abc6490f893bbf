/** `costs`: what was spent in a period, by kind, model, user and day, as text, JSON or CSV; `--reconcile` asks Google again. */

import type { App } from "../../app.ts";
import { LOCAL_OWNER } from "../../caller.ts";
import { leftText } from "../../costs/budget.ts";
import { COST_KIND_NAMES } from "../../costs/kinds.ts";
import {
  costsCsv,
  type CostsInput,
  costsInput,
  type CostSum,
  type CostsView,
  readCosts,
} from "../../operations/costs-view.ts";
import { parseInput } from "../../operations/perform.ts";
import { type ReconciledCosts, reconcileCosts } from "../../operations/reconcile-costs.ts";
import { countOf } from "../../platform/count.ts";
import { type Answer, runAnswer } from "../answer-command.ts";
import { answerWidth } from "../output.ts";
import { formatAge, formatCost } from "../render/durations.ts";
import { formatDollars } from "../../costs/dollars.ts";
import { type Paint, paintFor } from "../render/paint.ts";
import { type Column, tableLines, type TableSpace } from "../render/table.ts";

/** Width when stdout is not a terminal. */
const PLAIN_WIDTH = 80;

export interface CostsFlags extends CostsInput {
  json?: boolean | undefined;
  csv?: boolean | undefined;
  reconcile?: boolean | undefined;
}

export const printCosts = ({ json = false, csv = false, reconcile = false, ...filter }: CostsFlags): Promise<void> =>
  runAnswer(json, (app) => (reconcile ? reconciled(app) : answer(app, { filter, csv })));

async function answer({ deps }: App, { filter, csv }: { filter: CostsInput; csv: boolean }): Promise<Answer> {
  const { view, rows } = await readCosts(deps, parseInput(costsInput, filter), LOCAL_OWNER);
  const space = { width: answerWidth() ?? PLAIN_WIDTH, paint: paintFor(process.stdout) };
  return { structured: { success: true, ...view }, text: csv ? costsCsv(rows).trimEnd() : textOf(view, space) };
}

/** Longer periods are shown by month. */
const MAX_DAYS = 31;

function textOf(view: CostsView, space: { width: number; paint: Paint }): string {
  const { since, until, total, days, months, kinds, models, owners, budgets, notices } = view;
  const period = since === until ? `on ${since}` : `from ${since} to ${until}`;
  const remarks = [
    ...(total.reserved_usd === undefined
      ? []
      : [`${formatDollars(total.reserved_usd)} of it is reserved: Google has not reported what these requests used.`]),
    ...budgets.map((budget) => `${leftText(budget)}.`),
    ...notices,
  ];
  const title = `${formatCost(total)} ${period} (UTC), ${countOf(total.requests, "paid request")}`;
  const table = <Row extends CostSum>(name: string, rows: readonly Row[], nameOf: (row: Row) => string): string[] =>
    rows.length === 0 ? [] : ["", ...tableLines([{ title: name, cell: nameOf }, ...SUMS], [...rows], space)];
  return [
    space.paint("strong", title),
    ...remarks,
    ...table("KIND", kinds, ({ kind }) => COST_KIND_NAMES[kind]),
    ...table("MODEL", models, ({ model }) => model),
    ...table("USER", owners ?? [], ({ owner }) => owner),
    ...(days.length > MAX_DAYS ? table("MONTH", months, ({ month }) => month) : table("DAY", days, ({ day }) => day)),
  ].join("\n");
}

const SUMS: Column<CostSum>[] = [
  { title: "REQUESTS", cell: ({ requests }) => String(requests), align: "right" },
  { title: "COST", cell: formatCost, align: "right" },
];

async function reconciled({ deps }: App): Promise<Answer> {
  const costs = await reconcileCosts(deps);
  const text = reconciledText(costs, { width: answerWidth(), paint: paintFor(process.stdout), now: deps.clock.now() });
  return { structured: { success: true, ...costs }, text };
}

function reconciledText(
  { settled, reserved, without_key }: ReconciledCosts,
  { now, ...space }: TableSpace & { now: number },
): string {
  const { requests, reserved_usd, cost_usd } = settled;
  const outcome =
    requests === 0
      ? "Nothing was settled."
      : `${countOf(requests, "request")} settled: ${formatDollars(reserved_usd)} was reserved, ${formatDollars(cost_usd)} is charged.`;
  const remarks = without_key === true ? ["Without an API key Google cannot be asked."] : [];
  if (reserved.length === 0) return [outcome, ...remarks, "Nothing stays reserved."].join("\n");
  const columns: Column<ReservedGroup>[] = [
    { title: "RESERVED", cell: (group) => formatDollars(group.reserved_usd), align: "right" },
    { title: "REQUESTS", cell: (group) => String(group.requests), align: "right" },
    { title: "OLDEST", cell: ({ oldest }) => formatAge(now - Date.parse(oldest)), align: "right" },
    { title: "REASON", cell: ({ reason }) => REASONS[reason] },
  ];
  return [outcome, ...remarks, "", ...tableLines(columns, reserved, space), "", STAYS].join("\n");
}

type ReservedGroup = ReconciledCosts["reserved"][number];

const REASONS: Record<ReservedGroup["reason"], string> = {
  no_usage: "Google does not report what it used",
  no_price: "there is no price for its model",
  not_asked: "Google was not asked: started with another key or address, or out of reach now",
  unknown_start: "whether Google accepted the start is unknown",
  cut_off: "a search that was cancelled, timed out or killed",
  deleted: "its run was deleted",
};

const STAYS = "These may have been charged, so they stay counted.";
