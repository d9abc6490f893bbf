/** Turns the blocks of a report into sentences with their context and the citations written in the text. */

import { onOneLine } from "../../reports/report-facts.ts";
import { cut, MAX_LABEL_CHARACTERS, type TextBlock } from "./blocks.ts";
import { type CitationTargets, type InlineText, readInline } from "./inline.ts";
import { type Sentence, sentencesIn } from "./sentences.ts";

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

export function* draftsOf(blocks: readonly TextBlock[], targets: CitationTargets): Generator<Draft> {
  const plain = createPlainText(targets);
  let row: Row | undefined;
  for (const block of blocks) {
    if (block.cell === undefined || block.cell.row !== row?.number) {
      yield* row?.drafts ?? [];
      row = block.cell === undefined ? undefined : { number: block.cell.row, head: "", shared: [], drafts: [] };
    }
    if (row !== undefined) addCell(row, block, { targets, plain });
    else yield* proseDrafts(block, { targets, plain });
  }
  yield* row?.drafts ?? [];
}

interface Readers {
  targets: CitationTargets;
  /** Headings and labels without marks, cached because all claims below a heading share it. */
  plain: (markdown: string) => string;
}

function createPlainText(targets: CitationTargets): (markdown: string) => string {
  const known = new Map<string, string>();
  return (markdown) => {
    const before = known.get(markdown);
    if (before !== undefined) return before;
    const text = cut(onOneLine(readInline(cut(markdown, 500), targets).text), MAX_LABEL_CHARACTERS);
    known.set(markdown, text);
    return text;
  };
}

const positionIn = ({ lines }: TextBlock, index: number): number => {
  let low = 0;
  for (let high = lines.length; high - low > 1;) {
    const middle = (low + high) >> 1;
    if ((lines[middle]?.at ?? 0) <= index) low = middle;
    else high = middle;
  }
  return (lines[low]?.start ?? 0) + index - (lines[low]?.at ?? 0);
};

interface Row {
  number: number;
  /** Text of the first cell, which names the row. */
  head: string;
  /** Citations of the first cell, and of cells with nothing else. */
  shared: Cite[];
  drafts: Draft[];
}

function addCell(row: Row, block: TextBlock, { targets, plain }: Readers): void {
  const inline = readInline(block.content, targets);
  const text = onOneLine(inline.text);
  const start = positionIn(block, inline.indices[0] ?? 0);
  const end = positionIn(block, (inline.indices.at(-1) ?? block.content.length - 1) + 1);
  const cites = inline.marks.flatMap(({ sources }) => sources.map((source) => ({ at: end, source, isGoogle: false })));
  const isFirst = block.cell?.column === 0;
  const isLinks = isLabelled(inline, { start: 0, end: inline.text.length });
  if (isFirst || isLinks || !/[\p{L}\p{N}]/u.test(text)) {
    if (isFirst) row.head = text;
    row.shared.push(...cites);
    for (const draft of row.drafts) draft.cites.push(...cites);
    return;
  }
  row.drafts.push({
    text,
    headings: block.headings.map(plain),
    context: [row.head, plain(block.cell?.head ?? "")].filter((label) => label !== ""),
    start,
    end,
    reach: { start: positionIn(block, 0), end: positionIn(block, block.content.length) },
    cites: [...row.shared, ...cites],
  });
}

/** `**Label:** text`, `**Label** – text` and, in a list item, `Label: text`. */
const BOLD_LABEL = /^\s{0,3}(?:\*\*|__)([^*_\n]{1,80}?)(?:\s?[:：]\s?(?:\*\*|__)|(?:\*\*|__)\s?(?:[:：]|[–—-]\s))\s*/u;
const PLAIN_LABEL = /^([^.:：!?\d\n[\]]{1,60}?)\s?[:：]\s+(?=\S)/u;

function* proseDrafts(block: TextBlock, { targets, plain }: Readers): Generator<Draft> {
  if (/^\[\^[^\s\][^]{1,60}\]:/.test(block.content)) return;
  const [mark = "", label] =
    BOLD_LABEL.exec(block.content) ?? (block.isListItem ? PLAIN_LABEL.exec(block.content) : null) ?? [];
  const hasText = label !== undefined && block.content.slice(mark.length).trim() !== "";
  if (hasText) block.setLabel(label);
  const from = hasText ? mark.length : 0;
  const inline = readInline(block.content.slice(from), targets);
  const context = [...block.lead.map(plain), ...(hasText ? [plain(label)] : [])];
  const at = (index: number): number => positionIn(block, from + index);
  const markdownIndex = (index: number): number => inline.indices[index] ?? block.content.length - from;
  const sentences = proseSentences(inline);
  const cites = citesOf(inline, sentences);
  for (const [index, { start, end }] of sentences.entries()) {
    const text = inline.text.slice(start, end);
    const own = cites[index] ?? [];
    if (!isClaim(text, { isCited: own.length > 0 })) continue;
    const next = sentences[index + 1];
    const stop = (inline.indices[end - 1] ?? 0) + 1;
    yield {
      text,
      headings: block.headings.map(plain),
      context,
      start: at(markdownIndex(start)),
      end: at(stop),
      reach: {
        start: index === 0 ? at(0) : at(markdownIndex(start)),
        end: next === undefined ? at(block.content.length - from) : at(markdownIndex(next.start)) - 1,
      },
      cites: own.map((source) => ({ at: at(stop), source, isGoogle: false })),
    };
  }
}

/** A sentence that consists of links only belongs to the one before. */
function proseSentences(inline: InlineText): Sentence[] {
  const sentences: Sentence[] = [];
  for (const sentence of sentencesIn(inline.text)) {
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

/** Questions, introductions of lists and single words state nothing. */
function isClaim(text: string, { isCited }: { isCited: boolean }): boolean {
  if (!/\p{L}{2}|\d/u.test(text) || /[?？]["'”’»」)]?$/u.test(text)) return false;
  if (isCited) return true;
  if (/[:：]$/u.test(text)) return false;
  return /[\p{L}\p{N}][\s'’-]+[\p{L}\p{N}]|\d|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]{4}/u.test(
    text,
  );
}
