/** Tables that fit a terminal: less important columns are dropped and the last one is cut. */

import { type Style, type Paint, unpainted } from "./paint.ts";
import { cutToWidth, widthOf } from "./text-width.ts";

export interface Column<Row> {
  title: string;
  cell: (row: Row) => string;
  style?: (row: Row) => Style | undefined;
  align?: "right";
  /** Columns with a lower number are dropped first when the width is too small; without a number never. */
  dropped?: number;
}

export interface TableSpace {
  /** Undefined: nothing is cut, as for a script. */
  width: number | undefined;
  paint?: Paint;
}

const GAP = "  ";
/** Width of the last column below which other columns are dropped. */
const MIN_LAST_COLUMN_WIDTH = 16;

/** The last column is cut to the remaining width; the others are as wide as their content. */
export function tableLines<Row>(
  columns: Column<Row>[],
  rows: Row[],
  { width = Number.POSITIVE_INFINITY, paint = unpainted }: TableSpace,
): string[] {
  const shown = fitting(columns, rows, width);
  const widths = shown.map((column) => naturalWidth(column, rows));
  const others = widths.slice(0, -1).reduce((sum, one) => sum + one + GAP.length, 0);
  widths[widths.length - 1] = Math.max(1, Math.min(widths.at(-1) ?? 0, width - others));
  const line = (cellOf: (column: Column<Row>) => string, styleOf: (column: Column<Row>) => Style | undefined): string =>
    shown
      .map((column, index) => {
        const cut = cutToWidth(cellOf(column), widths[index] ?? 0);
        const style = styleOf(column);
        // An empty cell must not end in codes, after which the spaces before it could not be removed.
        const painted = style === undefined || cut === "" ? cut : paint(style, cut);
        const filler = " ".repeat(Math.max(0, (widths[index] ?? 0) - widthOf(cut)));
        if (column.align === "right") return filler + painted;
        return index === shown.length - 1 ? painted : painted + filler;
      })
      .join(GAP)
      .trimEnd();
  return [
    line(
      ({ title }) => title,
      () => "faint",
    ),
    ...rows.map((row) =>
      line(
        ({ cell }) => cell(row),
        ({ style }) => style?.(row),
      ),
    ),
  ];
}

const naturalWidth = <Row>({ title, cell }: Column<Row>, rows: Row[]): number =>
  rows.reduce((max, row) => Math.max(max, widthOf(cell(row))), widthOf(title));

function fitting<Row>(columns: Column<Row>[], rows: Row[], width: number): Column<Row>[] {
  const needed = columns
    .slice(0, -1)
    .reduce((sum, column) => sum + naturalWidth(column, rows) + GAP.length, Math.min(MIN_LAST_COLUMN_WIDTH, width));
  const droppable = columns.filter(({ dropped }) => dropped !== undefined);
  if (needed <= width || droppable.length === 0) return columns;
  const [first] = droppable.toSorted((a, b) => (a.dropped ?? 0) - (b.dropped ?? 0));
  return fitting(
    columns.filter((column) => column !== first),
    rows,
    width,
  );
}
