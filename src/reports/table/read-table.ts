/** Reads the table in a model's answer: its JSON, or the complete rows of one that ends early; checks source numbers. */

import { parseJson } from "../../platform/parse-json.ts";
import { cellKey } from "../../gemini/interactions/request-body.ts";
import { cleanText } from "../../platform/clean-text.ts";
import { isRecord } from "../../platform/is-record.ts";
import { marksIn } from "../citations.ts";
import type { Cell, Table } from "./table.ts";

export interface ReadTable {
  table: Table;
  /** The JSON ends early or is damaged: rows after the last complete one are missing. */
  cut: boolean;
}

interface Asked {
  columns: readonly string[];
  /** Numbers of the report's sources. */
  known: ReadonlySet<number>;
}

/** Undefined if the text contains no table. */
export function readTable(text: string, asked: Asked): ReadTable | undefined {
  for (const { value, cut } of readings(text)) {
    const rows = rowsIn(value);
    if (rows === undefined) continue;
    const read = rows.flatMap((row) => rowOf(row, asked));
    // Rows of another shape are no rows of this table.
    if (rows.length > 0 && read.length === 0) continue;
    return { table: { columns: [...asked.columns], rows: read }, cut };
  }
  return undefined;
}

function* readings(text: string): Generator<{ value: unknown; cut: boolean }> {
  const whole = parseJson(text);
  if (whole !== undefined) yield { value: whole, cut: false };
  // Around it a model may write a sentence or a fence.
  const start = text.search(/[{[]/);
  if (start === -1) return;
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
  const inner = parseJson(text.slice(start, end + 1));
  if (inner !== undefined) yield { value: inner, cut: false };
  else yield { value: completeRows(text.slice(text.indexOf("[", start))), cut: true };
}

/** A bracket outside strings, a string, or the beginning of one without an end. */
const JSON_TOKEN = /[{}[\]]|"[^"\\]*(?:\\[^][^"\\]*)*"?/g;

/** The elements of a list up to where it ends early. Undefined without any. */
function completeRows(list: string): unknown[] | undefined {
  const rows: unknown[] = [];
  let depth = 0;
  let start = 0;
  for (const { 0: token, index } of list.matchAll(JSON_TOKEN)) {
    if (token === "{" || token === "[") {
      depth += 1;
      if (depth === 2) start = index;
    } else if (token === "}" || token === "]") {
      depth -= 1;
      if (depth === 1) rows.push(parseJson(list.slice(start, index + 1)));
      if (depth === 0) break;
    }
  }
  return rows.length === 0 ? undefined : rows;
}

function rowsIn(value: unknown): unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (!isRecord(value)) return undefined;
  if (Array.isArray(value["rows"])) return value["rows"];
  return Object.values(value).find((inner) => Array.isArray(inner));
}

/** Empty for what is no row, and for a row without any value. */
function rowOf(row: unknown, { columns, known }: Asked): Cell[][] {
  if (typeof row !== "object" || row === null) return [];
  const named = Array.isArray(row) ? undefined : new Map(Object.entries(row).map(([key, cell]) => [plain(key), cell]));
  const cells = columns.map((column, index) => {
    const given: unknown =
      named === undefined ? Object(row)[index] : (named.get(plain(cellKey(index))) ?? named.get(plain(column)));
    return cellOf(given, known);
  });
  return cells.some(({ value }) => value !== undefined) ? [cells] : [];
}

const plain = (name: string): string => name.trim().toLowerCase();

/** What models write instead of an empty value. */
const NOT_FOUND = /^(?:["'“”]{2}|not found|null|none|n\/a|-|–|—)?$/i;

function cellOf(given: unknown, known: ReadonlySet<number>): Cell {
  const { value: text, sources: list } = isRecord(given) ? given : { value: given, sources: [] };
  const cited = new Set((Array.isArray(list) ? list : [list]).map(numberOf));
  const whole = textOf(text).replaceAll(/\s+/g, " ");
  let value = "";
  let copied = 0;
  // A mark in the value names sources as well.
  for (const { start, end, numbers } of marksIn(whole)) {
    for (const n of numbers) cited.add(n);
    value += whole.slice(copied, start).trimEnd();
    copied = end;
  }
  value = (value + whole.slice(copied)).trim();
  if (NOT_FOUND.test(value)) return { sources: [], mark: "not found" };
  const named = [...cited].filter((n) => Number.isSafeInteger(n)).toSorted((a, b) => a - b);
  const sources = named.filter((n) => known.has(n));
  const unknown = named.filter((n) => !known.has(n));
  return {
    value,
    sources,
    ...(sources.length === 0 ? { mark: "no source" as const } : {}),
    ...(unknown.length === 0 ? {} : { unknown_sources: unknown }),
  };
}

/** Only of a number or text: converting a deeply nested list would exceed the stack. */
const numberOf = (value: unknown): number =>
  typeof value === "number" || (typeof value === "string" && value.trim() !== "") ? Number(value) : Number.NaN;

const textOf = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? cleanText(String(value)) : "";
