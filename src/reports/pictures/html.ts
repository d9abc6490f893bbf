/** Inserts pictures into report HTML: placeholders before sanitizing, the elements after it. */

import type { Token } from "markdown-it";
import { createToken } from "../document/parser.ts";
import type { PictureFacts } from "./picture.ts";
import { describePicture, pictureAlt, type PicturePosition } from "./positions.ts";

/** Inserts between two top-level blocks, never within a list, table or quote. */
export function insertPictures(tokens: readonly Token[], positions: readonly PicturePosition[]): Token[] {
  const waiting = positions.toSorted((a, b) => a.line - b.line || a.n - b.n);
  const result: Token[] = [];
  const take = (isDue: (position: PicturePosition) => boolean): void => {
    for (let next = waiting[0]; next !== undefined && isDue(next); next = waiting[0]) {
      const token = createToken("picture", "figure");
      token.meta = { n: next.n };
      result.push(token);
      waiting.shift();
    }
  };
  for (const token of tokens) {
    const begins = token.level === 0 && token.nesting >= 0 ? token.map?.[0] : undefined;
    if (begins !== undefined) take(({ line }) => line <= begins);
    result.push(token);
  }
  take(() => true);
  return result;
}

/** Placeholder for a picture in HTML that is not sanitized yet; no report text can produce it. */
export const pictureMark = (n: number): string => `<figure id="picture-${n}"></figure>\n`;

const MARK = /<figure id="picture-(\d+)"><\/figure>/g;

/** Returns undefined if the document cannot show the picture. */
export type PictureSource = (n: number) => string | undefined;

/** Without `sourceOf` the page loads the picture by its number. */
export function showPictures(
  html: string,
  pictures: readonly PictureFacts[],
  sourceOf: PictureSource | undefined,
): string {
  const byNumber = new Map(pictures.map((picture) => [String(picture.n), picture]));
  return html.replaceAll(MARK, (_mark, n: string) => {
    const picture = byNumber.get(n);
    return picture === undefined ? "" : figure(picture, sourceOf);
  });
}

function figure(picture: PictureFacts, sourceOf: PictureSource | undefined): string {
  const { n, width, height } = picture;
  const source = sourceOf?.(n);
  if (sourceOf !== undefined && source === undefined) {
    return `<p><em>${pictureAlt(n)} (${describePicture(picture)}) is too large for this file.</em></p>`;
  }
  const from = source === undefined ? `data-picture="${n}"` : `src="${source}"`;
  return `<figure class="picture" id="picture-${n}"><img alt="${pictureAlt(n)}" width="${width}" height="${height}" ${from}></figure>`;
}
