/** Reads the dates and amounts of a text, in the notations of four languages. */

export interface Figures {
  dates: DateMention[];
  quantities: Quantity[];
  /** The text as it was read. */
  text: string;
}

interface Range {
  start: number;
  end: number;
}

export function figuresIn(written: string): Figures {
  const text = written
    .normalize("NFKC")
    .replaceAll(/[‘’‛ʼ]/gu, "'")
    .replaceAll(/\s+/gu, " ");
  const dates = datesIn(text);
  return { dates, quantities: quantitiesIn(mask(text, dates)), text };
}

/** Spaces in the place of what was read already, so that positions stay. */
function mask(text: string, ranges: readonly Range[]): string {
  let masked = text;
  for (const { start, end } of ranges) masked = masked.slice(0, start) + " ".repeat(end - start) + masked.slice(end);
  return masked;
}

// Years, months, days and quarters.

export interface DateMention extends Range {
  year?: number | undefined;
  month?: number | undefined;
  day?: number | undefined;
  quarter?: number | undefined;
}

const MONTHS = `january januar janvier jan
  february februar février feb févr
  march märz mars mar
  april avril apr avr
  may mai
  june juni juin jun
  july juli juillet jul juil
  august août aug
  september septembre sep sept
  october oktober octobre oct okt
  november novembre nov
  december dezember décembre dec dez déc`
  .split("\n")
  .map((line) => line.trim().split(" "));
/** Verbs and short forms are months only beside a day, or capitalised. */
const AMBIGUOUS_MONTH = /^(?:may|march|mars|[a-z]{3})$/;
const QUARTERS = ["first", "second", "third", "fourth"];

const MONTH = `(?<month>${MONTHS.flat().join("|")})\\.?(?!\\p{L})`;
const YEAR = String.raw`(?<year>1[5-9]\d\d|2[01]\d\d)(?![\d.,]*\d|\s?[%€$£¥])`;
const DAY = String.raw`(?<day>[12]\d|3[01]|0?[1-9])`;
const NUMBER = "(?<number>1[0-2]|0?[1-9])";

/** In the order in which they are read. */
const DATE_FORMS = [
  `${YEAR.slice(0, YEAR.indexOf("(?!"))}-${NUMBER}-${DAY}`,
  String.raw`${DAY}\.\s?${NUMBER}\.\s?${YEAR}`,
  // Either notation, where only one is possible.
  String.raw`${NUMBER}/(?<day>1[3-9]|2\d|3[01])/${YEAR}`,
  String.raw`(?<day>1[3-9]|2\d|3[01])/${NUMBER}/${YEAR}`,
  `${NUMBER}/${YEAR}`,
  `${YEAR}年(?:度)?(?:${NUMBER}月)?(?:${DAY}日)?`,
  `${NUMBER}月(?:${DAY}日)?`,
  `${DAY}日(?!間)`,
  String.raw`${DAY}(?:st|nd|rd|th|er|\.)?(?:\s+of)?\s+${MONTH}(?:,?\s+${YEAR})?`,
  String.raw`${MONTH}\s+${DAY}(?:st|nd|rd|th)?(?!\d)(?:,?\s+${YEAR})?`,
  String.raw`${MONTH}(?:,?\s+(?:of\s+|de\s+)?${YEAR})?`,
  String.raw`(?:Q(?<quarter>[1-4])|(?<ordinal>${QUARTERS.join("|")})[\s-]quarter)(?!\p{L})(?:\s(?:of\s)?${YEAR})?`,
  YEAR,
].map((form) => new RegExp(String.raw`(?<![\p{Script=Latin}\p{N}.,/€$£¥-])(?:${form})(?!\p{N})`, "giu"));

function datesIn(text: string): DateMention[] {
  const found: DateMention[] = [];
  let left = text;
  for (const form of /\d|\p{Lu}|quarter/u.test(text) ? DATE_FORMS : []) {
    const dates = [...left.matchAll(form)].flatMap((match) => dateOf(match) ?? []);
    left = mask(left, dates);
    found.push(...dates);
  }
  return found.toSorted((one, other) => one.start - other.start);
}

function dateOf({ 0: { length }, index, groups = {} }: RegExpExecArray): DateMention | undefined {
  const { year, month, number, day, quarter, ordinal } = groups;
  if (month !== undefined && day === undefined && AMBIGUOUS_MONTH.test(month)) return undefined;
  const part = (digits: string | undefined): number | undefined => (digits === undefined ? undefined : Number(digits));
  return {
    year: part(year),
    month: month === undefined ? part(number) : 1 + MONTHS.findIndex((names) => names.includes(month.toLowerCase())),
    day: part(day),
    quarter: ordinal === undefined ? part(quarter) : 1 + QUARTERS.indexOf(ordinal.toLowerCase()),
    start: index,
    end: index + length,
  };
}

/** Whether the page's date says what the claim's does; the page may be more precise. */
export const includesDate = (page: DateMention, claim: DateMention): boolean =>
  (["year", "month", "day", "quarter"] as const).every((key) => claim[key] === undefined || claim[key] === page[key]);

// Numbers with their scale, unit and currency.

export interface Quantity extends Range {
  value: number;
  /** The unit of its last digit as written: 0.1 billion for `4.2 billion`. */
  precision: number;
  /** Such as `m`, `percent` or `EUR`; empty for all others, which count what the next word says. */
  unit: string;
}

const EXACT = 1e-9;

export const isWithin = (tolerance: number, one: Pick<Quantity, "value">, two: Pick<Quantity, "value">): boolean =>
  Math.abs(one.value - two.value) <= tolerance + EXACT * Math.abs(one.value);

/** Each line has the unit, and further ways to write it. */
const UNITS = new Map(
  `percent % per-cent prozent pour-cent パーセント pct
  points percentage-point percentage-points prozentpunkt prozentpunkte prozentpunkten ポイント pp
  USD $ us$ dollar dollars us-dollar us-dollars ドル
  EUR € euro euros ユーロ
  GBP £ pound pounds pounds-sterling pfund ポンド
  JPY ¥ yen 円
  CHF franc francs franken sfr swiss-francs
  CNY yuan renminbi rmb 元
  INR ₹ rupee rupees rupien roupies
  KRW ₩ won ウォン
  RUB ₽ rouble roubles ruble rubles rubel
  m metre metres meter meters metern mètre mètres メートル
  km kilometre kilometres kilometer kilometers kilometern kilomètre kilomètres キロ キロメートル
  mi mile miles meilen
  ft foot feet
  kg kilogram kilograms kilogramm kilo kilos キログラム
  t tonne tonnes tonnen tons ton トン
  l litre litres liter liters litern リットル
  MW megawatt megawatts メガワット
  GW gigawatt gigawatts ギガワット
  dB decibel decibels dezibel décibel décibels デシベル
  min minute minutes minuten 分
  h hour hours stunde stunden heure heures 時間
  day days tag tage tagen jour jours 日間
  month months monat monate monaten mois か月 カ月
  year years jahr jahre jahren an ans année années 年間
  celsius °c degrees-celsius grad-celsius 度`
    .split("\n")
    .map((line) => line.trim().split(" "))
    .flatMap((names) => names.map((name) => [name.toLowerCase(), names[0] ?? ""])),
);

/** Those that a text names. */
export const unitsIn = (text: string): Set<string> =>
  new Set((text.toLowerCase().match(/\p{L}+|[^\p{L}\s]/gu) ?? []).flatMap((word) => UNITS.get(word) ?? []));

const SCALES = new Map(
  `100 hundred hundert
  1e3 thousand tausend tsd mille k 千
  1e4 万
  1e6 million millions mn mio millionen m
  1e8 億
  1e9 billion billions bn milliarde milliarden mrd milliard milliards md b
  1e12 trillion tn billionen 兆`
    .split("\n")
    .map((line) => line.trim().split(" "))
    .flatMap(([value, ...names]) => names.map((name) => [name, Number(value)])),
);

/** By value: zero, one, two and so on. */
const NUMBER_WORDS = [
  "zero zéro,one,two zwei deux,three drei trois,four vier quatre,five fünf cinq,six sechs,seven sieben sept,eight acht huit,nine neun neuf",
  "ten zehn dix,eleven elf onze,twelve zwölf douze dozen,thirteen dreizehn treize,fourteen vierzehn quatorze,fifteen fünfzehn quinze",
  "sixteen sechzehn seize,seventeen siebzehn,eighteen achtzehn,nineteen neunzehn,twenty zwanzig vingt",
]
  .join(",")
  .split(",")
  .map((line) => line.split(" "));

const isSpaceless = (name: string): boolean => /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(name);

/** The longest first, so that none hides another. */
const anyOf = (names: Iterable<string>): string =>
  [...names]
    .toSorted((one, other) => other.length - one.length)
    .map((name) => name.replaceAll("$", String.raw`\$`).replaceAll("-", String.raw`[\s-]`))
    .join("|");

const NAMES = [...UNITS.keys()];
const WORDS = anyOf(NAMES.filter((name) => /^\p{L}/u.test(name) && !isSpaceless(name)));
const SYMBOLS = anyOf(NAMES.filter((name) => /^[^\p{L}]|\$$/u.test(name) && !isSpaceless(name)));
const CODES = anyOf([...UNITS.values()].filter((unit) => /^[A-Z]{3}$/.test(unit)));
const END = String.raw`(?![\p{L}\p{N}])`;

const QUANTITY = new RegExp(
  [
    String.raw`(?<![\p{Script=Latin}\p{N}.,])(?<sign>(?:${SYMBOLS}|(?:${CODES})(?=\s?\d))\s?)?`,
    String.raw`(?:(?<digits>\d{1,3}(?:[ \u00A0\u202F]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)*)|(?<word>${anyOf(NUMBER_WORDS.flat())})${END})`,
    String.raw`(?:[\s\u00A0]?-?(?<scale>hundred|hundert|thousand|tausend|tsd|mille|millions?|millionen|mio|mn|billions?|billionen|bn|milliarden?|milliards?|mrd|trillion|tn)${END}\.?`,
    // A single letter is a scale only beside a currency: `$5m`, `5 M€`; `5 m` are metres.
    String.raw`|(?<=(?:${SYMBOLS}|${CODES})\s?[\d.,]{1,20})\s?(?<short>k|m|b|md)${END}`,
    String.raw`|\s?(?<before>k|m|b|md)(?=\s?(?:[$€£¥]|(?:dollars|euros?|pounds|francs)${END}))|(?<ja>[千万億兆]))?`,
    String.raw`(?:[\s\u00A0\u202F-]{0,2}(?:d['’]|de\s)?(?:(?<unit>${WORDS})${END}|(?<symbol>${SYMBOLS})|(?<counter>${anyOf(NAMES.filter(isSpaceless))})))?`,
  ].join(""),
  "giu",
);

export const quantitiesIn = (text: string): Quantity[] =>
  [...text.matchAll(QUANTITY)].flatMap((match) => quantityOf(match) ?? []);

function quantityOf({ 0: whole, index, groups = {} }: RegExpExecArray): Quantity | undefined {
  const { sign = "", digits, word = "", scale, short, before, ja, unit, symbol, counter } = groups;
  // `rub 5 spices`: only a code in capitals is one.
  const isSign = !/^\p{L}+\s?$/u.test(sign) || sign === sign.toUpperCase();
  const by = (scale ?? short ?? before ?? ja ?? "").toLowerCase();
  const factor = SCALES.get(by) ?? 1;
  const [value, decimals] = digits === undefined ? [wordValue(word), 0] : numberOf(digits, by);
  if (value === undefined) return undefined;
  const name = unit ?? symbol ?? counter ?? (isSign ? sign : "");
  // `One of them` counts nothing.
  if (/^one$/i.test(whole.trim())) return undefined;
  return {
    value: value * factor,
    precision: factor / 10 ** decimals,
    unit: UNITS.get(name.trim().toLowerCase().replaceAll(/\s/g, "-")) ?? "",
    start: index + (isSign ? 0 : sign.length),
    end: index + whole.length,
  };
}

const wordValue = (word: string): number => NUMBER_WORDS.findIndex((words) => words.includes(word.toLowerCase()));

/**
 * The value and its number of decimals. `1.940,5`, `1 940,5` and `1,940.5`: groups of three digits are thousands, unless a
 * scale follows: `1.846 million`.
 */
function numberOf(digits: string, scale: string): [value: number | undefined, decimals: number] {
  const compact = digits.replaceAll(/[ \u00A0\u202F]/g, "");
  const { whole, decimals = "" } =
    /^(?<whole>[1-9]\d{0,2}(?<point>[.,])\d{3}(?:\k<point>\d{3})*)(?:[.,](?<decimals>\d+))?$/.exec(compact)?.groups ??
    {};
  const isDecimal = scale !== "" && (/^\d+\.\d+$/.test(compact) || /ionen|mio|milliard|mrd/.test(scale));
  if (whole !== undefined && !isDecimal)
    return [Number(`${whole.replaceAll(/[.,]/g, "")}.${decimals}`), decimals.length];
  const plain = /^\d+(?:[.,](?<decimals>\d+))?$/.exec(compact);
  return [plain === null ? undefined : Number(compact.replace(",", ".")), plain?.groups?.["decimals"]?.length ?? 0];
}
