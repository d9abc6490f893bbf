/** Reads a sentence as words, amounts, dates and breaks, in a form in which two sentences can be compared. */

import { type DateMention, datesIn } from "./dates.ts";
import { type Quantity, quantitiesIn } from "./quantities.ts";
import { stemOf } from "./stems.ts";
import { withoutPhrases } from "./synonyms.ts";
import { type Language, WORD_LISTS } from "./word-lists.ts";

export interface Token {
  kind: "word" | "number" | "date" | "stop" | "break";
  text: string;
  /** Equal for words that count as the same. */
  key: string;
  /** Capitalised although it is not the first word; German nouns are all capitalised and count as no names. */
  isName: boolean;
  isPossessive: boolean;
  quantity?: Quantity | undefined;
  date?: DateMention | undefined;
}

const PIECE =
  /[\p{L}\p{M}\p{N}]+(?:['’.-][\p{L}\p{M}\p{N}]+)*|[\p{Script=Han}]|[,;:()[\]{}"“”„«»–—…、。，「」『』（）・]|\s-\s/gu;

/** Quotation marks, dashes and widths in one form. */
export const normalized = (text: string): string =>
  text
    .normalize("NFKC")
    .replaceAll(/[‘’‛ʼ]/g, "'")
    .replaceAll(/(?<=\p{L})-\s*\n\s*(?=\p{Ll})/gu, "")
    .replaceAll(/\s+/g, " ");

/** After a preposition or with its zone; otherwise it may be a duration or a score. */
const TIME_OF_DAY =
  /(?:(?<=\b(?:at|around|um|gegen|à|vers)\s)(?:[01]?\d|2[0-3]):[0-5]\d|\b(?:[01]?\d|2[0-3]):[0-5]\d(?=\s?(?:UTC|GMT|CES?T|[ap]\.?m\b|Uhr|h\b)))(?:\s?(?:UTC|GMT|CES?T|[ap]\.?m\b\.?|Uhr|h\b))?/giu;

export function tokensOf(sentence: string, language: Language): Token[] {
  const text = withoutPhrases(normalized(sentence), language);
  const dates = datesIn(text);
  const times = [...mask(text, dates).matchAll(TIME_OF_DAY)].map(({ 0: written, index: start }) => ({
    written,
    start,
    end: start + written.length,
  }));
  const masked = mask(mask(text, dates), times);
  const quantities = quantitiesIn(masked, language);
  const rest = mask(masked, quantities);
  const tokens: (Token & { at: number })[] = [
    ...dates.map((date) => ({ ...token("date", text.slice(date.start, date.end)), date, at: date.start })),
    ...times.map(({ written, start }) => ({ ...token("word", written, written.replaceAll(/[\s.]/g, "")), at: start })),
    ...quantities.map((quantity) => ({
      ...token("number", text.slice(quantity.start, quantity.end).trim()),
      quantity,
      at: quantity.start,
    })),
    ...wordsIn(rest, language),
  ];
  return tokens.toSorted((a, b) => a.at - b.at).map(({ at: _at, ...rest_ }) => rest_);
}

const token = (kind: Token["kind"], text: string, key = text): Token => ({
  kind,
  text,
  key,
  isName: false,
  isPossessive: false,
});

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

function wordsIn(text: string, language: Language): (Token & { at: number })[] {
  const found: (Token & { at: number })[] = [];
  for (const { index, 0: piece } of text.matchAll(PIECE)) {
    if (/^[^\p{L}\p{N}]+$/u.test(piece)) found.push({ ...token("break", piece.trim()), at: index });
    else if (language === "ja") found.push(...japaneseWords(piece, index));
    else for (const word of europeanWords(piece, language)) found.push({ ...word, at: index });
  }
  const first = found.findIndex(({ kind }) => kind === "word" || kind === "stop");
  return found.map((word, at) => (at === first ? { ...word, isName: false } : word));
}

/** French elisions are words of their own: `l'architecte`. */
function europeanWords(piece: string, language: Language): Token[] {
  const [, elided, rest] = language === "fr" ? (/^((?:[cdjlmnst]|qu)')(.+)$/i.exec(piece) ?? []) : [];
  if (elided !== undefined && rest !== undefined) {
    return [wordToken(elided.replace("'", ""), language), wordToken(rest, language)];
  }
  return [wordToken(piece, language)];
}

function wordToken(piece: string, language: Language): Token {
  const isPossessive = language === "en" && /'s?$/.test(piece);
  const word = isPossessive ? piece.replace(/'s?$/, "") : piece;
  const lower = word.toLowerCase();
  const lists = WORD_LISTS[language];
  const isFunctionWord =
    lists.stop.has(lower) || lists.prepositions.has(lower) || lists.negations.has(lower) || lists.possible.has(lower);
  if (isFunctionWord && !lists.scope.has(lower)) return { ...token("stop", word, lower), isPossessive };
  const isName = language !== "de" && /^\p{Lu}/u.test(word);
  return { ...token("word", word, stemOf(lower, language)), isName, isPossessive };
}

/** Characters and katakana words; hiragana are endings and particles. */
function japaneseWords(piece: string, index: number): (Token & { at: number })[] {
  const found: (Token & { at: number })[] = [];
  for (const { index: at, 0: part } of piece.matchAll(
    /\p{Script=Han}|[\p{Script=Katakana}ー]+|[\p{Script=Hiragana}]+|[^\p{Script=Han}\p{Script=Katakana}\p{Script=Hiragana}ー]+/gu,
  )) {
    const kind = /^\p{Script=Hiragana}/u.test(part) ? "stop" : "word";
    found.push({ ...token(kind, part, part.toLowerCase()), at: index + at });
  }
  return found;
}

export const isContent = ({ kind }: Token): boolean => kind === "word" || kind === "number" || kind === "date";
