/** Converts the formulas of a report from TeX to MathML. */

import temml from "temml";
import type { Formula } from "./formulas.ts";

const MAX_DEPTH = 30;
/** Of one report: a formula takes about a tenth of a millisecond per character. */
const MAX_TEX_CHARACTERS = 40_000;

/** How many more characters of TeX may be converted, or of markup be added. */
export interface Allowance {
  characters: number;
}

export const createMathsBudget = (): Allowance => ({ characters: MAX_TEX_CHARACTERS });

/** Undefined if it is no TeX that can be shown, or too much of it. */
export function mathml({ tex, isDisplay }: Formula, budget: Allowance): string | undefined {
  budget.characters -= tex.length;
  if (budget.characters < 0 || depthOf(tex) > MAX_DEPTH) return undefined;
  try {
    return temml.renderToString(tex, {
      displayMode: isDisplay,
      throwOnError: true,
      trust: false,
      maxExpand: 100,
      maxSize: [20, 100],
    });
  } catch {
    return undefined;
  }
}

/** Of groups and environments, which the converter reads recursively. */
function depthOf(tex: string): number {
  let depth = 0;
  let max = 0;
  for (const [mark] of tex.matchAll(/[{}]|\\(?:left|right|begin|end)(?![a-zA-Z])/g)) {
    depth += mark === "{" || mark === "\\left" || mark === "\\begin" ? 1 : -1;
    max = Math.max(max, depth);
  }
  return max;
}
