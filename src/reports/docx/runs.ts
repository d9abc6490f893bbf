/** The text of a block as runs of a Word document: marks, links, citations, formulas and references to footnotes. */

import type { Token } from "markdown-it";
import {
  ExternalHyperlink,
  FootnoteReferenceRun,
  InternalHyperlink,
  type IParagraphOptions,
  type IRunOptions,
  Paragraph,
  type ParagraphChild,
  TextRun,
} from "docx";
import { citationOf } from "../document/citation-tokens.ts";
import { formulaOf } from "../document/formulas.ts";
import { type Allowance, mathml } from "../document/mathml.ts";
import type { Prepared } from "../document/prepared.ts";
import { hasRightToLeft, isRightToLeft } from "../document/presentation.ts";
import type { Picture } from "../pictures/picture.ts";
import { readableFormula } from "./readable-formula.ts";

/** What the blocks of a document share. */
export interface Writing {
  prepared: Prepared;
  pictures: ReadonlyMap<number, Picture>;
  maths: Allowance;
  /** By the id of a heading: Word allows 40 characters. */
  bookmarks: Map<string, string>;
  /** By label, in the order of the references. */
  notes: Map<string, Note>;
  /** Lists of their own numbering. */
  lists: number;
}

interface Note {
  id: number;
  inline: Token | undefined;
}

export const SOFT = "F2F3F5";
export const LINE = "C9CCD1";
export const MONOSPACE = "Consolas";

/** Characters that no XML document may contain. */
// oxlint-disable-next-line no-control-regex -- they are what is sought
const NOT_XML = /[\0-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g;

export const textRun = (text: string, options: IRunOptions = {}): TextRun =>
  new TextRun({
    ...options,
    text: text.replaceAll(NOT_XML, "").toWellFormed(),
    ...(hasRightToLeft(text) ? { rightToLeft: true } : {}),
  });

export const plainParagraph = (text: string, options: IParagraphOptions): Paragraph =>
  new Paragraph({ ...options, ...directionOf(text), children: [textRun(text)] });

export const directionOf = (text: string): { bidirectional?: true } =>
  isRightToLeft(text) ? { bidirectional: true } : {};

export function formulaText(token: Token, { maths }: Writing): string {
  const formula = formulaOf(token);
  if (formula === undefined) return "";
  const shown = mathml(formula, maths);
  return shown === undefined ? formula.source : readableFormula(shown);
}

export function noteOf({ notes }: Writing, label: string): Note {
  const note = notes.get(label) ?? { id: notes.size + 1, inline: undefined };
  notes.set(label, note);
  return note;
}

/** A block as far as it is written. */
interface Written {
  writing: Writing;
  runs: ParagraphChild[];
  /** The options of the marks that are open, and those of the whole block. */
  marks: Partial<IRunOptions>[];
  link: { href: string; children: ParagraphChild[] } | undefined;
}

const write = ({ link, runs }: Written, ...children: ParagraphChild[]): void =>
  void (link?.children ?? runs).push(...children);

function writeText(written: Written, content: string, more: Partial<IRunOptions> = {}): void {
  const style = written.link === undefined ? {} : { style: "Hyperlink" };
  if (content !== "") write(written, textRun(content, Object.assign({}, ...written.marks, style, more)));
}

const open = (options: Partial<IRunOptions>) => (written: Written) => void written.marks.push(options);
const close = (written: Written): void => void written.marks.pop();

/** By type of token; any other has no text. */
const WRITERS: Readonly<Record<string, (written: Written, token: Token) => void>> = {
  strong_open: open({ bold: true }),
  em_open: open({ italics: true }),
  s_open: open({ strike: true }),
  strong_close: close,
  em_close: close,
  s_close: close,
  text: (written, { content }) => writeText(written, content),
  mark: (written, { content }) => writeText(written, content),
  softbreak: (written) => writeText(written, " "),
  hardbreak: (written) => write(written, new TextRun({ break: 1 })),
  code_inline: (written, { content }) => writeText(written, content, { font: MONOSPACE, size: 20 }),
  formula: (written, token) => writeText(written, formulaText(token, written.writing)),
  task: (written, { meta }) => writeText(written, meta?.["isDone"] === true ? "☑ " : "☐ "),
  footnote: (written, { meta }) =>
    write(written, new FootnoteReferenceRun(noteOf(written.writing, String(meta?.["label"])).id)),
  citation: (written, token) => write(written, ...citationRuns(token, written.writing)),
  link_open: (written, token) => void (written.link = { href: String(token.attrGet("href")), children: [] }),
  link_close: (written) => {
    const { link } = written;
    written.link = undefined;
    if (link !== undefined) write(written, linkTo(link, written.writing));
  },
};

export function runsOf(
  inline: Token | undefined,
  writing: Writing,
  outer: Partial<IRunOptions> = {},
): ParagraphChild[] {
  const written: Written = { writing, runs: [], marks: [outer], link: undefined };
  for (const token of inline?.children ?? []) WRITERS[token.type]?.(written, token);
  return written.runs;
}

function linkTo({ href, children }: { href: string; children: ParagraphChild[] }, writing: Writing): ParagraphChild {
  return href.startsWith("#")
    ? new InternalHyperlink({ anchor: bookmarkOf(writing, href.slice(1)), children })
    : new ExternalHyperlink({ link: href, children });
}

function citationRuns(token: Token, { prepared }: Writing): ParagraphChild[] {
  const { numbers = [], sources = [] } = citationOf(token) ?? {};
  return sources.map((n, index) => {
    const source = n === undefined ? undefined : prepared.sources.byNumber.get(n);
    if (source === undefined) return textRun(`[${n ?? numbers[index]}]`);
    const run = textRun(`[${n}]`, { superScript: true, style: "Hyperlink" });
    return new InternalHyperlink({ anchor: `source-${source.n}`, children: [run] });
  });
}

export function bookmarkOf({ bookmarks }: Writing, id: string): string {
  const name = bookmarks.get(id) ?? `section-${bookmarks.size + 1}`;
  bookmarks.set(id, name);
  return name;
}

export const textParagraph = (inline: Token | undefined, options: IParagraphOptions, writing: Writing): Paragraph =>
  new Paragraph({ ...options, ...directionOf(inline?.content ?? ""), children: runsOf(inline, writing) });
