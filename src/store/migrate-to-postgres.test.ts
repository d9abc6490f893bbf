import { sql } from "kysely";
import { expect, test } from "vitest";
import { openDatabase } from "../../test/kit/store/store-rows.ts";
import { COPIED_TABLES, NOT_COPIED_TABLES } from "./migrate-to-postgres.ts";

test("every table is copied to PostgreSQL or left behind on purpose (P7)", async () => {
  const db = await openDatabase();
  const { rows } = await sql<{ name: string }>`
    select name from sqlite_master where type = 'table' and name not like 'sqlite_%'
      and name not like 'kysely_%' and name not like 'research_search_%'`.execute(db);
  const known = [...COPIED_TABLES.map(({ name }) => name), ...NOT_COPIED_TABLES];
  expect(known.toSorted()).toEqual(rows.map(({ name }) => name).toSorted());
});
