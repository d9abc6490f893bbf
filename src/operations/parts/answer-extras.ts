/** Pictures and Search Suggestions in an answer: facts and links, few enough for a model to read. */

import { z } from "zod";
import type { PictureFacts } from "../../reports/pictures/picture.ts";
import { describePicture, insertionLines, pictureAlt, locatePictures } from "../../reports/pictures/positions.ts";
import type { StoredResult } from "../../runs/run.ts";
import { list } from "./answer-text.ts";

/** An address that MCP clients can read. */
export const pictureUri = (taskId: string, n: number | string): string => `research://runs/${taskId}/pictures/${n}`;

export const pictureField = z.array(z.looseObject({})).optional();
export const suggestionsField = z.array(z.string()).optional();

type PictureLink = ReturnType<typeof pictureLink>;

const pictureLink = (taskId: string, picture: PictureFacts) => ({
  n: picture.n,
  uri: pictureUri(taskId, picture.n),
  mime_type: picture.mimeType,
  bytes: picture.byteLength,
  about: describePicture(picture),
});

/** Those whose link stands in this part of a report. */
export function picturesIn(
  taskId: string,
  { pictures = [] }: StoredResult,
  report: string | undefined,
): { pictures?: PictureLink[] } {
  const links = pictures.map((picture) => pictureLink(taskId, picture));
  const shown = links.filter(({ uri }) => report?.includes(`(${uri})`) === true);
  return shown.length === 0 ? {} : { pictures: shown };
}

/** The result with a link at the place of each picture in its report; citations move with their text. */
export function withPictureLinks(taskId: string, result: StoredResult): StoredResult {
  const { report, pictures = [], citations = [] } = result;
  if (pictures.length === 0) return result;
  const lines = report.split("\n");
  const at = insertionLines(lines, locatePictures(report, pictures));
  const written: string[] = [];
  const moves: { from: number; bytes: number }[] = [];
  let from = 0;
  for (const [index, line] of [...lines, undefined].entries()) {
    for (const n of at.get(index) ?? []) {
      const link = ["", `![${pictureAlt(n)}](${pictureUri(taskId, n)})`, ""];
      written.push(...link);
      moves.push({ from, bytes: Buffer.byteLength(`${link.join("\n")}\n`) });
    }
    if (line === undefined) break;
    written.push(line);
    from += Buffer.byteLength(line) + 1;
  }
  const moved = (byte: number): number => moves.reduce((to, move) => (move.from <= byte ? to + move.bytes : to), byte);
  return {
    ...result,
    report: written.join("\n"),
    citations: citations.map(({ n, start_byte, end_byte }) => {
      const start = moved(start_byte);
      return { n, start_byte: start, end_byte: start + end_byte - start_byte };
    }),
  };
}

/** Answers name the first of them; the page and HTML files show all. */
const MAX_SUGGESTIONS = 10;

/** As Markdown links: Google's terms ask that they are shown with the answer. */
export async function suggestionLinks(received: readonly string[] = []): Promise<{ search_suggestions?: string[] }> {
  if (received.length === 0) return {};
  // It reads HTML, which most processes never do.
  const { readSuggestions, suggestionLink } = await import("../../reports/suggestions/chips.ts");
  const links = readSuggestions(received).chips.slice(0, MAX_SUGGESTIONS).map(suggestionLink);
  return links.length === 0 ? {} : { search_suggestions: links };
}

export const pictureLines = (pictures: readonly PictureLink[] = []): string[] =>
  list(
    "Pictures",
    pictures.map(({ n, about, uri }) => `${n}. ${about}: ${uri}`),
  );

export const suggestionLines = (suggestions: readonly string[] = []): string[] =>
  list(
    "Google Search Suggestions",
    suggestions.map((link) => `- ${link}`),
  );
