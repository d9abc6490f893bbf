/** Pictures in a report as HTML: a place among the blocks of the text first, and the element itself after the allow-list. */

import type { Token } from "markdown-it";
import type { MakeToken } from "../html/tokens.ts";
import type { PictureFacts } from "./picture.ts";
import { describePicture, pictureAlt, type PlacedPicture } from "./place.ts";

/** Between two blocks of the text: never within a list, a table or a quotation. */
export function insertPictures(tokens: readonly Token[], places: readonly PlacedPicture[], make: MakeToken): Token[] {
  const waiting = places.toSorted((a, b) => a.line - b.line || a.n - b.n);
  const placed: Token[] = [];
  const take = (isDue: (place: PlacedPicture) => boolean): void => {
    for (let next = waiting[0]; next !== undefined && isDue(next); next = waiting[0]) {
      const token = make("picture", "figure", 0);
      token.meta = { n: next.n };
      placed.push(token);
      waiting.shift();
    }
  };
  for (const token of tokens) {
    const begins = token.level === 0 && token.nesting >= 0 ? token.map?.[0] : undefined;
    if (begins !== undefined) take(({ line }) => line <= begins);
    placed.push(token);
  }
  take(() => true);
  return placed;
}

/** What stands for a picture in HTML that is not yet known to be safe; no text of a report can write it. */
export const pictureMark = (n: number): string => `<figure id="picture-${n}"></figure>\n`;

const MARK = /<figure id="picture-(\d+)"><\/figure>/g;

/** Undefined where the picture cannot be shown in this document. */
export type PictureSource = (n: number) => string | undefined;

/** Without a source the page around it loads the picture, by its number. */
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
