/**
 * Formulas in TeX: `\(…\)`, `\[…\]`, `$$…$$` and `$…$`; the last only where it cannot be an amount of money.
 */

import type { MarkdownIt, StateBlock, StateInline, Token } from "markdown-it";
import { lineOf } from "./parser.ts";

/** A formula that a report needs is far shorter. */
const MAX_FORMULA_CHARACTERS = 2_000;
const MAX_LINES = 60;

export interface Formula {
  tex: string;
  isDisplay: boolean;
  /** The text as written, which is shown if it cannot be converted. */
  source: string;
}

const formulas = new WeakMap<Token, Formula>();

export const formulaOf = (token: Token | undefined): Formula | undefined => token && formulas.get(token);

/** Adds tokens of type `formula` (inline) and `formula_block`. */
export function addFormulaRules(md: MarkdownIt): void {
  // Before the rule for escapes, which would remove the backslash of `\(`.
  md.inline.ruler.before("escape", "formula", (state, silent) => {
    const formula = formulaAt(state);
    if (formula === undefined) return false;
    if (!silent) formulas.set(state.push("formula", "", 0), formula);
    state.pos += formula.source.length;
    return true;
  });
  md.block.ruler.before("fence", "formula_block", readBlock, { alt: ["paragraph", "reference", "blockquote", "list"] });
}

const DELIMITERS: readonly { open: string; close: string; isDisplay: boolean }[] = [
  { open: "\\(", close: "\\)", isDisplay: false },
  { open: "\\[", close: "\\]", isDisplay: true },
  { open: "$$", close: "$$", isDisplay: true },
  { open: "$", close: "$", isDisplay: false },
];

function formulaAt({ src, pos, posMax }: StateInline): Formula | undefined {
  const first = src[pos];
  if (first !== "\\" && first !== "$") return undefined;
  const delimiters = DELIMITERS.find(({ open }) => src.startsWith(open, pos));
  if (delimiters === undefined) return undefined;
  const { open, close, isDisplay } = delimiters;
  const from = pos + open.length;
  // Only as far as a formula may reach: a search to the end for each `$` would take quadratic time.
  const near = src.slice(from, Math.min(posMax, from + MAX_FORMULA_CHARACTERS + close.length));
  const length = near.indexOf(close);
  if (length <= 0) return undefined;
  const tex = near.slice(0, length);
  const after = near[length + close.length] ?? src[from + length + close.length];
  if (open === "$" && !isDollarFormula(tex, after)) return undefined;
  // An escaped bracket, as in `\[1\]`.
  if (open === "\\[" && !/[\\^_=+]/.test(tex)) return undefined;
  return { tex, isDisplay, source: src.slice(pos, from + length + close.length) };
}

/** "from $5 to $10" is no formula, "$n$" and "$x^2$" are. */
function isDollarFormula(tex: string, after: string | undefined): boolean {
  if (/^\s|\s$|\n/.test(tex) || (after !== undefined && /[\dA-Za-z]/.test(after))) return false;
  if (/^[A-Za-zα-ωΑ-Ω]'?$/.test(tex) || /\\[a-zA-Z]/.test(tex)) return true;
  if (/^\d+(?:[.,]\d+)*(?![\d^_a-zA-Z])/.test(tex) && !/[\^_=]/.test(tex)) return false;
  const hasWords = /[A-Za-z]{3}/.test(tex.replaceAll(/_?\{[^{}]*\}/g, ""));
  return !hasWords && /[A-Za-z]/.test(tex) && /[\^_=+*/<>()-]/.test(tex) && !/[,;:.]\s/.test(tex);
}

function readBlock(state: StateBlock, ...[startLine, endLine, silent]: [number, number, boolean]): boolean {
  const first = lineOf(state, startLine);
  const delimiters = DELIMITERS.find(({ open, isDisplay }) => isDisplay && first.startsWith(open));
  // Four spaces are code.
  if (delimiters === undefined || (state.sCount[startLine] ?? 0) - state.blkIndent >= 4) return false;
  const { open, close } = delimiters;
  const lines: string[] = [];
  for (let line = startLine; line < endLine && line < startLine + MAX_LINES; line += 1) {
    const text = (line === startLine ? first.slice(open.length) : lineOf(state, line)).trimEnd();
    if (line > startLine && (text.trim() === "" || (state.sCount[line] ?? 0) < state.blkIndent)) return false;
    const at = text.indexOf(close);
    lines.push(at === -1 ? text : text.slice(0, at));
    if (at === -1) continue;
    // Text after the formula: the inline rule reads it.
    if (text.slice(at + close.length).trim() !== "") return false;
    const tex = lines.join("\n").trim();
    if (tex === "" || tex.length > MAX_FORMULA_CHARACTERS || (lines.length === 1 && !/[\\^_=+A-Za-z]/.test(tex)))
      return false;
    if (!silent) {
      const token = state.push("formula_block", "", 0);
      token.map = [startLine, line + 1];
      formulas.set(token, { tex, isDisplay: true, source: `${open}${tex}${close}` });
      state.line = line + 1;
    }
    return true;
  }
  return false;
}
