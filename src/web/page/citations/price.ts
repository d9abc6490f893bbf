/** The price of the judge, as the end of a button's label. */

import type { JudgePrice } from "../../wire-citations.ts";
import { money } from "../ui/amounts.ts";

/** Empty without a judge, or if there is nothing to judge. */
export function judgeCost(judge: JudgePrice | undefined): string {
  if (judge === undefined || judge.pairs === 0) return "";
  const { model, likely_usd: likely, max_usd: max } = judge;
  return likely === undefined || max === undefined
    ? ` (with ${model}, price unknown)`
    : ` (about ${money(likely)}, at most ${money(Math.ceil(max * 100) / 100)} for ${model})`;
}
