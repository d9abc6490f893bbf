/** Checksums, paging, and the completeness of the list of tables. */

import { sql } from "kysely";
import { expect, test } from "vitest";
import { openDatabase } from "../../../test/kit/store/store-rows.ts";
import { countRows, insertRows, pages, sumOf } from "./rows.ts";
import { FRACTIONS, NOT_COPIED_TABLES, COPIED_TABLES, type CopiedTable } from "./tables.ts";

const things = (name: string): CopiedTable => {
  const rows = sql<Record<string, unknown>>`select * from ${sql.table(name)}`;
  return { name, key: ["a", "b"], batch: 3, without: ["ignored"], inSource: rows, inTarget: rows };
};

async function twoTables() {
  const db = await openDatabase();
  await sql`create table one (a text, b integer, value blob, ignored integer, primary key (a, b))`.execute(db);
  await sql`create table two (ignored integer, value blob, b integer, a text, primary key (a, b))`.execute(db);
  const rows = ["x", "y", "z"].flatMap((a) => [1, 2, 3].map((b) => ({ a, b, value: `${a}${b}`, ignored: b })));
  await insertRows(db, "one", rows);
  await insertRows(db, "two", rows.toReversed());
  const sums = async () => [
    (await sumOf(db, things("one"), things("one").inSource)).sum,
    (await sumOf(db, things("two"), things("two").inSource)).sum,
  ];
  return { db, sums };
}

test("the checksum does not depend on the order of rows and columns", async () => {
  const { db, sums } = await twoTables();
  await sql`update two set ignored = 99`.execute(db);
  const [one, two] = await sums();
  expect(one).toBe(two);
});

test.each([
  ["a text", sql`update two set value = 'other' where a = 'y' and b = 2`],
  ["a null for an empty text", sql`update two set value = null where b = 1`],
  ["text for the same bytes", sql`update two set value = cast(value as blob) where a = 'x'`],
  [
    "a value of one row for that of another",
    sql`update two set value = case b when 1 then a || 2 when 2 then a || 1 else value end`,
  ],
  ["a row less", sql`delete from two where a = 'z' and b = 3`],
])("the checksum differs with %s", async (_what, change) => {
  const { db, sums } = await twoTables();
  await change.execute(db);
  const [one, two] = await sums();
  expect(one).not.toBe(two);
});

test("pages yield every row once, from any row on", async () => {
  const { db } = await twoTables();
  const { inSource: rows, key } = things("one");
  expect(await countRows(db, rows)).toBe(9);
  for (const batch of [1, 2, 3, 4, 8, 9, 10]) {
    const read: unknown[] = [];
    for await (const page of pages(db, { rows, key, batch, after: ["x", 2] })) {
      read.push(...page.map(({ value }) => value));
    }
    expect(read).toEqual(["x3", "y1", "y2", "y3", "z1", "z2", "z3"]);
  }
});

test("rows that are there already are not written again", async () => {
  const { db, sums } = await twoTables();
  const before = await sums();
  await insertRows(db, "one", [{ a: "x", b: 1, value: "changed", ignored: 0 }]);
  expect(await sums()).toEqual(before);
});

test("every table is moved or left behind on purpose", async () => {
  const db = await openDatabase();
  const { rows } = await sql<{ name: string }>`
    select name from sqlite_master where type = 'table' and name not like 'sqlite_%'
      and name not like 'kysely_%' and name not like 'research_search_%'`.execute(db);
  const known = [...COPIED_TABLES.map(({ name }) => name), ...NOT_COPIED_TABLES];
  expect(known.toSorted()).toEqual(rows.map(({ name }) => name).toSorted());
});

test("integers are moved exactly, except columns that the schema has as fractions (P7)", async () => {
  const db = await openDatabase();
  const { rows } = await sql<{ name: string }>`
    select c.name from sqlite_master as t join pragma_table_info(t.name) as c
    where t.type = 'table' and lower(c.type) = 'double precision'`.execute(db);
  expect(rows.map(({ name }) => name).toSorted()).toEqual(FRACTIONS);
});
