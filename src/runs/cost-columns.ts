/** Converts between a cost and the cost columns of a run's row. */

import type { Cost } from "../costs/actual.ts";
import type { Tables } from "../store/database.ts";

type CostColumns = Pick<Tables["research_tasks"], "cost_usd" | "cost_incomplete" | "cost_estimated">;

export const costColumns = ({ usd, incomplete, estimated }: Cost): CostColumns => ({
  cost_usd: usd ?? null,
  cost_incomplete: incomplete ? 1 : 0,
  cost_estimated: estimated ? 1 : 0,
});

/** The cost of a run that was certainly not charged. */
export const UNCHARGED: Cost = { usd: 0, incomplete: false, estimated: false };

export const costOfRow = (row: CostColumns): Cost => ({
  usd: row.cost_usd ?? undefined,
  incomplete: row.cost_incomplete === 1,
  estimated: row.cost_estimated === 1,
});

export const isExact = (row: Pick<CostColumns, "cost_incomplete" | "cost_estimated">): boolean =>
  row.cost_incomplete !== 1 && row.cost_estimated !== 1;
