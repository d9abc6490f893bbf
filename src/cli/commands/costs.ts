/** `costs`: what was spent in a period, by kind, model, user and day, as text, JSON or CSV. */

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
import { countOf } from "../../platform/count.ts";
import { type Answer, runAnswer } from "../answer-command.ts";
import { answerWidth } from "../output.ts";
import { formatCost } from "../render/durations.ts";
import { formatDollars } from "../../costs/dollars.ts";
import { type Paint, paintFor } from "../render/paint.ts";
import { type Column, tableLines } from "../render/table.ts";

/** Width when stdout is not a terminal. */
const PLAIN_WIDTH = 80;

export interface CostsFlags extends CostsInput {
  json?: boolean | undefined;
  csv?: boolean | undefined;
}

export const printCosts = ({ json = false, csv = false, ...filter }: CostsFlags): Promise<void> =>
  runAnswer(json, (app) => answer(app, { filter, csv }));

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
