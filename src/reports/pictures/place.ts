/** Finds the place of a picture between the blocks of a report, and puts Markdown for it there. */

import { cleanText } from "../../platform/clean-text.ts";
import type { PictureFacts } from "./picture.ts";

export interface PlacedPicture {
  n: number;
  /** The first line of the cleaned text that may follow it, counted from 0. */
  line: number;
}

/** `report` is the text as Google sent it, whose bytes the offsets count; lines are those of its cleaned form. */
export function placePictures(
  report: string,
  pictures: readonly Pick<PictureFacts, "n" | "offsetByte">[],
): PlacedPicture[] {
  if (pictures.length === 0) return [];
  const bytes = Buffer.from(report);
  return pictures.map(({ n, offsetByte }) => {
    const before = cleanText(bytes.subarray(0, Math.max(0, offsetByte)).toString()).split("\n");
    // In the middle of a line: after that line.
    const line = before.at(-1)?.trim() === "" ? before.length - 1 : before.length;
    return { n, line };
  });
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}#{1,6}(?:[ \t]|$)/;

/**
 * Each picture stands as a paragraph of its own at the first place, at or after its line, where a block has ended. The
 * number of lines must be that of the cleaned report; more at its end do not matter.
 */
export function withPictures(
  text: string,
  places: readonly PlacedPicture[],
  markdownOf: (n: number) => string,
): string {
  if (places.length === 0) return text;
  const lines = text.split("\n");
  const waiting = places.toSorted((a, b) => a.line - b.line || a.n - b.n);
  const written: string[] = [];
  let fence: string | undefined;
  const isTitle = (line: string | undefined): boolean => line !== undefined && HEADING.test(line);
  const start = lines.findIndex((line) => line.trim() !== "");
  for (const [at, line] of lines.entries()) {
    const isBetween = line.trim() === "" || lines[at - 1]?.trim() === "" || at === 0;
    // The title of a report stays its first line.
    const isBeforeTitle = at <= start && isTitle(lines[start]);
    if (fence === undefined && isBetween && !isBeforeTitle) {
      while (waiting[0] !== undefined && waiting[0].line <= at)
        written.push("", markdownOf(waiting.shift()?.n ?? 0), "");
    }
    const marks = FENCE.exec(line)?.[1];
    if (fence === undefined) fence = marks;
    else if (marks?.startsWith(fence) === true && line.trim() === marks) fence = undefined;
    written.push(line);
  }
  for (const { n } of waiting) written.push("", markdownOf(n));
  return written.join("\n");
}

export const pictureAlt = (n: number): string => `Picture ${n}`;

const KILOBYTE = 1_024;

/** Such as "PNG, 640 × 480, 12 KB". */
export const describePicture = ({
  mimeType,
  width,
  height,
  byteLength,
}: Omit<PictureFacts, "n" | "hash" | "offsetByte">): string =>
  `${mimeType.slice("image/".length).toUpperCase()}, ${width} × ${height}, ${Math.ceil(byteLength / KILOBYTE)} KB`;
