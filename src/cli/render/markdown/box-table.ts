/** Lays out a Markdown table with box characters, in columns that fit the width. */

import { widthOf } from "../text-width.ts";
import { type Line, paintLine, type Space, type Word, wrapWords } from "../words.ts";

export interface Cell {
  words: Word[];
  align: "left" | "right" | "center";
}

/** The first row holds the titles. */
export type Row = readonly Cell[];

/** Narrower columns break most words. */
const MIN_COLUMN_WIDTH = 6;
/** `│ ` before the first column, ` │ ` between two, ` │` at the end. */
const framing = (columns: number): number => 3 * columns + 1;

export function boxTable(rows: readonly Row[], space: Space): string[] {
  const widths = fitColumns(rows, space.width);
  return widths === undefined ? recordLines(rows, space) : frameLines(rows, widths, space);
}

/** Undefined when there are too many columns for the width. */
function fitColumns(rows: readonly Row[], width: number): number[] | undefined {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const room = width - framing(count);
  const natural = Array.from({ length: count }, (_, column) =>
    Math.max(1, ...rows.map((row) => lineWidth(row[column]?.words ?? []))),
  );
  const least = natural.map((wide) => Math.min(wide, MIN_COLUMN_WIDTH));
  if (count === 0 || sum(least) > room) return undefined;
  if (sum(natural) <= room) return natural;
  return shrinkWidest(natural, room);
}

/** Narrow columns keep their width; the wider ones share the rest. */
function shrinkWidest(natural: readonly number[], room: number): number[] {
  let [low, high] = [1, Math.max(...natural)];
  while (low < high) {
    const limit = Math.ceil((low + high) / 2);
    if (sum(natural.map((wide) => Math.min(wide, limit))) <= room) low = limit;
    else high = limit - 1;
  }
  const widths = natural.map((wide) => Math.min(wide, low));
  // What the last step of the limit left over goes to the columns that are still cut.
  let left = room - sum(widths);
  return widths.map((wide, column) => {
    const isGrown = left > 0 && wide < (natural[column] ?? 0);
    if (isGrown) left -= 1;
    return isGrown ? wide + 1 : wide;
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

const lineWidth = (words: readonly Word[]): number =>
  words.reduce(
    (total, { pieces, isSpaced }, index) =>
      total + (isSpaced && index > 0 ? 1 : 0) + sum(pieces.map(({ text }) => widthOf(text))),
    0,
  );

function frameLines(rows: readonly Row[], widths: readonly number[], space: Space): string[] {
  const { paint } = space;
  const rule = (left: string, middle: string, right: string): string =>
    paint("faint", `${left}${widths.map((wide) => "─".repeat(wide + 2)).join(middle)}${right}`);
  const bar = paint("faint", "│");
  const lines = rows.map((row) => {
    const cells = widths.map((width, column) => wrapWords(row[column]?.words ?? [], { width, breaksUrls: true }));
    const height = Math.max(1, ...cells.map((cell) => cell.length));
    return Array.from({ length: height }, (_, at) => {
      const shown = cells.map((cell, column) =>
        alignLine(cell[at], { width: widths[column] ?? 0, align: row[column]?.align ?? "left", space }),
      );
      return `${bar} ${shown.join(` ${bar} `)} ${bar}`;
    });
  });
  const [titles = [], ...body] = lines;
  // Rows of several lines are separated by rules.
  const isTall = body.some((row) => row.length > 1);
  const between = rule("├", "┼", "┤");
  return [
    rule("┌", "┬", "┐"),
    ...titles,
    ...body.flatMap((row, index) => (index === 0 || isTall ? [between, ...row] : row)),
    rule("└", "┴", "┘"),
  ];
}

function alignLine(
  line: Line | undefined,
  { width, align, space }: { width: number; align: Cell["align"]; space: Space },
): string {
  const free = width - (line?.width ?? 0);
  const before = align === "right" ? free : align === "center" ? Math.floor(free / 2) : 0;
  const text = line === undefined ? "" : paintLine(line, space);
  return `${" ".repeat(Math.max(0, before))}${text}${" ".repeat(Math.max(0, free - before))}`;
}

/** Each row as a list of `title: value`, for a window that is too narrow for columns. */
function recordLines([titles = [], ...rows]: readonly Row[], space: Space): string[] {
  return rows.flatMap((row, index) => [
    ...(index === 0 ? [] : [""]),
    ...row.flatMap(({ words }, column) => {
      const title = titles[column]?.words ?? [];
      const colon = { pieces: [{ text: ":", styles: [] }], isSpaced: false };
      const spaced = words.map((word, at) => (at === 0 ? { ...word, isSpaced: true } : word));
      const lines = wrapWords([...title, colon, ...spaced], { width: Math.max(2, space.width - 2) });
      return lines.map((line, at) => `${at === 0 ? "" : "  "}${paintLine(line, space)}`);
    }),
  ]);
}
