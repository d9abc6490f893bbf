/** The names of the migrations. */

import { hash } from "node:crypto";
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteQueryCompiler,
} from "kysely";
import { expect, test } from "vitest";
import { MIGRATIONS } from "./migrate.ts";

/** The statements of a migration in both databases. */
async function statementsOf(migration: (typeof MIGRATIONS)[string]): Promise<string[]> {
  const statements: string[] = [];
  for (const [adapter, compiler] of [
    [new SqliteAdapter(), new SqliteQueryCompiler()],
    [new PostgresAdapter(), new PostgresQueryCompiler()],
  ] as const) {
    const db = new Kysely<never>({
      dialect: {
        createAdapter: () => adapter,
        createDriver: () => new DummyDriver(),
        createIntrospector: (own) => new PostgresIntrospector(own),
        createQueryCompiler: () => compiler,
      },
      log: ({ query }) => void statements.push(query.sql),
    });
    await migration.up(db);
  }
  return statements;
}

test("the name of a migration ends with the hash of its statements (P5)", async () => {
  for (const [name, migration] of Object.entries(MIGRATIONS)) {
    const statements = await statementsOf(migration);
    expect(statements.length).toBeGreaterThan(0);
    const sum = hash("sha256", statements.join("\n").replaceAll(/\s+/g, " ")).slice(0, 8);
    expect(name).toMatch(new RegExp(`^\\d{4}-[a-z-]+-${sum}$`));
  }
});
