/** Reads numbers with their scale, unit and currency, in the notations of four languages. */

import type { Language } from "./word-lists.ts";

export interface Quantity {
  value: number;
  /** Base unit such as `m`, `percent` or `EUR`; empty for a plain number. */
  unit: string;
  /** What one of the written unit is in the base unit. */
  factor: number;
  start: number;
  end: number;
}

const NUMBER_WORDS: Readonly<Record<string, number>> = Object.fromEntries(
  (
    [
      "zero null zéro",
      "one ein eine einen",
      "two zwei deux",
      "three drei trois",
      "four vier quatre",
      "five fünf cinq",
      "six sechs six",
      "seven sieben sept",
      "eight acht huit",
      "nine neun neuf",
      "ten zehn dix",
      "eleven elf onze",
      "twelve zwölf douze",
      "thirteen dreizehn treize",
      "fourteen vierzehn quatorze",
      "fifteen fünfzehn quinze",
      "sixteen sechzehn seize",
      "seventeen siebzehn dix-sept",
      "eighteen achtzehn dix-huit",
      "nineteen neunzehn dix-neuf",
      "twenty zwanzig vingt",
    ] as const
  ).flatMap((line, value) => line.split(" ").map((word) => [word, value])),
);
for (const [word, value] of Object.entries({
  thirty: 30,
  dreißig: 30,
  trente: 30,
  forty: 40,
  vierzig: 40,
  quarante: 40,
  fifty: 50,
  fünfzig: 50,
  cinquante: 50,
  sixty: 60,
  sechzig: 60,
  soixante: 60,
  seventy: 70,
  siebzig: 70,
  eighty: 80,
  achtzig: 80,
  ninety: 90,
  neunzig: 90,
  hundred: 100,
  hundert: 100,
  cent: 100,
  twice: 2,
  zweimal: 2,
}))
  (NUMBER_WORDS as Record<string, number>)[word] = value;
/** An article in German and French; only digits count there. */
for (const article of ["ein", "eine", "einen", "null", "cent"])
  delete (NUMBER_WORDS as Record<string, number>)[article];

const SCALES: Readonly<Record<string, number>> = {
  thousand: 1e3,
  k: 1e3,
  tausend: 1e3,
  tsd: 1e3,
  mille: 1e3,
  million: 1e6,
  millions: 1e6,
  mn: 1e6,
  mio: 1e6,
  millionen: 1e6,
  m: 1e6,
  billion: 1e9,
  billions: 1e9,
  bn: 1e9,
  b: 1e9,
  milliarde: 1e9,
  milliarden: 1e9,
  mrd: 1e9,
  milliard: 1e9,
  milliards: 1e9,
  md: 1e9,
  trillion: 1e12,
  tn: 1e12,
  billionen: 1e12,
  千: 1e3,
  万: 1e4,
  億: 1e8,
  兆: 1e12,
};

/** Unit names, and what one of them is in the base unit. */
const UNITS: Readonly<Record<string, readonly [base: string, factor: number]>> = unitTable({
  percent: ["% percent prozent パーセント", 1],
  points: [
    "percentage-points percentage-point prozentpunkte prozentpunkten prozentpunkt points-de-pourcentage ポイント pp",
    1,
  ],
  "points*0.01": ["basis-points basis-point bps basispunkte basispunkten", 0.01],
  USD: ["$ us$ usd dollar dollars ドル", 1],
  EUR: ["€ eur euro euros ユーロ", 1],
  GBP: ["£ gbp pound pounds pfund ポンド", 1],
  JPY: ["¥ jpy yen 円", 1],
  CHF: ["chf franc francs franken sfr swiss-franc swiss-francs schweizer-franken francs-suisses", 1],
  SEK: ["sek krona kronor", 1],
  CNY: ["cny yuan renminbi rmb 元", 1],
  m: ["m metre metres meter meters mètre mètres メートル", 1],
  "m*1000": ["km kilometre kilometres kilometer kilometers kilomètre kilomètres キロ キロメートル", 1000],
  "m*0.01": ["cm centimetre centimetres centimeter centimeters zentimeter centimètres", 0.01],
  "m*0.001": ["mm millimetre millimetres millimeter millimeters millimètres", 0.001],
  mile: ["mile miles meilen", 1],
  m2: ["m² square-metre square-metres square-meters quadratmeter mètres-carrés 平方メートル", 1],
  "m2*1e4": ["ha hectare hectares hektar ヘクタール", 10_000],
  "m2*1e6": ["km² square-kilometre square-kilometres square-kilometers quadratkilometer kilomètres-carrés", 1_000_000],
  kg: ["kg kilogram kilograms kilogramm kilo kilos", 1],
  "kg*1000": ["t tonne tonnes tonnen tons ton トン", 1000],
  "kg*0.001": ["g gram grams gramm grammes", 0.001],
  "kg*1e-6": ["mg milligram milligrams milligramm", 0.000_001],
  litre: ["l litre litres liter liters リットル", 1],
  W: ["w watt watts ワット", 1],
  "W*1e3": ["kw kilowatt kilowatts キロワット", 1e3],
  "W*1e6": ["mw megawatt megawatts メガワット", 1e6],
  "W*1e9": ["gw gigawatt gigawatts", 1e9],
  Wh: ["wh", 1],
  "Wh*1e3": ["kwh kilowattstunden kilowatt-hour kilowatt-hours キロワット時", 1e3],
  "Wh*1e6": ["mwh megawattstunden megawatt-hour megawatt-hours", 1e6],
  "Wh*1e9": ["gwh gigawatt-hour gigawatt-hours gigawattstunden", 1e9],
  "Wh*1e12": ["twh terawatt-hour terawatt-hours terawattstunden", 1e12],
  s: ["second seconds sekunde sekunden seconde secondes 秒", 1],
  "s*60": ["min minute minutes minuten 分", 60],
  "s*3600": ["h hour hours stunde stunden heure heures 時間", 3600],
  day: ["day days tag tage tagen jour jours 日間", 1],
  week: ["week weeks woche wochen semaine semaines 週間", 1],
  month: ["month months monat monate monaten mois か月 カ月", 1],
  year: ["year years jahr jahre jahren an ans année années 年間", 1],
  celsius: ["°c degrees-celsius grad-celsius 度", 1],
  lux: ["lux", 1],
  age: ["歳", 1],
  person: ["人 名", 1],
});

function unitTable(
  table: Readonly<Record<string, readonly [names: string, factor: number]>>,
): Record<string, readonly [string, number]> {
  return Object.fromEntries(
    Object.entries(table).flatMap(([base, [names, factor]]) =>
      names.split(" ").map((name) => [name, [base.split("*")[0] ?? base, factor] as const]),
    ),
  );
}

const DIGITS = String.raw`\d{1,3}(?:[ \u00A0\u202F]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)*`;
const WORDS = Object.keys(NUMBER_WORDS)
  .toSorted((a, b) => b.length - a.length)
  .join("|");
const SIGNS = String.raw`(?:US\$|[$€£¥]|(?:USD|EUR|GBP|CHF|SEK|JPY|CNY)\s?)`;

const QUANTITY = new RegExp(
  String.raw`(?<![\p{Script=Latin}\p{N}.,])(?<sign>${SIGNS})?\s?(?:(?<digits>${DIGITS})|(?<word>${WORDS})(?![\p{L}\p{N}]))`,
  "giu",
);

const SCALE = new RegExp(
  String.raw`[\s\u00A0]?-?(?<scale>thousand|tausend|tsd\.?|mille|millions?|millionen|mio\.?|mn|billions?|billionen|bn|milliarden?|milliards?|mrd\.?|trillion|tn)(?![\p{L}\p{N}])|(?<short>k|m|b)(?![\p{L}\p{N}])|(?<ja>[千万億兆])`,
  "iuy",
);

const UNIT_NAMES = Object.keys(UNITS).toSorted((a, b) => b.length - a.length);
const escaped = (text: string): string =>
  text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`).replaceAll("-", String.raw`[\s-]`);
const UNIT = new RegExp(
  String.raw`[\s\u00A0\u202F-]{0,2}(?:d['’]|de\s)?(?:(?<unit>${UNIT_NAMES.filter(
    (name) => /^[\p{L}²-]+$/u.test(name) && !/[\p{Script=Han}\p{Script=Katakana}]/u.test(name),
  )
    .map(escaped)
    .join(
      "|",
    )})(?![\p{L}\p{N}])|(?<sign>per\scent|pour\scent|%|[$€£¥]|°C)|(?<ja>${UNIT_NAMES.filter((name) => /[\p{Script=Han}\p{Script=Katakana}]/u.test(name)).join("|")}))`,
  "iuy",
);

export function quantitiesIn(text: string, language: Language): Quantity[] {
  const found: Quantity[] = [];
  let from = 0;
  for (const match of text.matchAll(QUANTITY)) {
    if (match.index < from) continue;
    const quantity = readQuantity(text, match, language);
    if (quantity === undefined) continue;
    found.push(quantity);
    from = quantity.end;
  }
  return inheritUnits(text, found);
}

function readQuantity(text: string, match: RegExpExecArray, language: Language): Quantity | undefined {
  const { sign, digits, word } = match.groups ?? {};
  const base = digits === undefined ? NUMBER_WORDS[(word ?? "").toLowerCase()] : numberOf(digits, language);
  if (base === undefined) return undefined;
  const start = match.index;
  let end = start + match[0].length;
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
  const currency = sign === undefined ? undefined : UNITS[sign.trim().toLowerCase()];
  return { value, unit: currency?.[0] ?? "", factor: 1, start, end };
}

function readScale(text: string, at: number): { factor: number; end: number; isJapanese: boolean } | undefined {
  SCALE.lastIndex = at;
  const match = SCALE.exec(text);
  if (match === null) return undefined;
  const { scale, short, ja } = match.groups ?? {};
  // A single letter is a scale only after a currency or digits without a gap: `$5m`, `1.94bn`; `5 m` are metres.
  const name = (scale ?? short ?? ja ?? "").toLowerCase().replace(/\.$/, "");
  const written = text.slice(Math.max(0, at - 28), at);
  if (short !== undefined && !/(?:[$€£¥]|\b[A-Z]{3})\s?[\d.,]{1,20}$/u.test(written)) return undefined;
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
