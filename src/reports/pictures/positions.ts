/** Finds the position of a picture between the blocks of a report, and inserts Markdown for it there. */

import { linesOf } from "../document/lines.ts";
import type { PictureFacts } from "./picture.ts";

export interface PicturePosition {
  n: number;
  /** The first line of the text that may follow the picture, counted from 0. */
  line: number;
}

export function locatePictures(
  report: string,
  pictures: readonly Pick<PictureFacts, "n" | "offset">[],
): PicturePosition[] {
  return pictures.map(({ n, offset }) => {
    const before = report.slice(0, Math.max(0, offset)).split("\n");
    // In the middle of a line: after that line.
    const line = before.at(-1)?.trim() === "" ? before.length - 1 : before.length;
    return { n, line };
  });
}

/**
 * Maps lines to the pictures to insert before them: the first position at or after a picture's own line where a block
 * has ended. The line after the last one is the end.
 */
export function insertionLines(text: string, positions: readonly PicturePosition[]): Map<number, number[]> {
  const lines = text.split("\n");
  const known = [...linesOf(text)];
  const waiting = positions.toSorted((a, b) => a.line - b.line || a.n - b.n);
  const found = new Map<number, number[]>();
  const title = lines.findIndex((line) => line.trim() !== "");
  const hasTitle = known[title]?.heading !== undefined;
  for (const [at, line] of lines.entries()) {
    const isBetween = line.trim() === "" || at === 0 || lines[at - 1]?.trim() === "";
    // The title of a report stays its first line.
    if (known[at]?.code === undefined && isBetween && !(hasTitle && at <= title)) {
      const due = waiting.splice(0, waiting.findLastIndex((position) => position.line <= at) + 1);
      if (due.length > 0)
        found.set(
          at,
          due.map(({ n }) => n),
        );
    }
  }
  if (waiting.length > 0)
    found.set(
      lines.length,
      waiting.map(({ n }) => n),
    );
  return found;
}

/** Inserts each picture as its own paragraph. */
export function withPictures(
  text: string,
  positions: readonly PicturePosition[],
  markdownOf: (n: number) => string,
): string {
  if (positions.length === 0) return text;
  const lines = text.split("\n");
  const at = insertionLines(text, positions);
  const pictures = (index: number): string[] => (at.get(index) ?? []).flatMap((n) => ["", markdownOf(n), ""]);
  return [...lines.flatMap((line, index) => [...pictures(index), line]), ...pictures(lines.length)].join("\n");
}

export const pictureAlt = (n: number): string => `Picture ${n}`;

const KILOBYTE = 1_024;

/** For example "PNG, 640 × 480, 12 KB". */
export const describePicture = ({
  mimeType,
  width,
  height,
  byteLength,
}: Omit<PictureFacts, "n" | "hash" | "offset">): string =>
  `${mimeType.slice("image/".length).toUpperCase()}, ${width} × ${height}, ${Math.ceil(byteLength / KILOBYTE)} KB`;
