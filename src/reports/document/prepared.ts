/**
 * The blocks of a report as documents show them: the title is taken out, headings have ids, only links that may be
 * followed are left, and pictures stand between the blocks. HTML and Word documents are written from them.
 */

import type { Token } from "markdown-it";
import { insertPictures } from "../pictures/html.ts";
import { locatePictures, type PicturePosition } from "../pictures/positions.ts";
import type { FurtherText, ReportText } from "../further-text.ts";
import type { Source } from "../report.ts";
import {
  type Document,
  type DocumentPart,
  locatedDocument,
  numberedDocument,
  numbersByUrl,
  type ParsedParts,
  parseParts,
  renumbered,
} from "./document.ts";
import { createToken } from "./parser.ts";
import {
  addDirections,
  addHeadingIds,
  type ContentsEntry,
  createIds,
  markTasks,
  rewriteLinks,
  takeTitle,
} from "./presentation.ts";
import type { Allowance } from "./mathml.ts";
import { indexSources, nameSource, type SourceIndex } from "./sources.ts";

/** Budget for the markup of links and citations: a hostile text could expand a few bytes to gigabytes. */
const MAX_ADDED_CHARACTERS = 8_000_000;

/** What the parts of a report share. It is complete when the last part was prepared. */
export interface Prepared {
  title: string | undefined;
  contents: ContentsEntry[];
  sources: SourceIndex;
  allowance: Allowance;
  idFor: (title: string) => string;
  /** Those of the whole document. */
  known: readonly Source[];
  /** How many texts were prepared. */
  texts: number;
}

export const createPrepared = (sources: readonly Source[]): Prepared => ({
  title: undefined,
  known: sources,
  texts: 0,
  contents: [],
  sources: indexSources(sources),
  allowance: { characters: MAX_ADDED_CHARACTERS },
  idFor: createIds(),
});

const documentOf = (text: FurtherText | ReportText, sources: readonly Source[]): Document => {
  if (!("heading" in text)) return locatedDocument(text);
  const { numbers } = text;
  return numbers === undefined
    ? numberedDocument(text.report, sources)
    : renumbered(locatedDocument(text), { numbers, sources });
};

/** A further text has its heading instead of its title, and its own headings below it. */
export function prepareParts(prepared: Prepared, text: FurtherText | ReportText): ParsedParts {
  const heading = "heading" in text ? text.heading : undefined;
  const document = documentOf(text, prepared.known);
  const { parts, rest } = parseParts(document);
  const numberOf = numbersByUrl(document.sources);
  const order = (prepared.texts += 1);
  let pictures = locatePictures(text.report, text.pictures ?? []);
  const linesBefore = (position: number): number => document.text.slice(0, position).split("\n").length - 1;
  /** The pictures within a part, with lines relative to it; the last part shows all that are left. */
  function takeDuePictures({ start, repeated, next }: DocumentPart): PicturePosition[] {
    if (pictures.length === 0) return [];
    const last = next === undefined ? Infinity : linesBefore(next);
    const offset = linesBefore(start) - (repeated.split("\n").length - 1);
    const due = pictures.filter(({ line }) => line < last);
    pictures = pictures.filter(({ line }) => line >= last);
    return due.map(({ n, line }) => ({ n, line: line - offset }));
  }
  function* preparedParts(): Generator<DocumentPart> {
    const { contents, idFor, allowance, sources } = prepared;
    for (const part of parts) {
      const { tokens } = part;
      const title = part.isFirst ? takeTitle(tokens) : undefined;
      if (heading === undefined) prepared.title ??= title;
      else {
        subordinate(tokens, order);
        if (part.isFirst) tokens.unshift(...headingTokens(heading));
      }
      addHeadingIds(tokens, { contents, idFor });
      rewriteLinks(tokens, { allowance, contents, numberOf, onLink: (link) => nameSource(sources, link) });
      markTasks(tokens);
      addDirections(tokens, part.text);
      yield { ...part, tokens: insertPictures(tokens, takeDuePictures(part)) };
    }
  }
  return { parts: preparedParts(), rest };
}

/** Within another document headings are a level lower, and the labels of footnotes are those of this text. */
function subordinate(tokens: readonly Token[], order: number): void {
  for (const token of tokens) {
    if (token.type.startsWith("heading_")) token.tag = `h${Math.min(6, Math.max(2, Number(token.tag.slice(1))) + 1)}`;
    for (const each of [token, ...(token.children ?? [])])
      if (each.type.startsWith("footnote")) each.meta = { label: `${order} ${String(each.meta?.["label"])}` };
  }
}

function headingTokens(text: string): Token[] {
  const content = Object.assign(createToken("text"), { content: text });
  const inline = Object.assign(createToken("inline"), { content: text, children: [content] });
  return [createToken("heading_open", "h2", 1), inline, createToken("heading_close", "h2", -1)];
}
