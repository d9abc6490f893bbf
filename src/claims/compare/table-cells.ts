/** Compares a claim with the cells of a page's tables: `caption: row: column: value`. */

import type { PageText } from "../../pages/page.ts";
import { isDirection } from "../language/stems.ts";
import { type Quantity, quantitiesIn } from "../language/quantities.ts";
import { isContent, type Token, tokensOf } from "../language/tokens.ts";
import { type Language, WORD_LISTS } from "../language/word-lists.ts";
import { matches } from "./alignment.ts";

const MAX_CELL_CHARACTERS = 400;

interface Cell {
  block: string;
  /** The value in the unit that its column, the caption or the page's title names, if one of them does. */
  scaled: Quantity | undefined;
  /** Caption of the table, and the words of its row and column. */
  caption: string;
  row: readonly Token[];
  column: readonly Token[];
  /** Caption and title of the page, which may name what all cells are about. */
  about: readonly Token[];
  value: Token;
}

const SUPERLATIVES: ReadonlyMap<string, "max" | "min"> = new Map([
  ..."highest largest most biggest greatest höchste höchsten meisten größte größten"
    .split(" ")
    .map((word) => [word, "max"] as const),
  ..."lowest smallest least fewest niedrigste niedrigsten wenigsten kleinste"
    .split(" ")
    .map((word) => [word, "min"] as const),
]);

/** Superlatives that name their column. */
const COLUMN_SUPERLATIVES: ReadonlyMap<string, readonly [column: RegExp, "max" | "min"]> = new Map(
  Object.entries({
    lightest: [/^weight$/i, "min"],
    heaviest: [/^weight$/i, "max"],
    cheapest: [/^(?:price|cost)s?$/i, "min"],
    dearest: [/^(?:price|cost)s?$/i, "max"],
    quietest: [/^noise$/i, "min"],
    loudest: [/^noise$/i, "max"],
  } as const),
);

/** Other words that name their column. */
const COLUMN_WORDS: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    cost: /^price$/i,
    costs: /^price$/i,
    weighs: /^weight$/i,
    weighed: /^weight$/i,
    scored: /^(?:score|points)$/i,
    scores: /^(?:score|points)$/i,
    points: /^score$/i,
    ran: /^(?:runtime|duration)$/i,
    runs: /^(?:runtime|duration)$/i,
    lasted: /^(?:runtime|duration)$/i,
  }),
);

/** Verbs that add nothing to the value of a cell. */
const VALUE_VERBS = new Set(
  "out came come stood stand reached reach had recorded record won win amounted amount totalled totaled counted listed table lag betrug hatte erreichte gewann atteignait avait comptait".split(
    " ",
  ),
);

/** Sums and averages stand beside the rows that they are made of. */
const TOTAL =
  /^(?:total|all|overall|whole|sum|average|mean|gesamt|insgesamt|alle|summe|durchschnitt|ensemble|moyenne)(?!\p{L})/iu;

/**
 * The cells that state the claim: their row and column are named, their values are the claim's, and nothing else is
 * said. Two values of one row may be joined by `and`.
 */
export function matchTableCell(claim: string, page: PageText, language: Language): string | undefined {
  const cells = cellsOf(page, language);
  if (cells.length === 0) return undefined;
  const tokens = tokensOf(claim, language);
  const whole = statingCell(tokens, cells, language);
  if (whole !== undefined) return whole.block;
  const joint = tokens.findIndex(({ key }) => JOINTS.has(key));
  const first = joint === -1 ? undefined : statingCell(tokens.slice(0, joint), cells, language);
  if (first === undefined) return undefined;
  const ofRow = cells.filter((cell) => cell !== first && cell.caption === first.caption && same(cell.row, first.row));
  const second = statingCell([...first.row, ...tokens.slice(joint + 1)], ofRow, language);
  return second === undefined ? undefined : `${first.block} ${second.block}`;
}

const JOINTS = new Set("and und et".split(" "));

function statingCell(tokens: readonly Token[], cells: readonly Cell[], language: Language): Cell | undefined {
  const { negations, possible, planned, scope } = WORD_LISTS[language];
  const lower = tokens.map(({ text }) => text.toLowerCase());
  const extremes = [
    ...lower.flatMap((word) => SUPERLATIVES.get(word) ?? []),
    ...lower.flatMap((word) => COLUMN_SUPERLATIVES.get(word)?.[1] ?? []),
  ];
  const directions = tokens.filter(({ key }) => isDirection(key));
  const isPlain = lower.every((word) => {
    if (SUPERLATIVES.has(word) || word === "total" || word === "overall") return true;
    return !negations.has(word) && !possible.has(word) && !planned.has(word) && !scope.has(word);
  });
  if (!isPlain || extremes.length + directions.length > 1) return undefined;
  const [extreme] = extremes;
  const [direction] = directions;
  const implied = lower.flatMap((word) => COLUMN_SUPERLATIVES.get(word)?.[0] ?? COLUMN_WORDS.get(word) ?? []);
  const isSuperlative = ({ text }: Token): boolean =>
    SUPERLATIVES.has(text.toLowerCase()) || COLUMN_SUPERLATIVES.has(text.toLowerCase());
  const content = tokens.filter((token) => isContent(token) && !isSuperlative(token) && !directions.includes(token));
  return cells.find(
    (cell) =>
      states(cell, content, { implied, isValueOptional: extreme !== undefined }) &&
      (extreme === undefined || isExtreme(cell, cells, extreme)) &&
      (direction === undefined || hasMoved(cell, cells, direction.key)),
  );
}

const known = new WeakMap<PageText, Cell[]>();

function cellsOf(page: PageText, language: Language): Cell[] {
  const before = known.get(page);
  if (before !== undefined) return before;
  const read = (text: string): Token[] => tokensOf(text, language).filter(isContent);
  const title = read(page.title);
  const cells = page.blocks.flatMap((block) => {
    const parts = block.length > MAX_CELL_CHARACTERS ? [] : block.split(": ");
    if (parts.length < 3) return [];
    const [row = "", column = "", value = ""] = parts.slice(-3);
    const [amount, ...rest] = read(value);
    const caption = parts.slice(0, -3).join(" ");
    if (amount?.kind !== "number" || rest.length > 0 || read(row).length === 0) return [];
    const { scaled, phrase = "" } = scaledValue(value, [column, caption, page.title], language) ?? {};
    // A claim need not repeat the unit.
    const heads = read(column.replace(phrase, ""));
    const about = [...read(caption), ...title];
    return [{ block, caption, row: read(row), column: heads, about, value: amount, scaled }];
  });
  known.set(page, cells);
  return cells;
}

/** `thousand tonnes` at the end of `Harvest, thousand tonnes`; `EUR million` of `Revenue (EUR million)`. */
const UNIT_PHRASE = /(?:^|[,(–]\s?|\bin\s)(?<phrase>[^,()–]{1,40})\)?$/iu;
const CODE_FIRST = /^(?<sign>[A-Z]{3}|[€$£¥])\s?(?<scale>.*)$/u;

/** By the first of the texts that ends with a unit, for a value without one. */
function scaledValue(
  value: string,
  texts: readonly string[],
  language: Language,
): { scaled: Quantity; phrase: string } | undefined {
  for (const text of texts) {
    for (const end of [text, text.slice(text.lastIndexOf(" in ") + 1)]) {
      const { phrase = "" } = UNIT_PHRASE.exec(end)?.groups ?? {};
      const { sign, scale = "" } = CODE_FIRST.exec(phrase)?.groups ?? {};
      const written = sign === undefined ? `${value} ${phrase}` : `${sign} ${value} ${scale}`.trim();
      const [quantity, ...rest] = quantitiesIn(written, language);
      const isWhole = quantity?.start === 0 && quantity.end === written.length && rest.length === 0;
      if (isWhole && quantity.unit !== "" && phrase !== "") return { scaled: quantity, phrase };
    }
  }
  return undefined;
}

interface ClaimWording {
  /** Columns that a verb or superlative of the claim names. */
  implied: readonly RegExp[];
  isValueOptional: boolean;
}

function states(cell: Cell, content: readonly Token[], { implied, isValueOptional }: ClaimWording): boolean {
  const heads = [...cell.row, ...cell.column];
  const named = [...heads, ...cell.about];
  const numbers = content.filter((token) => token.kind === "number" && !named.some((other) => matches(token, other)));
  const [claimed] = numbers;
  if (numbers.length > 1 || (claimed === undefined ? !isValueOptional : !isSameAmount(claimed, cell))) return false;
  if (!implied.every((column) => cell.column.some(({ text }) => column.test(text)))) return false;
  const isNamed = (head: Token): boolean =>
    content.some((token) => matches(token, head)) ||
    (cell.column.includes(head) && implied.some((column) => column.test(head.text)));
  const isStated = (token: Token): boolean => {
    const word = token.text.toLowerCase();
    return (
      token === claimed ||
      VALUE_VERBS.has(word) ||
      COLUMN_WORDS.has(word) ||
      named.some((other) => matches(token, other))
    );
  };
  return heads.every(isNamed) && content.every(isStated);
}

const same = (one: readonly Token[], other: readonly Token[]): boolean =>
  one.map(({ text }) => text).join(" ") === other.map(({ text }) => text).join(" ");

const amountOf = ({ value }: Cell): number => value.quantity?.value ?? Number.NaN;

/** Whether all other rows have less, or more, in the column. */
function isExtreme(cell: Cell, cells: readonly Cell[], extreme: "max" | "min"): boolean {
  const others = cells.filter(
    (other) =>
      other !== cell &&
      other.caption === cell.caption &&
      same(other.column, cell.column) &&
      !TOTAL.test(other.row[0]?.text ?? ""),
  );
  const sign = extreme === "max" ? 1 : -1;
  return others.length > 0 && others.every((other) => sign * (amountOf(cell) - amountOf(other)) > 0);
}

/** Whether the column before, which is an earlier year, has less or more in the row. */
function hasMoved(cell: Cell, cells: readonly Cell[], direction: string): boolean {
  const row = cells.filter((other) => other.caption === cell.caption && same(other.row, cell.row));
  const before = row[row.indexOf(cell) - 1];
  const [year, earlier] = [cell.column[0]?.date?.year, before?.column[0]?.date?.year];
  if (before === undefined || year === undefined || earlier === undefined || earlier >= year) return false;
  const difference = amountOf(cell) - amountOf(before);
  return direction === "↑" ? difference > 0 : difference < 0;
}

/** The unit may be in the cell, its column or the caption; a claim without a unit is about whatever the table counts. */
function isSameAmount({ quantity: claimed }: Token, { value, scaled, column, about }: Cell): boolean {
  const { quantity } = value;
  if (claimed === undefined || quantity === undefined) return false;
  if (scaled !== undefined && claimed.unit === scaled.unit && claimed.value === scaled.value) return true;
  if (claimed.value !== quantity.value) return false;
  const isPercent = [...column, ...about].some(({ text }) => /^(?:percent|prozent|%)$/i.test(text));
  const unit = quantity.unit === "" && isPercent ? "percent" : quantity.unit;
  return claimed.unit === unit || claimed.unit === "";
}
