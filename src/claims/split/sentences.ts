/** Splits plain text into sentences: the Unicode rules, with abbreviations and ordinal numbers joined again. */

export interface Sentence {
  start: number;
  /** Without the space after it. */
  end: number;
}

/** Sentence boundaries hardly depend on the language; abbreviations are handled below. */
const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });

/** Words that end with a full stop inside a sentence, in English, German and French. */
const ABBREVIATION =
  /(?:^|[\s(“"„«'])(?:(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Gen|Col|Lt|Sen|Rep|Gov|Hr|Fr|Mme|Mlle|M|MM|No|Nos|Nr|Art|Abs|Abb|Tab|Fig|Figs|Eq|Sec|Ch|Vol|pp?|vs|cf|ca|approx|est|etc|incl|excl|resp|bzw|vgl|ggf|evtl|inkl|zzgl|usw|sog|max|min|Mio|Mrd|Tsd|Bd|Hrsg|Jh|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|Inc|Ltd|Co|Corp|Bros|al|env|av|apr|janv|févr|juil|déc|chap|éd|i\.e|e\.g|z\.\s?B|d\.\s?h|u\.\s?a|o\.\s?ä|i\.\s?d\.\s?R|u\.\s?U|c\.-à-d|p\.\s?ex|a\.m|p\.m)|(?:\p{Lu}\.)*\p{Lu}|z\. B)\.$/u;
/** `z. B.` and `p. ex.`, which the Unicode rules take apart. */
const SPACED_ABBREVIATION = /(?:^|[\s(])(?:[zduoip]|i\. d)\. (?:B|h|a|ä|U|d|R|ex)\./u;
/** `14. April` and `2. Quartal`. */
const ORDINAL = /(?:^|[\s(])\d{1,2}\.$/u;
const AFTER_ORDINAL =
  /^(?:\p{Ll}|Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Quartal|Halbjahr|Jahrhundert)/u;

/** Characters before a full stop that are examined. */
const MAX_ABBREVIATION_CHARACTERS = 14;

export function sentencesIn(text: string): Sentence[] {
  const sentences: Sentence[] = [];
  for (const { segment, index } of segmenter.segment(text)) {
    const start = index + (segment.length - segment.trimStart().length);
    const end = index + segment.trimEnd().length;
    if (end <= start) continue;
    const last = sentences.at(-1);
    if (last !== undefined && continues(text, last, start)) last.end = end;
    else sentences.push({ start, end });
  }
  return sentences;
}

function continues(text: string, before: Sentence, start: number): boolean {
  const ending = text.slice(Math.max(before.start, before.end - MAX_ABBREVIATION_CHARACTERS), before.end);
  const next = text.slice(start, start + MAX_ABBREVIATION_CHARACTERS);
  // A line break inside a paragraph ends no sentence.
  if (!/[.!?。！？…:;"'”’»)\]]$/u.test(ending)) return true;
  if (!ending.endsWith(".")) return /^\p{Ll}/u.test(next) && !/[。！？]["'”’»」』)]?$/u.test(ending);
  if (ABBREVIATION.test(ending) || SPACED_ABBREVIATION.test(`${ending} ${next}`)) return true;
  if (ORDINAL.test(ending)) return AFTER_ORDINAL.test(next);
  return /^\p{Ll}/u.test(next);
}
