/** The price of the judge, as the end of a button's label. */

import type { JudgePrice } from "../../wire-citations.ts";
import { money } from "../ui/amounts.ts";

/** Empty without a judge, or if there is nothing to judge. */
export function judgeCost(judge: JudgePrice | undefined): string {
  if (judge === undefined || judge.pairs === 0) return "";
  const { model, max_usd: usd } = judge;
  return usd === undefined ? ` (with ${model}, price unknown)` : ` (at most ${money(usd)} for ${model})`;
}
