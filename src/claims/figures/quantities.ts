/** Reads numbers with their scale, unit and currency, in the notations of four languages. */

import { FRACTION, NUMBER_WORDS, percentOf, SCALES } from "./number-words.ts";
import { SIGNS, SYMBOLS, UNIT_NAMES, UNITS } from "./units.ts";
import type { Language } from "../language.ts";

export interface Quantity {
  value: number;
  /** Base unit such as `m`, `percent` or `EUR`; empty for a plain number. */
  unit: string;
  /** What one of the written unit is in the base unit. */
  factor: number;
  /** Written with `about`, or with `nearly`, which is a little more than the amount itself. */
  approximation?: "about" | "nearly" | undefined;
  start: number;
  end: number;
}

const DIGITS = String.raw`\d{1,3}(?:[ \u00A0\u202F]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)*`;
const WORDS = [...NUMBER_WORDS.keys()].toSorted((a, b) => b.length - a.length).join("|");

const QUANTITY = new RegExp(
  String.raw`(?<![\p{Script=Latin}\p{N}.,])(?<sign>${SIGNS})?\s?(?:(?<digits>${DIGITS})|(?<word>${WORDS})(?![\p{L}\p{N}])|(?<half>half an?(?=\s\p{L}))|(?<half2>eine[rn]?\shalbe[nr]?(?=\s\p{L})))`,
  "giu",
);

const SCALE = new RegExp(
  String.raw`[\s\u00A0]?-?(?<scale>hundred|hundert|thousand|tausend|tsd\.?|mille|millions?|millionen|mio\.?|mn|billions?|billionen|bn|milliarden?|milliards?|mrd\.?|trillion|tn|lakh|crore)(?![\p{L}\p{N}])|\s?(?<short>k|m|b|md)(?![\p{L}\p{N}])|(?<ja>[千万億兆])`,
  "iuy",
);

const escaped = (text: string): string =>
  text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`).replaceAll("-", String.raw`[\s-]`);
const UNIT = new RegExp(
  String.raw`[\s\u00A0\u202F-]{0,2}(?:d['’]|de\s)?(?:(?<unit>${UNIT_NAMES.filter(
    (name) => /^[\p{L}23²³-]+$/u.test(name) && !/[\p{Script=Han}\p{Script=Katakana}]/u.test(name),
  )
    .map(escaped)
    .join(
      "|",
    )})(?![\p{L}\p{N}])|(?<sign>per\scent|pour\scent|%|${SYMBOLS}|°C)|(?<ja>${UNIT_NAMES.filter((name) => /[\p{Script=Han}\p{Script=Katakana}]/u.test(name)).join("|")}))`,
  "iuy",
);

export function quantitiesIn(text: string, language: Language): Quantity[] {
  const found: Quantity[] = fractionsIn(text);
  const isRead = (at: number): boolean => found.some(({ start, end }) => at >= start && at < end);
  let from = 0;
  for (const match of text.matchAll(QUANTITY)) {
    if (match.index < from || isRead(match.index)) continue;
    const quantity = readQuantity(text, match, language);
    if (quantity === undefined) continue;
    found.push(quantity);
    from = quantity.end;
  }
  const ordered = found.toSorted((a, b) => a.start - b.start);
  return inheritUnits(text, ordered).map((quantity) => withApproximation(text, quantity));
}

/** `a quarter of` is 25 percent. */
function fractionsIn(text: string): Quantity[] {
  return [...text.matchAll(FRACTION)].flatMap(({ 0: written, index: start }) => {
    const value = percentOf(written);
    return value === undefined ? [] : [{ value, unit: "percent", factor: 1, start, end: start + written.length }];
  });
}

const APPROXIMATION =
  /(?<nearly>nearly|almost|just under|knapp|fast|presque|près de|)(?<about>about|around|approximately|roughly|some|circa|rund|etwa|ungefähr|environ|quelque|約|およそ|)\s?$/iu;

/** The word before an amount belongs to it. */
function withApproximation(text: string, quantity: Quantity): Quantity {
  const before = /[\p{L} ]{0,14}$/u.exec(text.slice(Math.max(0, quantity.start - 14), quantity.start))?.[0] ?? "";
  const { nearly = "", about = "" } = APPROXIMATION.exec(before)?.groups ?? {};
  const word = nearly === "" ? about : nearly;
  const at = before.lastIndexOf(word);
  if (word === "" || /\p{Script=Latin}/u.test(before[at - 1] ?? "")) return quantity;
  const start = quantity.start - (before.length - at);
  return { ...quantity, start, approximation: nearly === "" ? "about" : "nearly" };
}

function readQuantity(text: string, match: RegExpExecArray, language: Language): Quantity | undefined {
  const { sign, digits, word, half, half2 } = match.groups ?? {};
  const isHalf = (half ?? half2) !== undefined;
  const base = isHalf
    ? 0.5
    : digits === undefined
      ? NUMBER_WORDS.get((word ?? "").toLowerCase())
      : numberOf(digits, language);
  if (base === undefined) return undefined;
  // `rub 5 spices`: only a code in capitals is one.
  const isWord = sign !== undefined && /^\p{L}+\s?$/u.test(sign) && sign !== sign.toUpperCase();
  const start = match.index + (isWord ? sign.length : 0);
  let end = match.index + match[0].length;
  let value = base;
  const scaled = readScale(text, end);
  if (scaled !== undefined) {
    value *= scaled.factor;
    ({ end } = scaled);
    // `12万3400`: the rest of a Japanese number.
    if (scaled.isJapanese) ({ value, end } = readJapaneseRest(text, { value, end }));
  }
  const unit = readUnit(text, end);
  if (unit !== undefined)
    return { value: value * unit.factor, unit: unit.base, factor: unit.factor, start, end: unit.end };
  if (isHalf) return undefined;
  const currency = sign === undefined || isWord ? undefined : UNITS[sign.trim().toLowerCase()];
  return { value, unit: currency?.[0] ?? "", factor: 1, start, end };
}

const BEFORE_AMOUNT = new RegExp(String.raw`(?:${SYMBOLS}|\b[A-Z]{3})\s?[\d.,]{1,20}$`, "u");

function readScale(text: string, at: number): { factor: number; end: number; isJapanese: boolean } | undefined {
  SCALE.lastIndex = at;
  const match = SCALE.exec(text);
  if (match === null) return undefined;
  const { scale, short, ja } = match.groups ?? {};
  // A single letter is a scale only after a currency or digits without a gap: `$5m`, `5 M€`; `5 m` are metres.
  const name = (scale ?? short ?? ja ?? "").toLowerCase().replace(/\.$/, "");
  const written = text.slice(Math.max(0, at - 28), at);
  const isAmount =
    BEFORE_AMOUNT.test(written) ||
    /^\s?(?:[$€£¥]|(?:dollars|euros?|pounds|francs)\b)/.test(
      text.slice(at + match[0].length, at + match[0].length + 9),
    );
  if (short !== undefined && !isAmount) return undefined;
  const factor = SCALES[name];
  return factor === undefined ? undefined : { factor, end: at + match[0].length, isJapanese: ja !== undefined };
}

const JAPANESE_REST = /(\d{1,4})([千万億]?)/uy;

function readJapaneseRest(text: string, read: { value: number; end: number }): { value: number; end: number } {
  let { value, end } = read;
  for (let part = 0; part < 3; part += 1) {
    JAPANESE_REST.lastIndex = end;
    const [whole, digits, scale = ""] = JAPANESE_REST.exec(text) ?? [];
    if (whole === undefined) break;
    value += Number(digits) * (scale === "" ? 1 : (SCALES[scale] ?? 1));
    end += whole.length;
  }
  return { value, end };
}

function readUnit(text: string, at: number): { base: string; factor: number; end: number } | undefined {
  UNIT.lastIndex = at;
  const match = UNIT.exec(text);
  if (match === null) return undefined;
  const { unit, sign, ja } = match.groups ?? {};
  const name = (unit ?? ja ?? sign ?? "").toLowerCase().replaceAll(/\s+/g, "-");
  const known = /^(?:per|pour)-cent$/.test(name) ? UNITS["percent"] : UNITS[name];
  if (known === undefined) return undefined;
  return { base: known[0], factor: known[1], end: at + match[0].length };
}

/** `1.940,5` in German, `1 940,5` in French and `1,940.5` elsewhere; a group of three digits decides. */
function numberOf(digits: string, language: Language): number | undefined {
  const compact = digits.replaceAll(/[ \u00A0\u202F]/g, "");
  const [thousands, decimal] = language === "de" || language === "fr" ? [".", ","] : [",", "."];
  const separators = compact.replaceAll(/\d/g, "");
  if (separators === "") return Number(compact);
  const isGrouped = (separator: string): boolean =>
    new RegExp(String.raw`^\d{1,3}(?:${escaped(separator)}\d{3})+$`).test(compact);
  if (isGrouped(thousands)) return Number(compact.replaceAll(thousands, ""));
  const parts = compact.split(decimal);
  if (parts.length === 2 && new RegExp(String.raw`^\d+(?:${escaped(thousands)}\d{3})*$`).test(parts[0] ?? "")) {
    return Number(`${(parts[0] ?? "").replaceAll(thousands, "")}.${parts[1]}`);
  }
  // The other notation, as in a quotation: `6.2` in German text.
  if (/^\d+[.,]\d+$/.test(compact)) return Number(compact.replace(",", "."));
  return undefined;
}

/** `from 112 million francs to 131 million`: an amount without a unit has the unit of its neighbour. */
function inheritUnits(text: string, quantities: readonly Quantity[]): Quantity[] {
  return quantities.map((quantity, index) => {
    if (quantity.unit !== "") return quantity;
    const neighbour = [quantities[index + 1], quantities[index - 1]].find(
      (other) => other !== undefined && other.unit !== "" && isRange(text, quantity, other),
    );
    if (neighbour === undefined) return quantity;
    const { unit, factor } = neighbour;
    return { ...quantity, value: quantity.value * factor, unit, factor };
  });
}

const RANGE = /^\s*(?:to|and|bis|und|auf|à|et|from|von|de|–|-|〜|から|へ)\s*$/iu;

const isRange = (text: string, one: Quantity, other: Quantity): boolean =>
  RANGE.test(one.start < other.start ? text.slice(one.end, other.start) : text.slice(other.end, one.start));

/** Rounding by more than this is another figure, whatever `about` may mean. */
const MAX_ROUNDING = 0.03;

/** A claim may round with `about`; it may not be more precise than its page. */
export function sameAmount(claim: Quantity, page: Quantity): boolean {
  if (claim.unit !== page.unit) return false;
  if (Math.abs(claim.value - page.value) <= Math.abs(claim.value) * 1e-9) {
    return page.approximation === undefined || page.approximation === claim.approximation;
  }
  if (claim.approximation === undefined || page.approximation !== undefined) return false;
  if (claim.approximation === "nearly" && page.value > claim.value) return false;
  return Math.abs(claim.value - page.value) <= Math.abs(page.value) * MAX_ROUNDING;
}
