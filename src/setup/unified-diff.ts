/** Formats a change as a unified diff, with the values of other entries masked. */

import { coverValues } from "./cover-values.ts";

const CONTEXT_LINES = 3;

export interface Change {
  file: string;
  before: string;
  after: string;
  /** The values that may be shown: those of our own entry. */
  known: ReadonlySet<string>;
}

/** The texts differ in one range only, which is all that one entry can change. */
export function unifiedDiff({ file, before, after, known }: Change): string {
  if (before === after) return "";
  const [old, now] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < Math.min(old.length, now.length) && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  // Masked as a whole, because a string may span lines; a difference in masked text still counts as a change.
  const [oldShown, nowShown] = [linesOf(coverValues(before, known)), linesOf(coverValues(after, known))];
  const start = Math.max(0, head - CONTEXT_LINES);
  const around = Math.min(CONTEXT_LINES, tail);
  const [oldEnd, nowEnd] = [old.length - tail, now.length - tail];
  const range = (length: number, end: number): string => `${length === 0 ? 0 : start + 1},${end + around - start}`;
  const lines = [
    `--- ${file}`,
    `+++ ${file}`,
    `@@ -${range(old.length, oldEnd)} +${range(now.length, nowEnd)} @@`,
    ...oldShown.slice(start, head).map((line) => ` ${line}`),
    ...oldShown.slice(head, oldEnd).map((line) => `-${line}`),
    ...nowShown.slice(head, nowEnd).map((line) => `+${line}`),
    ...nowShown.slice(nowEnd, nowEnd + around).map((line) => ` ${line}`),
  ];
  return lines.map((line) => line.slice(0, MAX_LINE_CHARACTERS)).join("\n");
}

/** A file on one line would fill the terminal. */
const MAX_LINE_CHARACTERS = 2_000;

const linesOf = (text: string): string[] => {
  const lines = text.split(/\r?\n/);
  // A final line end does not start another line.
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
};
