/** Turns the blocks of a report into sentences with their context and the citations written in the text. */

import { endIn, startIn } from "../../reports/document/ranges.ts";
import { type InlineText, labelOf, type TextBlock } from "./blocks.ts";
import { onOneLine } from "../../reports/report-facts.ts";
import { CELL_SEPARATOR, isCheckable } from "../evidence.ts";

interface Cite {
  /** Position in the report. */
  at: number;
  source: number;
  isGoogle: boolean;
}

export interface Draft {
  text: string;
  headings: string[];
  context: string[];
  /** In the report. */
  start: number;
  end: number;
  /** Where in the report a mark belongs to this sentence. */
  reach: { start: number; end: number };
  cites: Cite[];
}

export function* draftsOf(blocks: Iterable<TextBlock>): Generator<Draft> {
  let row: Row | undefined;
  for (const block of blocks) {
    if (block.cell === undefined || block.cell.row !== row?.number) {
      yield* row?.drafts ?? [];
      row =
        block.cell === undefined
          ? undefined
          : { number: block.cell.row, head: "", shared: [], hasOwnCites: false, drafts: [] };
    }
    if (row !== undefined) addCell(row, block);
    else yield* proseDrafts(block);
  }
  yield* row?.drafts ?? [];
}

interface Row {
  number: number;
  /** Text of the first cell, which names the row. */
  head: string;
  /** Citations of the first cell, and of cells with nothing else. */
  shared: Cite[];
  /** The last cell has sources of its own. */
  hasOwnCites: boolean;
  drafts: Draft[];
}

function addCell(row: Row, { inline, range, offset, headings, cell }: TextBlock): void {
  const text = onOneLine(inline.text);
  const start = offset + (text === "" ? range.start : startIn(inline.pieces, 0));
  const end = offset + (text === "" ? range.end : endIn(inline.pieces, inline.text.length));
  const cites = inline.marks.flatMap(({ sources }) => sources.map((source) => ({ at: end, source, isGoogle: false })));
  const isFirst = cell?.column === 0;
  const isLinks = isLabelled(inline, { start: 0, end: inline.text.length });
  if (isFirst || isLinks || !/[\p{L}\p{N}]/u.test(text)) {
    if (isFirst) row.head = text;
    row.shared.push(...cites);
    for (const draft of row.drafts) draft.cites.push(...cites);
    return;
  }
  const context = [row.head, cell?.head ?? ""].filter((label) => label !== "");
  const reach = { start: offset + range.start, end: offset + range.end };
  const draft = { text, headings, context, start, end, reach, cites: [...row.shared, ...cites] };
  const before = row.drafts.at(-1);
  // Cells without sources of their own are one claim.
  if (before === undefined || row.hasOwnCites || cites.length > 0) row.drafts.push(draft);
  else join(row, before, draft);
  row.hasOwnCites = cites.length > 0;
}

function join({ head }: Row, before: Draft, { text, context, end, reach }: Draft): void {
  const named = (label: string | undefined, value: string): string =>
    label === undefined ? value : `${label}: ${value}`;
  const labels = head === "" ? [] : [head];
  if (!before.text.includes(CELL_SEPARATOR)) before.text = named(before.context[labels.length], before.text);
  before.text += CELL_SEPARATOR + named(context[labels.length], text);
  before.context = labels;
  before.end = end;
  before.reach.end = reach.end;
}

const PLAIN_LABEL = /^([^.:：!?\d\n[\]]{1,60}?)\s?[:：]\s+(?=\S)/u;

/** `**Label:** text`, `**Label** – text` and, in a list item, `Label: text`. */
function leadingLabel({ inline: { text, bold }, isListItem }: TextBlock): { label: string; from: number } | undefined {
  const [strong, rest] = [text.slice(0, bold), text.slice(bold)];
  const inside = /^([^\n]{1,80}?)\s?[:：]\s?$/u.exec(strong)?.[1];
  const after = /^\s?(?:[:：]|[–—-]\s)\s*/u.exec(rest)?.[0];
  const [plain, named] = (isListItem ? PLAIN_LABEL.exec(text) : null) ?? [];
  if (inside !== undefined) return { label: inside, from: bold + (rest.length - rest.trimStart().length) };
  if (after !== undefined && /^[^\n]{1,80}$/u.test(strong)) return { label: strong, from: bold + after.length };
  return plain === undefined || named === undefined ? undefined : { label: named, from: plain.length };
}

function* proseDrafts(block: TextBlock): Generator<Draft> {
  const { inline, range, offset, headings, lead } = block;
  const { label, from } = leadingLabel(block) ?? { label: "", from: 0 };
  const hasText = inline.text.slice(from).trim() !== "";
  const context = label !== "" && hasText ? [...lead, labelOf(label)] : lead;
  const sentences = proseSentences(inline, hasText ? from : 0);
  const cites = citesOf(inline, sentences);
  for (const [index, { start, end }] of sentences.entries()) {
    const text = inline.text.slice(start, end);
    const own = cites[index] ?? [];
    if (!isClaim(text, { isCited: own.length > 0, hasLabel: context.length > 0 })) continue;
    const next = sentences[index + 1];
    const begin = offset + startIn(inline.pieces, start);
    const stop = offset + endIn(inline.pieces, end);
    yield {
      text,
      headings,
      context,
      start: begin,
      end: stop,
      reach: {
        start: index === 0 ? offset + range.start : begin,
        end: offset + (next === undefined ? range.end : startIn(inline.pieces, next.start) - 1),
      },
      cites: own.map((source) => ({ at: stop, source, isGoogle: false })),
    };
  }
}

/** A sentence that consists of links only belongs to the one before. */
function proseSentences(inline: InlineText, from: number): Sentence[] {
  const sentences: Sentence[] = [];
  for (const { start, end } of sentencesIn(inline.text.slice(from))) {
    const sentence = { start: from + start, end: from + end };
    if (sentences.length > 0 && isLabelled(inline, sentence)) continue;
    sentences.push(sentence);
  }
  return sentences;
}

/** Whether the range has no letters outside the labels of links. */
function isLabelled({ text, marks }: InlineText, { start, end }: Sentence): boolean {
  const labels = marks.filter(({ at, labelFrom }) => labelFrom !== undefined && labelFrom >= start && at <= end);
  if (labels.length === 0) return false;
  let outside = "";
  let from = start;
  for (const { at, labelFrom = at } of labels) {
    outside += text.slice(from, labelFrom);
    from = at;
  }
  return !/[\p{L}\p{N}]/u.test(outside + text.slice(from, end));
}

/** The sources that each sentence cites: a mark belongs to the sentence before it, `[cite_start]` begins a range. */
function citesOf({ marks }: InlineText, sentences: readonly Sentence[]): number[][] {
  const cites: number[][] = sentences.map(() => []);
  let current = 0;
  for (const { at, sources, from, labelFrom } of marks) {
    if (sources.length === 0) continue;
    const position = labelFrom === undefined ? at : labelFrom + 1;
    while (current + 1 < sentences.length && (sentences[current + 1]?.start ?? 0) < position) current += 1;
    cites[current]?.push(...sources);
    if (from === undefined) continue;
    for (let index = current - 1; index >= 0 && (sentences[index]?.end ?? 0) > from; index -= 1) {
      cites[index]?.push(...sources);
    }
  }
  return cites;
}

/** Questions, introductions of lists and single words state nothing; a word after a label does. */
function isClaim(text: string, { isCited, hasLabel }: { isCited: boolean; hasLabel: boolean }): boolean {
  if (!/\p{L}{2}|\d/u.test(text) || /[?？]["'”’»」)]?$/u.test(text)) return false;
  if (isCited && hasLabel) return true;
  if (!isCited && /[:：]$/u.test(text)) return false;
  return isCheckable({ text });
}

// Splits plain text into sentences: the Unicode rules, with abbreviations and ordinal numbers joined again.

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
