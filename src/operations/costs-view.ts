/** What was spent in a period, as the page, the terminal and CSV show it: sums of the ledger by day, kind, model and user. */

import { z } from "zod";
import { LOCAL_OWNER } from "../caller.ts";
import type { BudgetState } from "../costs/budget.ts";
import { roundUsd } from "../costs/actual.ts";
import { COST_KINDS, type CostKind } from "../costs/kinds.ts";
import { csvLines } from "../reports/table/table-files.ts";
import { readSpending, type Spending } from "../runs/ledger/ledger-store.ts";
import type { OperationDeps } from "./operation.ts";
import { budgetsNow } from "./parts/cost-confirmation.ts";

const date = (name: string) => z.iso.date({ error: `{${name}} must be a date such as 2026-11-01.` }).optional();
const text = (name: string) =>
  z
    .string()
    .trim()
    .min(1)
    .max(200, { error: `{${name}} is too long.` })
    .optional();

/** Days are those of UTC, both included. The filters apply to every sum. */
export const costsInput = z.strictObject({
  since: date("since"),
  until: date("until"),
  kind: z.enum(COST_KINDS, { error: `{kind} must be one of ${COST_KINDS.join(", ")}.` }).optional(),
  model: text("model"),
  owner: text("owner"),
});
export type CostsInput = z.output<typeof costsInput>;

export interface CostSum {
  /** Requests that may have been charged. */
  requests: number;
  cost_usd: number;
  /** The part of it that is reserved, because Google has not reported the usage. */
  reserved_usd?: number | undefined;
  cost_incomplete?: true | undefined;
  cost_estimated?: true | undefined;
}

export interface CostRow extends CostSum {
  day: string;
  kind: CostKind;
  model: string;
  owner: string;
}

type SumsBy<Name extends string> = (CostSum & Record<Name, string>)[];

export interface CostsView {
  since: string;
  until: string;
  total: CostSum;
  /** Newest first. */
  days: SumsBy<"day">;
  months: SumsBy<"month">;
  /** The highest cost first, like models and owners. */
  kinds: (CostSum & { kind: CostKind })[];
  models: SumsBy<"model">;
  /** For the operator of an installation with several users. */
  owners?: SumsBy<"owner"> | undefined;
  /** What the filters can choose from in this period. */
  choices: { kinds: CostKind[]; models: string[]; owners: string[] };
  /** Of the caller, whatever the filters: the numbers that decide about a start. */
  budgets: BudgetState[];
  /** Changes of used prices, and an old price list. */
  notices: string[];
}

const DAY_MS = 86_400_000;
const SHOWN_DAYS = 30;
const UNNAMED_MODEL = "unknown";

type Deps = Pick<OperationDeps, "clock" | "database" | "priceNotices" | "settings">;

/** The operator sees what all users have spent, a user only their own. */
export async function readCosts(
  deps: Deps,
  { since, until, kind, model, owner }: CostsInput,
  caller: string,
): Promise<{ view: CostsView; rows: CostRow[] }> {
  const isOperator = caller === LOCAL_OWNER;
  const untilDay = until === undefined ? Math.floor(deps.clock.now() / DAY_MS) : dayOfDate(until);
  const fromDay = since === undefined ? untilDay - SHOWN_DAYS + 1 : dayOfDate(since);
  const db = await deps.database();
  const spent = await readSpending(db, { owner: isOperator ? undefined : caller, fromDay, untilDay });
  const all = spent.map(rowOf);
  const isChosen = (chosen: string | undefined, value: string): boolean => chosen === undefined || chosen === value;
  const rows = all.filter(
    (row) => isChosen(kind, row.kind) && isChosen(model, row.model) && isChosen(owner, row.owner),
  );
  const choices = {
    kinds: COST_KINDS.filter((one) => all.some((row) => row.kind === one)),
    models: namesOf(all, "model"),
    owners: isOperator ? namesOf(all, "owner") : [],
  };
  const view: CostsView = {
    since: dateOf(fromDay),
    until: dateOf(untilDay),
    total: sumOf(rows),
    days: groups(rows, (row) => row.day)
      .map(([day, sum]) => ({ day, ...sum }))
      .toReversed(),
    months: groups(rows, (row) => row.day.slice(0, 7))
      .map(([month, sum]) => ({ month, ...sum }))
      .toReversed(),
    kinds: highestFirst(groups(rows, (row) => row.kind).map(([of, sum]) => ({ kind: of, ...sum }))),
    models: highestFirst(groups(rows, (row) => row.model).map(([of, sum]) => ({ model: of, ...sum }))),
    ...(choices.owners.length > 1
      ? { owners: highestFirst(groups(rows, (row) => row.owner).map(([of, sum]) => ({ owner: of, ...sum }))) }
      : {}),
    choices,
    budgets: await budgetsNow(deps, { owner: caller }),
    notices: await deps.priceNotices(choices.models),
  };
  return { view, rows };
}

const dayOfDate = (day: string): number => Date.parse(day) / DAY_MS;
const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

const rowOf = ({ day, kind, model = UNNAMED_MODEL, owner, ...sum }: Spending): CostRow => ({
  day: dateOf(day),
  kind,
  model,
  owner,
  requests: sum.requests,
  cost_usd: sum.usd,
  reserved_usd: sum.reservedUsd,
  cost_incomplete: sum.incomplete || undefined,
  cost_estimated: sum.estimated || undefined,
});

function sumOf(rows: readonly CostSum[]): CostSum {
  const sum = (of: (row: CostSum) => number): number => rows.reduce((total, row) => total + of(row), 0);
  const reserved = roundUsd(sum(({ reserved_usd = 0 }) => reserved_usd));
  return {
    requests: sum(({ requests }) => requests),
    cost_usd: roundUsd(sum(({ cost_usd }) => cost_usd)),
    ...(reserved > 0 ? { reserved_usd: reserved } : {}),
    ...(rows.some(({ cost_incomplete }) => cost_incomplete) ? { cost_incomplete: true } : {}),
    ...(rows.some(({ cost_estimated }) => cost_estimated) ? { cost_estimated: true } : {}),
  };
}

const groups = <Value>(rows: readonly CostRow[], valueOf: (row: CostRow) => Value): [Value, CostSum][] =>
  [...Map.groupBy(rows, valueOf)].map(([value, group]) => [value, sumOf(group)]);

const highestFirst = <Sum extends CostSum>(sums: Sum[]): Sum[] =>
  sums.toSorted((one, other) => other.cost_usd - one.cost_usd);

const namesOf = (rows: readonly CostRow[], name: "model" | "owner"): string[] =>
  [...new Set(rows.map((row) => row[name]))].toSorted();

const COLUMNS = [
  "day",
  "owner",
  "kind",
  "model",
  "requests",
  "cost_usd",
  "reserved_usd",
  "cost_incomplete",
  "cost_estimated",
] as const;

/** A line per day, user, kind and model. */
export const costsCsv = (rows: readonly CostRow[]): string =>
  csvLines([[...COLUMNS], ...rows.map((row) => COLUMNS.map((column) => String(row[column] ?? "")))]);
