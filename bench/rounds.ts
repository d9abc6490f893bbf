/** Tokens of each round of a deep search that checks claims, compared with the same rounds without the list. */

import { measureRoundTokens } from "../test/kit/lies/round-tokens.ts";
import type { Table } from "./report.ts";

const MAX_RATIO = 1.5;

export async function rounds(): Promise<Table> {
  const { before, now } = await measureRoundTokens();
  const ratios = now.map((tokens, index) => tokens / (before[index] ?? Number.NaN));
  return {
    title: "Tokens of a round of deep_search",
    columns: ["round", "without claims", "with claims", "ratio"],
    rows: now.map((tokens, index) => [
      String(index + 1),
      String(before[index]),
      String(tokens),
      (ratios[index] ?? Number.NaN).toFixed(2),
    ]),
    notes: [`Input and output on the simulator, four characters a token. Target: at most ${MAX_RATIO} in every round.`],
    passed: ratios.every((ratio) => ratio <= MAX_RATIO),
  };
}
