/**
 * Formulas in a report, converted from TeX to MathML, which browsers render without scripts or fonts of their own.
 */

import type { MarkdownIt, Token } from "markdown-it";
import temml from "temml";
import { type Formula, formulaOf } from "../document/formulas.ts";

const MAX_DEPTH = 30;
/** Of one report: a formula takes about a tenth of a millisecond per character. */
const MAX_TEX_CHARACTERS = 40_000;

/** How much more TeX may be converted. */
export interface MathsBudget {
  characters: number;
}

export const createMathsBudget = (): MathsBudget => ({ characters: MAX_TEX_CHARACTERS });

export function addMaths(md: MarkdownIt, budget: MathsBudget): void {
  const { escapeHtml } = md.utils;
  const asCode = (source: string): string => `<code dir="ltr">${escapeHtml(source)}</code>`;
  Object.assign(md.renderer.rules, {
    formula: (tokens: Token[], at: number): string => {
      const formula = formulaOf(tokens[at]);
      return formula === undefined ? "" : (mathml(formula, budget) ?? asCode(formula.source));
    },
    formula_block: (tokens: Token[], at: number): string => {
      const formula = formulaOf(tokens[at]);
      if (formula === undefined) return "";
      const shown = mathml(formula, budget);
      return `<div class="maths" dir="ltr" tabindex="0">${shown ?? asCode(formula.source)}</div>\n`;
    },
  });
}

/** Undefined if it is no TeX that can be shown, or too much of it. */
function mathml({ tex, isDisplay }: Formula, budget: MathsBudget): string | undefined {
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
