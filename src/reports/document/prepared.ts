/**
 * The blocks of a report as documents show them: the title is taken out, headings have ids, only links that may be
 * followed are left, and pictures stand between the blocks. HTML and Word documents are written from them.
 */

import type { CitedRange } from "../citations.ts";
import { insertPictures } from "../pictures/html.ts";
import type { PictureFacts } from "../pictures/picture.ts";
import { locatePictures, type PicturePosition } from "../pictures/positions.ts";
import type { Source } from "../report.ts";
import { type DocumentPart, locatedDocument, numbersByUrl, type ParsedParts, parseParts } from "./document.ts";
import {
  addDirections,
  addHeadingIds,
  type Allowance,
  type ContentsEntry,
  createIds,
  markTasks,
  rewriteLinks,
  takeTitle,
} from "./presentation.ts";
import { indexSources, nameSource, type SourceIndex } from "./sources.ts";

export interface ReportText {
  report: string;
  sources: readonly Source[];
  /** In addition to the citations written in the text. */
  citations?: readonly CitedRange[] | undefined;
  pictures?: readonly PictureFacts[] | undefined;
}

/** Budget for the markup of links and citations: a hostile text could expand a few bytes to gigabytes. */
const MAX_ADDED_CHARACTERS = 8_000_000;

/** What the parts of a report share. It is complete when the last part was prepared. */
export interface Prepared {
  title: string | undefined;
  contents: ContentsEntry[];
  sources: SourceIndex;
  allowance: Allowance;
  idFor: (title: string) => string;
}

export const createPrepared = (sources: readonly Source[]): Prepared => ({
  title: undefined,
  contents: [],
  sources: indexSources(sources),
  allowance: { characters: MAX_ADDED_CHARACTERS },
  idFor: createIds(),
});

export function prepareParts(prepared: Prepared, text: ReportText): ParsedParts {
  const document = locatedDocument(text);
  const { parts, rest } = parseParts(document);
  const numberOf = numbersByUrl(text.sources);
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
      if (part.isFirst) prepared.title = takeTitle(tokens);
      addHeadingIds(tokens, { contents, idFor });
      rewriteLinks(tokens, { allowance, contents, numberOf, onLink: (link) => nameSource(sources, link) });
      markTasks(tokens);
      addDirections(tokens, part.text);
      yield { ...part, tokens: insertPictures(tokens, takeDuePictures(part)) };
    }
  }
  return { parts: preparedParts(), rest };
}
