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

interface CellTokens {
  row: Token[];
  column: Token[];
  /** Caption and title of the page, which may name what all cells are about. */
  about: Token[];
  value: Token;
}

/** They say of a cell only that it is so. */
const VALUE_VERBS = new Set(
  "stood stand reached reach had recorded record won win amounted amount totalled totaled counted lag betrug hatte erreichte gewann atteignait avait comptait".split(
    " ",
  ),
);

function states(block: string, wanted: Wanted): boolean {
  const cell = readCell(block, wanted);
  if (cell === undefined) return false;
  const { content } = wanted;
  const numbers = content.filter(({ kind }) => kind === "number");
  const [claimed] = numbers;
  if (numbers.length !== 1 || claimed === undefined || !isSameAmount(claimed, cell)) return false;
  const heads = [...cell.row, ...cell.column];
  const isNamed = heads.every((head) => content.some((token) => matches(token, head)));
  const known = [...heads, ...cell.about];
  const isSaid = (token: Token): boolean =>
    token === claimed || VALUE_VERBS.has(token.key) || known.some((other) => matches(token, other));
  return isNamed && content.every(isSaid);
}

function readCell(block: string, { title, language }: Wanted): CellTokens | undefined {
  const parts = block.length > MAX_CELL_CHARACTERS ? [] : block.split(": ");
  if (parts.length < 3) return undefined;
  const read = (text: string): Token[] => tokensOf(text, language).filter(isContent);
  const [row = "", column = "", value = ""] = parts.slice(-3);
  const [amount, ...rest] = read(value);
  if (amount?.kind !== "number" || rest.length > 0 || read(row).length === 0) return undefined;
  const about = [...read(parts.slice(0, -3).join(" ")), ...read(title)];
  return { row: read(row), column: read(column), about, value: amount };
}

/** The unit may be in the cell, its column or the caption; a claim without a unit is about whatever the table counts. */
function isSameAmount({ quantity: claimed }: Token, { value, column, about }: CellTokens): boolean {
  const { quantity } = value;
  if (claimed === undefined || quantity === undefined || claimed.value !== quantity.value) return false;
  const isPercent = [...column, ...about].some(({ text }) => /^(?:percent|prozent|%)$/i.test(text));
  const unit = quantity.unit === "" && isPercent ? "percent" : quantity.unit;
  return claimed.unit === unit || claimed.unit === "";
}
