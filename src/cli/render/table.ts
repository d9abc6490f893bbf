/** Tables that fit a terminal: columns go in the order of their worth, and the last one takes what is left. */

import { type Look, type Paint, unpainted } from "./paint.ts";
import { cutToWidth, padToWidth, widthOf } from "./text-width.ts";

export interface Column<Row> {
  title: string;
  cell: (row: Row) => string;
  look?: (row: Row) => Look | undefined;
  align?: "right";
  /** Left out first, from 1 upwards, where the width does not hold all; without it never. */
  dropped?: number;
}

export interface TableSpace {
  width: number;
  paint?: Paint;
}

const GAP = "  ";
/** Less of a text tells nothing. */
const LEAST_LAST = 16;

/** The last column is cut to what the others leave; the others are as wide as what they hold. */
export function tableLines<Row>(
  columns: Column<Row>[],
  rows: Row[],
  { width, paint = unpainted }: TableSpace,
): string[] {
  const shown = fitting(columns, rows, width);
  const widths = shown.map((column) => naturalWidth(column, rows));
  const others = widths.slice(0, -1).reduce((sum, one) => sum + one + GAP.length, 0);
  widths[widths.length - 1] = Math.max(1, Math.min(widths.at(-1) ?? 0, width - others));
  const line = (cellOf: (column: Column<Row>) => string, lookOf: (column: Column<Row>) => Look | undefined): string =>
    shown
      .map((column, index) => {
        const cut = cutToWidth(cellOf(column), widths[index] ?? 0);
        const look = lookOf(column);
        const painted = look === undefined ? cut : paint(look, cut);
        const filler = " ".repeat(Math.max(0, (widths[index] ?? 0) - widthOf(cut)));
        if (column.align === "right") return filler + painted;
        return index === shown.length - 1 ? painted : painted + filler;
      })
      .join(GAP);
  return [
    line(
      ({ title }) => title,
      () => "faint",
    ).trimEnd(),
    ...rows.map((row) =>
      line(
        ({ cell }) => cell(row),
        ({ look }) => look?.(row),
      ),
    ),
  ];
}

const naturalWidth = <Row>({ title, cell }: Column<Row>, rows: Row[]): number =>
  rows.reduce((most, row) => Math.max(most, widthOf(cell(row))), widthOf(title));

function fitting<Row>(columns: Column<Row>[], rows: Row[], width: number): Column<Row>[] {
  const needed = columns
    .slice(0, -1)
    .reduce((sum, column) => sum + naturalWidth(column, rows) + GAP.length, Math.min(LEAST_LAST, width));
  const droppable = columns.filter(({ dropped }) => dropped !== undefined);
  if (needed <= width || droppable.length === 0) return columns;
  const [first] = droppable.toSorted((a, b) => (a.dropped ?? 0) - (b.dropped ?? 0));
  return fitting(
    columns.filter((column) => column !== first),
    rows,
    width,
  );
}

/** Without a terminal nothing is cut: columns are aligned and a script finds whole values. */
export function plainTable(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_title, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? ""))));
  return rows
    .map((row) =>
      row
        .map((cell, column) => padToWidth(cell, widths[column] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
    .join("\n");
}
