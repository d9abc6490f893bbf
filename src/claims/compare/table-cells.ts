/** Compares a claim with the cells of a page's tables: `caption: row: column: value`. */

import type { PageText } from "../../pages/page.ts";
import { isContent, type Token, tokensOf } from "../language/tokens.ts";
import { type Language, WORD_LISTS } from "../language/word-lists.ts";
import { matches } from "./alignment.ts";

const MAX_CELL_CHARACTERS = 400;

/** The cell that states the claim: its row and column are named, its value is the claim's, and nothing else is said. */
export function matchTableCell(claim: string, page: PageText, language: Language): string | undefined {
  const tokens = tokensOf(claim, language);
  const content = tokens.filter(isContent);
  const { negations, possible, planned, scope } = WORD_LISTS[language];
  const isPlain = tokens.every(({ text }) => {
    const word = text.toLowerCase();
    return !negations.has(word) && !possible.has(word) && !planned.has(word) && !scope.has(word);
  });
  if (!isPlain) return undefined;
  return page.blocks.find((block) => states(block, { content, title: page.title, language }));
}

interface Wanted {
  content: readonly Token[];
  title: string;
  language: Language;
}

function states(block: string, { content, title, language }: Wanted): boolean {
  if (block.length > MAX_CELL_CHARACTERS) return false;
  const parts = block.split(": ");
  if (parts.length < 3) return false;
  const [row = "", column = "", value = ""] = parts.slice(-3);
  const read = (text: string): Token[] => tokensOf(text, language).filter(isContent);
  const caption = [...read(parts.slice(0, -3).join(" ")), ...read(title)];
  const [amount, ...rest] = read(value);
  if (amount?.kind !== "number" || rest.length > 0) return false;
  const unit = amount.quantity?.unit || [...caption, ...read(column)].find(({ key }) => key === "percent")?.key || "";
  const isNamed = (token: Token): boolean => content.some((claimed) => same(claimed, token));
  if (!read(row).every(isNamed) || read(row).length === 0) return false;
  if (!read(column).every((token) => isNamed(token))) return false;
  const numbers = content.filter(({ kind }) => kind === "number");
  const [claimed] = numbers;
  if (numbers.length !== 1 || claimed?.quantity === undefined || claimed.quantity.value !== amount.quantity?.value)
    return false;
  if (claimed.quantity.unit !== unit && claimed.quantity.unit !== "") return false;
  const known = [...caption, ...read(row), ...read(column)];
  return content.every((token) => token === claimed || known.some((other) => same(token, other)));
}

const same = (one: Token, other: Token): boolean =>
  matches(one, other) || (one.kind === "word" && one.key === other.key);
