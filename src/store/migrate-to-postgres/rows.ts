/** Reads rows in pages, inserts them unchanged, and computes checksums of tables. */

import { hash } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import { type Database, storable } from "../database.ts";
import { FRACTIONS, type CopiedTable, type Row } from "./tables.ts";

export interface Paging {
  rows: RawBuilder<Row>;
  key: readonly string[];
  batch: number;
  /** Starts after the row with this key. */
  after?: readonly unknown[] | undefined;
}

/** Keyset pagination by primary key: needs no database cursor and holds one page in memory. */
export async function* pages(db: Database, { rows, key, batch, after }: Paging): AsyncGenerator<Row[]> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  let last = after;
  for (;;) {
    const beyond = last === undefined ? sql`` : sql`where (${columns}) > (${sql.join(last)})`;
    const page = await sql<Row>`
      select * from (${rows}) as moved ${beyond} order by ${columns} limit ${sql.lit(batch)}`.execute(db);
    if (page.rows.length > 0) yield page.rows.map(roundIntegers);
    if (page.rows.length < batch) return;
    last = keyOf(page.rows.at(-1), key);
  }
}

const roundIntegers = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      typeof value === "number" && !FRACTIONS.includes(column) ? Math.round(value) : value,
    ]),
  );

export const keyOf = (row: Row | undefined, key: readonly string[]): unknown[] =>
  key.map((column) => row?.[column] ?? null);

export async function countRows(db: Database, rows: RawBuilder<Row>): Promise<number> {
  const counted = await sql<{ count: number }>`select count(*) as count from (${rows}) as counted`.execute(db);
  return counted.rows[0]?.count ?? 0;
}

export const omitColumns = (row: Row, columns: readonly string[]): Row =>
  Object.fromEntries(Object.entries(row).filter(([column]) => !columns.includes(column)));

/** Existing rows are kept: nothing else writes to the target, so they are identical. */
export async function insertRows(db: Database, table: string, rows: readonly Row[]): Promise<void> {
  await insertInto(db, table, { rows, onConflict: sql`on conflict do nothing` });
}

/** Sets one column of existing rows. */
export async function updateColumn(
  db: Database,
  table: string,
  { rows, key, column }: { rows: readonly Row[]; key: string; column: string },
): Promise<void> {
  const name = sql.ref(column);
  const onConflict = sql`on conflict (${sql.ref(key)}) do update set ${name} = excluded.${name}`;
  await insertInto(db, table, { rows, onConflict });
}

async function insertInto(
  db: Database,
  table: string,
  { rows, onConflict }: { rows: readonly Row[]; onConflict: RawBuilder<unknown> },
): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`);
  await sql`
    insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
    values ${sql.join(values)} ${onConflict}`.execute(db);
}

export interface Sum {
  count: number;
  /** Sum of the hashes of all rows, independent of their order. */
  sum: string;
}

const MODULUS = 1n << 256n;

export async function sumOf(db: Database, { key, batch, without }: CopiedTable, rows: RawBuilder<Row>): Promise<Sum> {
  let [count, sum] = [0, 0n];
  for await (const page of pages(db, { rows, key, batch })) {
    for (const row of page) sum = (sum + hashOf(row, without)) % MODULUS;
    count += page.length;
  }
  return { count, sum: sum.toString(16) };
}

/** Both drivers return equal values, except for the column order and the class of binary data. */
function hashOf(row: Row, without: readonly string[]): bigint {
  const fields = Object.entries(row)
    .filter(([column]) => !without.includes(column))
    .map(([column, value]) => [column, canonical(value)] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return BigInt(`0x${hash("sha256", JSON.stringify(fields), "hex")}`);
}

function canonical(value: unknown): unknown {
  if (typeof value === "string") return storable(value);
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString("base64") };
  if (typeof value === "bigint") return Number(value);
  return value ?? null;
}
