/**
 * Reads the Markdown of one paragraph or cell as plain text, and its citation marks and links as positions in that
 * text.
 */

import { MARK, numbersIn } from "../../reports/citations/positions.ts";

/** How a report's marks and links lead to source numbers. */
export interface CitationTargets {
  numbered(numbers: readonly number[], isGoogleMark: boolean): number[];
  linked(url: string): number | undefined;
  /** The URL that the report defines for a label, as in `[1]: url`. */
  defined(label: string): string | undefined;
  footnote(label: string): number[] | undefined;
}

interface CitationMark {
  /** Characters of the plain text before the mark. */
  at: number;
  sources: number[];
  /** Where the cited text begins, if `[cite_start]` says so. */
  from?: number | undefined;
  /** The mark is the label of a link, which is part of the text before `at`. */
  labelFrom?: number | undefined;
}

export interface InlineText {
  text: string;
  /** The index in the Markdown of each character of the text. */
  indices: number[];
  marks: CitationMark[];
}

const URL_PATTERN = String.raw`https?:\/\/[^\s()<>[\]]{1,2000}(?:\([^\s()<>]{0,200}\)[^\s()<>[\]]{0,200})?`;

/** Everything that is not plain text; lengths are bounded. */
const PATTERNS = {
  escape: /\\[!-/:-@[-`{-~]/y,
  citeStart: /\[cite_start\]/iy,
  image: /!\[[^[\]]{0,300}\]\([^()\n]{0,2000}\)/y,
  link: new RegExp(
    String.raw`\[((?:[^[\]\n]|\[[^[\]\n]{0,40}\]){1,300})\]\(\s{0,3}<?(${URL_PATTERN})>?(?:\s{1,3}"[^"\n]{0,300}")?\s{0,3}\)`,
    "iy",
  ),
  reference: /\[(?!\^)([^[\]\n]{1,300})\]\[([^[\]\n]{1,60})\]/y,
  footnote: /\[\^([^\s\][^]{1,60})\]/y,
  mark: new RegExp(MARK, "iy"),
  autolink: new RegExp(`<(${URL_PATTERN})>`, "iy"),
  tag: /<\/?[a-z][a-z0-9]{0,15}(?:\s[^<>\n]{0,200})?\/?>/iy,
  address: new RegExp(URL_PATTERN, "iy"),
  code: /`{1,3}([^`\n]{1,2000})`{1,3}/y,
  emphasis: /\*{1,3}|~~|(?<![\p{L}\p{N}])_{1,3}(?=\S)|(?<=\S)_{1,3}(?![\p{L}\p{N}])/uy,
};

/** Where one of the patterns may begin. */
const CANDIDATE = /[\\[!<*_~`]|https?:/gi;

type Kind = keyof typeof PATTERNS;

/** In the order in which they are tried at one position. */
const KINDS: readonly Kind[] = [
  "escape",
  "citeStart",
  "image",
  "link",
  "mark",
  "reference",
  "footnote",
  "autolink",
  "tag",
  "address",
  "code",
  "emphasis",
];

interface Found {
  /** The whole match and its groups. */
  groups: readonly (string | undefined)[];
  start: number;
  end: number;
}

interface Reading extends InlineText {
  content: string;
  targets: CitationTargets;
  /** Position of a `[cite_start]` that no `[cite: 1]` has used yet. */
  open: number | undefined;
}

export function readInline(content: string, targets: CitationTargets): InlineText {
  const reading: Reading = { content, targets, text: "", indices: [], marks: [], open: undefined };
  let copied = 0;
  for (const { index } of content.matchAll(CANDIDATE)) {
    if (index < copied) continue;
    const found = findAt(content, index);
    if (found === undefined) continue;
    keep(reading, copied, index);
    copied = found.end;
    const before = reading.marks.length;
    READERS[found.kind](reading, found);
    if (reading.marks.length > before) dropSpace(reading, copied);
  }
  keep(reading, copied, content.length);
  return withoutEmptyAsides(reading);
}

/** `cost more [1].` has no space before the full stop once the mark is taken out. */
function dropSpace(reading: Reading, at: number): void {
  const mark = reading.marks.at(-1);
  if (!reading.text.endsWith(" ") || !/^(?:[.,;:!?)]|$)/.test(reading.content.slice(at, at + 1))) return;
  reading.text = reading.text.slice(0, -1);
  reading.indices.pop();
  if (mark !== undefined) mark.at = reading.text.length;
}

function findAt(content: string, start: number): (Found & { kind: Kind }) | undefined {
  for (const kind of KINDS) {
    const pattern = PATTERNS[kind];
    pattern.lastIndex = start;
    const match = pattern.exec(content);
    if (match !== null) return { kind, groups: [...match], start, end: start + match[0].length };
  }
  return undefined;
}

function keep(reading: Reading, from: number, to: number): void {
  for (let index = from; index < to; index += 1) reading.indices.push(index);
  reading.text += reading.content.slice(from, to);
}

function cite(reading: Reading, sources: readonly number[], labelFrom?: number): void {
  reading.marks.push({ at: reading.text.length, sources: [...sources], labelFrom });
}

/** Keeps a label that reads as part of the sentence; a number, a domain or an aside is only a mark. */
function link(reading: Reading, { start, end }: Found, { label, url }: { label: string; url: string }): void {
  const n = reading.targets.linked(url);
  const sources = n === undefined ? [] : [n];
  const [before, after] = [reading.text.slice(-4), reading.content.slice(end, end + 4)];
  const isAside =
    (/[(（][^()（）]{0,2}$/u.test(before) && /^[)）,;]/u.test(after)) ||
    // Between two sentences, or after the last one.
    (/[.!?。！？]["”’)]?\s?$/u.test(before) && /^\s*(?:$|[\p{Lu}\n[(])/u.test(after));
  if (isAside || !isProse(label)) return cite(reading, sources);
  const from = reading.text.length;
  for (const [index, character] of [...label].entries()) {
    if (/[*_`]/.test(character)) continue;
    for (let unit = 0; unit < character.length; unit += 1) reading.indices.push(Math.min(start + 1 + index, end - 1));
    reading.text += character;
  }
  cite(reading, sources, from);
}

/** False for a URL, a domain, a number and the word "source". */
const isProse = (label: string): boolean =>
  /\p{L}{2}/u.test(label) &&
  !/^(?:https?:\/\/|[\w-]+(?:\.[\w-]+)+\/?\S*$)/u.test(label) &&
  !/^\W*(?:sources?|link|quellen?|lien)\W*\d*\W*$/iu.test(label) &&
  !/^[^\p{L}]*(?:出典|リンク|参照)[^\p{L}]*$/u.test(label);

const READERS: Record<Kind, (reading: Reading, found: Found) => void> = {
  escape: (reading, { end }) => keep(reading, end - 1, end),
  citeStart: (reading) => {
    reading.open = reading.text.length;
  },
  image: () => {},
  link: (reading, found) => link(reading, found, { label: found.groups[1] ?? "", url: found.groups[2] ?? "" }),
  reference: (reading, found) => {
    const [, label = "", name = ""] = found.groups;
    const url = reading.targets.defined(name);
    if (url === undefined) keep(reading, found.start, found.end);
    else link(reading, found, { label, url });
  },
  footnote: (reading, { groups, start, end }) => {
    const sources = reading.targets.footnote(groups[1] ?? "");
    if (sources === undefined) keep(reading, start, end);
    else cite(reading, sources);
  },
  mark: (reading, found) => {
    const isGoogleMark = found.groups[1] !== undefined;
    // `array[1]` is no citation.
    if (!isGoogleMark && /\w/.test(reading.content[found.start - 1] ?? ""))
      return keep(reading, found.start, found.end);
    numbered(reading, found, { list: found.groups[2] ?? "", isGoogleMark });
  },
  autolink: (reading, { groups }) => address(reading, groups[1] ?? ""),
  tag: () => {},
  address: (reading, { groups }) => address(reading, groups[0] ?? ""),
  code: (reading, { groups, start }) => {
    const from = start + (groups[0] ?? "").indexOf(groups[1] ?? "");
    keep(reading, from, from + (groups[1] ?? "").length);
  },
  emphasis: () => {},
};

function address(reading: Reading, url: string): void {
  const n = reading.targets.linked(url.replace(/[.,;:!?'"]{1,5}$/u, "")) ?? reading.targets.linked(url);
  cite(reading, n === undefined ? [] : [n]);
}

/** A year in brackets that no source explains stays text. */
function numbered(
  reading: Reading,
  { start, end }: Found,
  { list, isGoogleMark }: { list: string; isGoogleMark: boolean },
): void {
  const numbers = numbersIn(list);
  const url = isGoogleMark || numbers.length > 1 ? undefined : reading.targets.defined(list.trim());
  const linked = url === undefined ? undefined : reading.targets.linked(url);
  const sources = linked === undefined ? reading.targets.numbered(numbers, isGoogleMark) : [linked];
  if (sources.length === 0 && !isGoogleMark && numbers.some((n) => n > 999)) return keep(reading, start, end);
  reading.marks.push({ at: reading.text.length, sources, from: isGoogleMark ? reading.open : undefined });
  if (isGoogleMark) reading.open = undefined;
}

const EMPTY_ASIDE =
  /\s?[(（［][\s,;、]{0,8}(?:(?:see|cf|sources?|quellen?|siehe|vgl|voir|出典|参照)[.:：]?)?[\s,;、]{0,8}[)）］]/giu;

/** Removes the parentheses that are left when the marks inside are taken out. */
function withoutEmptyAsides({ text, indices, marks }: InlineText): InlineText {
  const holes =
    marks.length === 0
      ? []
      : [...text.matchAll(EMPTY_ASIDE)].map(({ index, 0: { length } }) => [index, index + length] as const);
  if (holes.length === 0) return { text, indices, marks };
  let kept = "";
  const keptIndices: number[] = [];
  let copied = 0;
  for (const [from, to] of [...holes, [text.length, text.length] as const]) {
    kept += text.slice(copied, from);
    for (let index = copied; index < from; index += 1) keptIndices.push(indices[index] ?? 0);
    copied = to;
  }
  let hole = 0;
  let removed = 0;
  const moved = marks.map((mark) => {
    while (hole < holes.length && (holes[hole]?.[1] ?? Infinity) <= mark.at) {
      removed += (holes[hole]?.[1] ?? 0) - (holes[hole]?.[0] ?? 0);
      hole += 1;
    }
    const inside =
      holes[hole] !== undefined && mark.at > (holes[hole]?.[0] ?? 0) ? mark.at - (holes[hole]?.[0] ?? 0) : 0;
    return { ...mark, at: mark.at - removed - inside };
  });
  return { text: kept, indices: keptIndices, marks: moved };
}
