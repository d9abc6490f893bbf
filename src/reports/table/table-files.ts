/** A table as CSV and JSON for files and downloads. */

import { cleanValue } from "../../platform/clean-text.ts";
import type { Source } from "../report.ts";
import type { Cell, Table } from "./table.ts";

export const TABLE_FORMATS = ["csv", "json"] as const;
export type TableFormat = (typeof TABLE_FORMATS)[number];

export interface TableFile {
  query: string;
  table: Table;
  sources: readonly Source[];
}

export function tableFile(format: TableFormat, given: TableFile): string {
  const file = cleanValue(given);
  // Excel reads UTF-8 only after a byte order mark.
  return format === "csv" ? `\uFEFF${tableCsv(file)}` : `${JSON.stringify(tableJson(file), null, 2)}\n`;
}

/** RFC 4180. Each column is followed by one with its sources, because a number in the text would spoil the value. */
export function tableCsv({ table: { columns, rows }, sources }: TableFile): string {
  const byNumber = new Map(sources.map((source) => [source.n, source]));
  const head = columns.flatMap((column) => [column, `${column} (sources)`]);
  const lines = rows.map((row) => row.flatMap((cell) => [cell.value ?? "", sourcesText(cell, byNumber)]));
  return csvLines([head, ...lines]);
}

/** Safe in spreadsheets. */
export const csvLines = (lines: readonly (readonly string[])[]): string =>
  lines.map((fields) => `${fields.map(csvField).join(",")}\r\n`).join("");

function sourcesText({ sources, mark, unknown_sources: unknown = [] }: Cell, byNumber: ReadonlyMap<number, Source>) {
  if (mark === "not found") return mark;
  const named = sources.map((n) => `[${n}] ${addressOf(byNumber.get(n))}`.trim());
  return [...named, ...(mark === undefined ? [] : [mark]), ...unknown.map((n) => `no such source: ${n}`)].join("; ");
}

const addressOf = (source: Source | undefined): string => source?.resolved_url ?? source?.url ?? "";

/** A number, with a sign or a unit of currency or per cent; a spreadsheet computes nothing with it. */
const NUMBER = /^[+-]?[\d.,\u00A0 ]*\d[\d.,\u00A0 ]*(?:%| ?[€$£])?$/;
/** The pattern takes quadratic time. */
const MAX_NUMBER_CHARACTERS = 40;
/** A spreadsheet takes a field that begins like this for a formula; full-width characters count as well. */
const FORMULA = /^[\s"']*[=+\-@|%＝＋－＠\t\r\n]/;

const isFormula = (text: string): boolean =>
  FORMULA.test(text) && !(text.length <= MAX_NUMBER_CHARACTERS && NUMBER.test(text.trim()));

/** A program that expects another separator starts a new field here, even within quotes. */
const OTHER_SEPARATOR = /([;|\t\r\n])/;

/** A formula gets an apostrophe, which spreadsheets show as text and do not evaluate. */
function csvField(text: string): string {
  const [first = "", ...others] = text.split(OTHER_SEPARATOR);
  const rest = others.map((part) => (isFormula(part) && !OTHER_SEPARATOR.test(part) ? `'${part}` : part)).join("");
  const safe = `${isFormula(text) ? "'" : ""}${first}${rest}`;
  return /[",\r\n;\t']|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const tableJson = ({ query, table: { columns, rows }, sources }: TableFile) => ({
  question: query,
  columns,
  rows: rows.map((row) =>
    row.map(({ value, ...cell }, index) => ({ column: columns[index], value: value ?? null, ...cell })),
  ),
  sources,
});
