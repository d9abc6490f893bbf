/** Pictures and Search Suggestions in an answer, as facts and links. */

import { z } from "zod";
import type { PictureFacts } from "../../reports/pictures/picture.ts";
import { describePicture, insertionLines, pictureAlt, locatePictures } from "../../reports/pictures/positions.ts";
import type { StoredResult } from "../../runs/run.ts";
import { list } from "./answer-text.ts";

/** URI of a picture as an MCP resource. */
export const pictureUri = (taskId: string, n: number | string): string => `research://runs/${taskId}/pictures/${n}`;

export const pictureField = z.array(z.looseObject({})).optional();
export const suggestionsField = z.array(z.string()).optional();

export type PictureLink = ReturnType<typeof pictureLink>;

const pictureLink = (taskId: string, picture: PictureFacts) => ({
  n: picture.n,
  uri: pictureUri(taskId, picture.n),
  mime_type: picture.mimeType,
  bytes: picture.byteLength,
  about: describePicture(picture),
});

export const pictureLinks = (taskId: string, { pictures = [] }: StoredResult): PictureLink[] =>
  pictures.map((picture) => pictureLink(taskId, picture));

/** The pictures that this part of a report links to. */
export function picturesIn(links: readonly PictureLink[], report: string | undefined): { pictures?: PictureLink[] } {
  const shown = links.filter(({ uri }) => report?.includes(`(${uri})`) === true);
  return shown.length === 0 ? {} : { pictures: shown };
}

/** Inserts a link at the position of each picture in the report and moves the citations. */
export function withPictureLinks(taskId: string, result: StoredResult): StoredResult {
  const { report, pictures = [], citations = [] } = result;
  if (pictures.length === 0) return result;
  const lines = report.split("\n");
  const at = insertionLines(report, locatePictures(report, pictures));
  const written: string[] = [];
  const moves: { from: number; by: number }[] = [];
  let from = 0;
  for (const [index, line] of [...lines, undefined].entries()) {
    for (const n of at.get(index) ?? []) {
      const link = ["", `![${pictureAlt(n)}](${pictureUri(taskId, n)})`, ""];
      written.push(...link);
      moves.push({ from, by: `${link.join("\n")}\n`.length });
    }
    if (line === undefined) break;
    written.push(line);
    from += line.length + 1;
  }
  const moved = (position: number): number =>
    moves.reduce((to, move) => (move.from <= position ? to + move.by : to), position);
  return {
    ...result,
    report: written.join("\n"),
    citations: citations.map(({ n, start, end }) => ({ n, start: moved(start), end: moved(start) + end - start })),
  };
}

/** Answers contain the first ones only; the dashboard and HTML files show all. */
const MAX_SUGGESTIONS = 10;

/** The suggestions as Markdown links; Google's terms require showing them with the answer. */
export async function suggestionLinks(received: readonly string[] = []): Promise<{ search_suggestions?: string[] }> {
  if (received.length === 0) return {};
  // Loaded here, because most processes never read HTML.
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
