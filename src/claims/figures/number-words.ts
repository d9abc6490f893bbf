/** Numbers that are written as words, in four languages, and the names of scales. */

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

export const NUMBER_WORDS: ReadonlyMap<string, number> = numbers;

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

export const SCALES: Readonly<Record<string, number>> = Object.fromEntries(
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
export const FRACTION =
  /(?<![\p{L}\p{N}])(?:(?:a|one|ein|un)[\s-](?:third|quarter|fifth|tenth|drittel|viertel|fünftel|zehntel|tiers|quart|cinquième|dixième)|(?:two|three|zwei|drei|deux|trois)[\s-](?:thirds|quarters|fifths|tenths|drittel|viertel|fünftel|zehntel|tiers|quarts|cinquièmes|dixièmes)|(?:the\s)?half(?=\sof\s)|(?:die\s)?hälfte|(?:la\s)?moitié)(?=[\s.,;)]*$|[.,;)]|\s(?:of|der|des|de|du|d'|less|more|weniger|mehr)(?![\p{L}\p{N}]))/giu;

export function percentOf(fraction: string): number | undefined {
  const text = fraction.replace(/^(?:the|die|la)\s/i, "");
  const part = PARTS.find(([pattern]) => pattern.test(text))?.[1];
  const times = /^(?:two|zwei|deux)/i.test(text) ? 2 : /^(?:three|drei|trois)/i.test(text) ? 3 : 1;
  return part === undefined ? undefined : part * times;
}
