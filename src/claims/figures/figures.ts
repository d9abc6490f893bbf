/** Reads the dates and amounts of a text; what is left are its words. */

import { quantitiesIn, type Quantity } from "./quantities.ts";
import { languageOf } from "../language.ts";

export interface Figures {
  dates: DateMention[];
  quantities: Quantity[];
  /** The text as it was read. */
  text: string;
  /** The text with spaces in the place of dates, times and amounts. */
  rest: string;
}

/** After a preposition or with its zone; otherwise it may be a duration or a score. */
const TIME_OF_DAY =
  /(?:(?<=\b(?:at|around|um|gegen|à|vers)\s)(?:[01]?\d|2[0-3]):[0-5]\d|\b(?:[01]?\d|2[0-3]):[0-5]\d(?=\s?(?:UTC|GMT|CES?T|[ap]\.?m\b|Uhr|h\b)))(?:\s?(?:UTC|GMT|CES?T|[ap]\.?m\b\.?|Uhr|h\b))?/giu;

export function figuresIn(written: string, language = languageOf(written) ?? "en"): Figures {
  const text = written
    .normalize("NFKC")
    .replaceAll(/[‘’‛ʼ]/gu, "'")
    .replaceAll(/\s+/gu, " ");
  const dates = datesIn(text);
  const withoutDates = mask(text, dates);
  const times = [...withoutDates.matchAll(TIME_OF_DAY)].map(({ 0: time, index: start }) => ({
    start,
    end: start + time.length,
  }));
  const masked = mask(withoutDates, times);
  const quantities = quantitiesIn(masked, language);
  return { dates, quantities, text, rest: mask(masked, quantities) };
}

/** Spaces in the place of what was read already, so that positions stay. */
function mask(text: string, ranges: readonly { start: number; end: number }[]): string {
  let masked = "";
  let copied = 0;
  for (const { start, end } of ranges) {
    masked += text.slice(copied, start) + " ".repeat(Math.max(0, end - start));
    copied = end;
  }
  return masked + text.slice(copied);
}

// Reads years, months, days and quarters, in the notations of four languages.

export interface DateMention {
  year?: number | undefined;
  month?: number | undefined;
  day?: number | undefined;
  quarter?: number | undefined;
  start: number;
  end: number;
}

const MONTHS = [
  "january januar janvier jan",
  "february februar février feb févr",
  "march märz mars mar",
  "april avril apr avr",
  "may mai",
  "june juni juin jun",
  "july juli juillet jul juil",
  "august août aug",
  "september septembre sep sept",
  "october oktober octobre oct okt",
  "november novembre nov",
  "december dezember décembre dec dez déc",
];
const MONTH_NUMBERS: Readonly<Record<string, number>> = Object.fromEntries(
  MONTHS.flatMap((names, index) => names.split(" ").map((name) => [name, index + 1])),
);
const MONTH = Object.keys(MONTH_NUMBERS)
  .toSorted((a, b) => b.length - a.length)
  .join("|");
const YEAR = String.raw`(?<YEAR>1[5-9]\d\d|20\d\d|21\d\d)(?![\d.,]*\d|\s?[%€$£¥])`;
const ORDINALS: Readonly<Record<string, number>> = {
  first: 1,
  second: 2,
  third: 3,
  fourth: 4,
  erste: 1,
  ersten: 1,
  erstes: 1,
  zweite: 2,
  zweiten: 2,
  zweites: 2,
  dritte: 3,
  dritten: 3,
  drittes: 3,
  vierte: 4,
  vierten: 4,
  viertes: 4,
  premier: 1,
  deuxième: 2,
  troisième: 3,
  quatrième: 4,
};

const named = (pattern: string, index: number): string =>
  pattern.replaceAll(/\(\?<([A-Z]+)>/g, (_whole, name: string) => `(?<${name.toLowerCase()}${index}>`);

const DAY = String.raw`(?<DAY>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th|er|\.)?`;
const NAMED_MONTH = String.raw`(?<MONTH>${MONTH})\.?`;

const FORMS = [
  String.raw`(?<YEAR>1[5-9]\d\d|20\d\d|21\d\d)-(?<NUMBER>0[1-9]|1[0-2])-(?<DAY>[0-3]\d)`,
  String.raw`(?<DAY>[12]\d|3[01]|0?[1-9])\.\s?(?<NUMBER>1[0-2]|0?[1-9])\.\s?(?<YEAR>1[5-9]\d\d|20\d\d)`,
  String.raw`(?<NUMBER>0?[1-9]|1[0-2])/(?<DAY>1[3-9]|2\d|3[01])/(?<YEAR>1[5-9]\d\d|20\d\d)`,
  String.raw`(?<DAY>1[3-9]|2\d|3[01])/(?<NUMBER>1[0-2]|0?[1-9])/(?<YEAR>1[5-9]\d\d|20\d\d)`,
  String.raw`(?<NUMBER>1[0-2]|0?[1-9])/(?<YEAR>1[5-9]\d\d|20\d\d)`,
  String.raw`(?<YEAR>1[5-9]\d\d|20\d\d|21\d\d)年(?:度)?(?:(?<NUMBER>1[0-2]|[1-9])月)?(?:(?<DAY>[12]\d|3[01]|[1-9])日)?`,
  String.raw`(?<NUMBER>1[0-2]|[1-9])月(?:(?<DAY>[12]\d|3[01]|[1-9])日)?`,
  String.raw`(?<DAY>[12]\d|3[01]|[1-9])日(?!間)`,
  String.raw`${DAY}(?:\s+of)?\s+${NAMED_MONTH}(?![\p{L}])(?:,?\s+${YEAR})?`,
  String.raw`${NAMED_MONTH}\s+${DAY}(?!\d)(?:,?\s+${YEAR})?`,
  String.raw`${NAMED_MONTH}(?![\p{L}])(?:,?\s+(?:of\s+|de\s+)?${YEAR})?`,
  String.raw`(?:Q(?<QUARTER>[1-4])|(?:the\s|le\s|das\s|dem\s|im\s)?(?<ORDINAL>first|second|third|fourth|erste[ns]?|zweite[ns]?|dritte[ns]?|vierte[ns]?|premier|deuxième|troisième|quatrième)[\s-](?:quarter|quartal|trimestre)|(?<QUARTER>[1-4])\.\s?Quartal|(?<QUARTER>[1-4])e\strimestre)s?(?![\p{L}])(?:\s(?:of\s|de\s)?${YEAR})?`,
  YEAR,
];

const DATE = new RegExp(
  String.raw`(?<![\p{Script=Latin}\p{N}.,/€$£¥-])(?:${FORMS.map((form, index) => deduplicated(named(form, index))).join("|")})(?![\p{N}])`,
  "giu",
);

/** A quarter can be written in three ways; a group name may occur once. */
function deduplicated(pattern: string): string {
  const seen = new Map<string, number>();
  return pattern.replaceAll(/\(\?<([a-z]+\d+)>/g, (_whole, name: string) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? `(?<${name}>` : `(?<${name}v${count}>`;
  });
}

function datesIn(text: string): DateMention[] {
  return [...text.matchAll(DATE)].flatMap((match) => {
    const read = (name: string): string | undefined =>
      Object.entries(match.groups ?? {}).find(([key, value]) => value !== undefined && key.startsWith(name))?.[1];
    const number = (name: string): number | undefined => {
      const value = read(name);
      return value === undefined ? undefined : Number(value);
    };
    const monthName = read("month");
    // `May` and `March` are also verbs; without a day or year they count only if capitalised.
    if (monthName !== undefined && /^[a-z]/.test(monthName)) {
      if (
        /^(?:may|march|mars|mar|jan|sep|dec|nov|oct|apr|avr|jun|jul|aug|feb)$/.test(monthName) &&
        read("day") === undefined
      )
        return [];
    }
    const mention: DateMention = {
      year: number("year"),
      month: monthName === undefined ? number("number") : MONTH_NUMBERS[monthName.toLowerCase()],
      day: number("day"),
      quarter: number("quarter") ?? ORDINALS[(read("ordinal") ?? "").toLowerCase()],
      start: match.index,
      end: match.index + match[0].length,
    };
    return [mention];
  });
}

/** Whether the page's date says what the claim's does; the page may be more precise. */
export function includesDate(page: DateMention, claim: DateMention): boolean {
  const fits = (key: "year" | "month" | "day" | "quarter"): boolean =>
    claim[key] === undefined || claim[key] === page[key];
  return fits("year") && fits("month") && fits("day") && fits("quarter");
}
