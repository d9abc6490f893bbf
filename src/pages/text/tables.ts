/** Turns a table into one line per cell: `caption: row: column: value`, so that a value keeps what it is a value of. */

export interface Cell {
  text: string;
  /** The paragraphs of the cell. */
  blocks: string[];
  isHead: boolean;
  columns: number;
  rows: number;
}

export interface Table {
  caption: string;
  rows: Cell[][];
  /** How many rows `thead` contains. */
  headRows: number;
  /** Holds another table or long texts: the page uses it to arrange text, not to list values. */
  isLayout: boolean;
}

/** Spans above these bounds are hostile or a mistake. */
const MAX_COLUMNS = 200;
const MAX_ROW_SPAN = 200;
const MAX_VALUE_CHARACTERS = 600;
/** It is repeated for every cell. */
const MAX_CAPTION_CHARACTERS = 200;

export function tableLines(table: Table): string[] {
  const rows = spread(table.rows);
  const isLayout = table.isLayout || rows.some((row) => row.some(({ text }) => text.length > MAX_VALUE_CHARACTERS));
  if (isLayout)
    return [table.caption, ...table.rows.flat().flatMap(({ blocks }) => blocks)].filter((text) => text !== "");
  const headRows = countHeadRows(table, rows);
  const columnHeads = headsOf(rows.slice(0, headRows));
  const body = rows.slice(headRows);
  const caption = table.caption.slice(0, MAX_CAPTION_CHARACTERS).toWellFormed();
  const lines = body.flatMap((row) => rowLines(row, { caption, columnHeads }));
  // A table of one row has no values below its heads; its texts are values themselves.
  return body.length > 0 ? lines : rows.flat().flatMap(({ text }) => (text === "" ? [] : [line([caption, text])]));
}

/** Repeats a cell in every column and row that it spans, so that all rows have the same columns. */
function spread(rows: readonly Cell[][]): Cell[][] {
  const pending = new Map<number, { cell: Cell; left: number }>();
  return rows.map((cells) => {
    const row: Cell[] = [];
    const takePending = (): void => {
      for (let above = pending.get(row.length); above !== undefined; above = pending.get(row.length)) {
        above.left -= 1;
        if (above.left === 0) pending.delete(row.length);
        row.push(above.cell);
      }
    };
    for (const cell of cells) {
      takePending();
      for (let n = 0; n < cell.columns && row.length < MAX_COLUMNS; n += 1) {
        if (cell.rows > 1) pending.set(row.length, { cell, left: Math.min(cell.rows, MAX_ROW_SPAN) - 1 });
        row.push(cell);
      }
    }
    takePending();
    return row;
  });
}

function countHeadRows({ headRows }: Table, rows: readonly Cell[][]): number {
  if (headRows > 0) return Math.min(headRows, rows.length);
  const marked = rows.findIndex((row) => row.length === 0 || !row.every(({ isHead }) => isHead));
  if (marked > 0) return marked;
  return isPlainHead(rows) ? 1 : 0;
}

/** A table without marked heads: texts in the first row and a number in a later one. */
function isPlainHead([first = [], ...others]: readonly Cell[][]): boolean {
  if (first.length < 2 || others.length < 1 || others.flat().some(({ isHead }) => isHead)) return false;
  const hasFigure = ({ text }: Cell): boolean => /\d/.test(text);
  return !first.some(hasFigure) && others.flat().some(hasFigure);
}

/** Two head rows are read together: `Revenue 2025`. */
function headsOf(rows: readonly Cell[][]): string[] {
  const width = Math.max(0, ...rows.map((row) => row.length));
  return Array.from({ length: width }, (_, column) =>
    [...new Set(rows.map((row) => row[column]?.text ?? ""))].filter((text) => text !== "").join(" "),
  );
}

interface Surroundings {
  caption: string;
  columnHeads: readonly string[];
}

function rowLines(row: readonly Cell[], { caption, columnHeads }: Surroundings): string[] {
  const headColumn = row.length < 2 ? -1 : headColumnOf(row);
  const head = row[headColumn]?.text ?? "";
  const lines: string[] = [];
  for (const [column, cell] of row.entries()) {
    if (column === headColumn || cell.text === "" || row[column - 1] === cell) continue;
    lines.push(line([caption, head, columnHeads[column] ?? "", cell.text]));
  }
  return lines.length === 0 && head !== "" ? [line([caption, head])] : lines;
}

/** The marked head, or the first cell that is not only a number, such as the name after a rank. */
function headColumnOf(row: readonly Cell[]): number {
  const marked = row.findIndex(({ isHead, text }) => isHead && text !== "");
  if (marked !== -1) return marked;
  const named = row.findIndex(({ text }) => /\p{L}/u.test(text));
  return named === -1 ? 0 : named;
}

const line = (parts: readonly string[]): string => parts.filter((part) => part !== "").join(": ");
