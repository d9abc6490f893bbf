/** Reads numbers with their scale, unit and currency, in the notations of four languages. */

import type { Language } from "../language.ts";

// Units and currencies: their names in four languages, and what one of them is in the base unit.

const TABLE: Readonly<Record<string, readonly [names: string, factor: number]>> = {
  percent: ["% percent prozent パーセント pct", 1],
  points: [
    "percentage-points percentage-point prozentpunkte prozentpunkten prozentpunkt points-de-pourcentage point-de-pourcentage ポイント pp",
    1,
  ],
  "points*0.01": ["basis-points basis-point bps basispunkte basispunkten points-de-base", 0.01],
  USD: ["$ us$ usd dollar dollars us-dollar us-dollars american-dollars ドル", 1],
  EUR: ["€ eur euro euros ユーロ", 1],
  GBP: ["£ gbp pound pounds pound-sterling pounds-sterling british-pounds pfund ポンド", 1],
  JPY: ["¥ jpy yen japanese-yen 円", 1],
  CHF: ["chf franc francs franken sfr swiss-franc swiss-francs schweizer-franken francs-suisses", 1],
  SEK: ["sek krona kronor swedish-krona swedish-kronor swedish-crowns schwedische-kronen couronnes-suédoises", 1],
  krone: ["kroner krone crown crowns kronen", 1],
  NOK: ["nok norwegian-krone norwegian-kroner norwegian-crowns norwegische-kronen couronnes-norvégiennes", 1],
  DKK: ["dkk danish-krone danish-kroner danish-crowns dänische-kronen couronnes-danoises", 1],
  CZK: ["czk koruna korunas czech-crowns czech-korunas tschechische-kronen", 1],
  CAD: ["cad c$ ca$ canadian-dollar canadian-dollars kanadische-dollar dollars-canadiens カナダドル", 1],
  AUD: ["aud a$ au$ australian-dollar australian-dollars australische-dollar dollars-australiens 豪ドル", 1],
  NZD: ["nzd nz$ new-zealand-dollar new-zealand-dollars", 1],
  HKD: ["hkd hk$ hong-kong-dollar hong-kong-dollars", 1],
  SGD: ["sgd s$ singapore-dollar singapore-dollars", 1],
  TWD: ["twd nt$ taiwan-dollars taiwanese-dollars", 1],
  CNY: ["cny yuan renminbi rmb chinese-yuan 元", 1],
  INR: ["inr ₹ rupee rupees indian-rupee indian-rupees rupien roupies ルピー", 1],
  KRW: ["krw ₩ won korean-won south-korean-won ウォン", 1],
  PLN: ["pln zloty złoty zlotys", 1],
  HUF: ["huf forint forints", 1],
  RUB: ["rub ₽ rouble roubles ruble rubles rubel roubles", 1],
  UAH: ["uah ₴ hryvnia hryvnias", 1],
  BRL: ["brl r$ reais brazilian-real brazilian-reais", 1],
  MXN: ["mxn mexican-peso mexican-pesos", 1],
  ZAR: ["zar south-african-rand", 1],
  ILS: ["ils ₪ shekel shekels", 1],
  AED: ["aed emirati-dirham emirati-dirhams uae-dirham uae-dirhams", 1],
  SAR: ["sar saudi-riyal saudi-riyals", 1],
  NGN: ["ngn ₦ naira", 1],
  KES: ["kes kenyan-shilling kenyan-shillings", 1],
  THB: ["thb ฿ baht", 1],
  IDR: ["idr rupiah", 1],
  MYR: ["myr ringgit", 1],
  ct: ["cent cents ct centimes", 1],
  m: ["m metre metres meter meters metern mètre mètres メートル", 1],
  "m*1000": ["km kilometre kilometres kilometer kilometers kilometern kilomètre kilomètres キロ キロメートル", 1000],
  "m*0.01": ["cm centimetre centimetres centimeter centimeters zentimeter centimètres", 0.01],
  "m*0.001": ["mm millimetre millimetres millimeter millimeters millimètres", 0.001],
  "m*1609.344": ["mile miles meilen", 1609.344],
  "m*0.3048": ["foot feet ft", 0.3048],
  m2: [
    "m² m2 square-metre square-metres square-meter square-meters quadratmeter quadratmetern mètres-carrés 平方メートル",
    1,
  ],
  "m2*1e4": ["ha hectare hectares hektar ヘクタール", 10_000],
  "m2*4046.856": ["acre acres", 4046.856],
  "m2*1e6": [
    "km² km2 square-kilometre square-kilometres square-kilometer square-kilometers quadratkilometer kilomètres-carrés 平方キロメートル",
    1_000_000,
  ],
  m3: ["m³ m3 cubic-metre cubic-metres cubic-meter cubic-meters kubikmeter kubikmetern mètres-cubes 立方メートル", 1],
  "m3*1e9": ["km³ km3 cubic-kilometre cubic-kilometres cubic-kilometers kubikkilometer kilomètres-cubes", 1e9],
  kg: ["kg kilogram kilograms kilogramm kilo kilos キログラム", 1],
  "kg*1000": ["t tonne tonnes tonnen tons ton トン", 1000],
  "kg*0.001": ["g gram grams gramm grammes グラム", 0.001],
  "kg*1e-6": ["mg milligram milligrams milligramm", 0.000_001],
  litre: ["l litre litres liter liters litern リットル", 1],
  W: ["w watt watts ワット", 1],
  "W*1e3": ["kw kilowatt kilowatts キロワット", 1e3],
  "W*1e6": ["mw megawatt megawatts メガワット", 1e6],
  "W*1e9": ["gw gigawatt gigawatts ギガワット", 1e9],
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
};

const UNITS: Readonly<Record<string, readonly [base: string, factor: number]>> = Object.fromEntries(
  Object.entries(TABLE).flatMap(([base, [names, factor]]) =>
    names.split(" ").map((name) => [name, [base.split("*")[0] ?? base, factor] as const]),
  ),
);

const UNIT_NAMES: readonly string[] = Object.keys(UNITS).toSorted((a, b) => b.length - a.length);

/** Signs that may also follow an amount. */
const SYMBOLS = "[$€£¥₹₩₽₴₪₦฿]";

const PREFIXES = Object.keys(UNITS).filter((name) => name.endsWith("$") && name.length > 1);
const CODES = Object.keys(TABLE).filter((base) => /^[A-Z]{3}$/.test(base));

/** Currency signs and codes that precede an amount. */
const SIGNS = String.raw`(?:(?:${PREFIXES.map((sign) => sign.replace("$", String.raw`\$`)).join("|")})|${SYMBOLS}|(?:${CODES.join("|")})\s?)`;

// Numbers that are written as words, in four languages, and the names of scales.

const ONES = [
  "zero zéro",
  "one un une",
  "two zwei deux twice zweimal",
  "three drei trois",
  "four vier quatre",
  "five fünf cinq",
  "six sechs",
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
].map((line) => line.split(" "));

const TENS = [
  "twenty zwanzig vingt",
  "thirty dreißig trente",
  "forty vierzig quarante",
  "fifty fünfzig cinquante",
  "sixty sechzig soixante",
  "seventy siebzig soixante-dix",
  "eighty achtzig quatre-vingts",
  "ninety neunzig quatre-vingt-dix",
].map((line) => line.split(" "));

const numbers = new Map<string, number>();
for (const [value, words] of ONES.entries()) for (const word of words) numbers.set(word, value);
for (const [index, [english = "", german = "", french = ""]] of TENS.entries()) {
  const tens = 20 + index * 10;
  for (const word of [english, german, french]) numbers.set(word, tens);
  for (const [one, words] of ONES.entries()) {
    if (one === 0 || one > 9) continue;
    const [inEnglish = "", , inFrench = ""] = one === 1 ? ["one", "", "et-un"] : words;
    numbers.set(`${english}-${inEnglish}`, tens + one);
    numbers.set(`${one === 1 ? "ein" : one === 6 ? "sechs" : words[1]}und${german}`, tens + one);
    if (tens < 70) numbers.set(`${french}-${one === 6 ? "six" : inFrench}`, tens + one);
  }
}
for (const [word, value] of [
  ["hundred", 100],
  ["hundert", 100],
  ["dozen", 12],
  ["a dozen", 12],
  ["ein dutzend", 12],
  ["une douzaine", 12],
] as const) {
  numbers.set(word, value);
}
// An article in French; only digits count there.
for (const article of ["un", "une"]) numbers.delete(article);

const NUMBER_WORDS: ReadonlyMap<string, number> = numbers;

const SCALE_NAMES: readonly (readonly [value: number, names: string])[] = [
  [100, "hundred hundert"],
  [1e3, "thousand k tausend tsd mille 千"],
  [1e4, "万"],
  [1e5, "lakh"],
  [1e6, "million millions mn mio millionen m"],
  [1e7, "crore"],
  [1e8, "億"],
  [1e9, "billion billions bn b milliarde milliarden mrd milliard milliards md"],
  [1e12, "trillion tn billionen 兆"],
];

const SCALES: Readonly<Record<string, number>> = Object.fromEntries(
  SCALE_NAMES.flatMap(([value, names]) => names.split(" ").map((name) => [name, value])),
);

/** Parts of a whole, in percent. */
const PARTS: readonly (readonly [RegExp, number])[] = [
  [/^(?:half|hälfte|moitié)/i, 50],
  [/(?:third|drittel|tiers)s?$/i, 100 / 3],
  [/(?:quarter|viertel|quart)s?$/i, 25],
  [/(?:fifth|fünftel|cinquième)s?$/i, 20],
  [/(?:tenth|zehntel|dixième)s?$/i, 10],
];

/** `a quarter of`, `two thirds of`, `by a tenth`, `die Hälfte der`. */
const FRACTION =
  /(?<![\p{L}\p{N}])(?:(?:a|one|ein|un)[\s-](?:third|quarter|fifth|tenth|drittel|viertel|fünftel|zehntel|tiers|quart|cinquième|dixième)|(?:two|three|zwei|drei|deux|trois)[\s-](?:thirds|quarters|fifths|tenths|drittel|viertel|fünftel|zehntel|tiers|quarts|cinquièmes|dixièmes)|(?:the\s)?half(?=\sof\s)|(?:die\s)?hälfte|(?:la\s)?moitié)(?=[\s.,;)]*$|[.,;)]|\s(?:of|der|des|de|du|d'|less|more|weniger|mehr)(?![\p{L}\p{N}]))/giu;

function percentOf(fraction: string): number | undefined {
  const text = fraction.replace(/^(?:the|die|la)\s/i, "");
  const part = PARTS.find(([pattern]) => pattern.test(text))?.[1];
  const times = /^(?:two|zwei|deux)/i.test(text) ? 2 : /^(?:three|drei|trois)/i.test(text) ? 3 : 1;
  return part === undefined ? undefined : part * times;
}
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
