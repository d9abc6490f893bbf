/** A change as people read it: the lines that differ and a few around them, with what is not ours covered. */

import { coverValues } from "./cover-values.ts";

const CONTEXT = 3;

export interface Change {
  file: string;
  before: string;
  after: string;
  /** The values that may be shown: those of our own entry. */
  known: ReadonlySet<string>;
}

/** The two differ in one stretch only, which is all that an entry of ours can change. */
export function unifiedDiff({ file, before, after, known }: Change): string {
  if (before === after) return "";
  const [old, now] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < Math.min(old.length, now.length) && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  // Covered as a whole, because a string may begin lines before; what differs only in there is a change all the same.
  const [oldShown, nowShown] = [linesOf(coverValues(before, known)), linesOf(coverValues(after, known))];
  const start = Math.max(0, head - CONTEXT);
  const around = Math.min(CONTEXT, tail);
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
  return lines.map((line) => line.slice(0, LONGEST_LINE)).join("\n");
}

/** A file on one line would fill the terminal. */
const LONGEST_LINE = 2_000;

const linesOf = (text: string): string[] => {
  const lines = text.split(/\r?\n/);
  // A line end at the end opens no further line.
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
};
