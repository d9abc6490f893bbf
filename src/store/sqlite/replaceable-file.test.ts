import { copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { OpenDatabase } from "../database.ts";
import { openSqlite } from "./sqlite.ts";
import { silentLog as log } from "../../../test/kit/log.ts";

let directory: string;
let file: string;
let opened: OpenDatabase;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "gemini-search-file-"));
  file = join(directory, "deep_research.db");
  opened = await openSqlite(file, log);
  await sql`create table notes (text)`.execute(opened.db);
});

afterEach(async () => {
  await opened.close();
  rmSync(directory, { recursive: true, force: true });
});

const write = (text: string): Promise<unknown> => sql`insert into notes values (${text})`.execute(opened.db);

const inOtherProcess = <T>(use: (database: DatabaseSync) => T): T => {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  try {
    return use(database);
  } finally {
    database.close();
  }
};

/** Calls `action` at the end of the next insert, before the driver continues. */
function duringNextWrite(action: () => void): void {
  const { prototype } = DatabaseSync;
  // oxlint-disable-next-line typescript/unbound-method -- called with its own handle below
  const { prepare } = prototype;
  prototype.prepare = function (this: DatabaseSync, text: string) {
    const statement = prepare.call(this, text);
    if (!text.startsWith("insert")) return statement;
    prototype.prepare = prepare;
    const run = statement.run.bind(statement);
    return Object.assign(statement, {
      run: () => {
        const result = run("during");
        action();
        return result;
      },
    });
  };
}

describe("a database file that is open", () => {
  test("is not damaged by the log when a backup was copied over it during a write (P5)", async () => {
    const backup = join(directory, "backup.db");
    inOtherProcess((database) => database.prepare("vacuum into ?").run(backup));
    const larger = new DatabaseSync(backup);
    larger.exec("create table more (text); insert into more values (zeroblob(400000))");
    larger.close();
    await write("before");
    duringNextWrite(() => copyFileSync(backup, file));
    await write("during");
    for (const suffix of ["-wal", "-shm"]) rmSync(file + suffix);
    await write("after");
    await opened.close();
    const read = (text: string): unknown[] => inOtherProcess((database) => database.prepare(text).all());
    expect(read("pragma integrity_check")).toEqual([{ integrity_check: "ok" }]);
    expect(read("select sum(length(text)) as bytes from more")).toEqual([{ bytes: 400_000 }]);
    expect(read("select text from notes")).toEqual([{ text: "after" }]);
    opened = await openSqlite(file, log);
  });

  test("receives its log at intervals, so that the log does not grow without bound (P5)", async () => {
    for (let count = 0; count < 1_000; count += 1) await write("x".repeat(4_000));
    expect(statSync(`${file}-wal`).size).toBeLessThan(3_000_000);
    expect(statSync(file).size).toBeGreaterThan(3_000_000);
  });

  test("accepts writes while its log cannot be checkpointed (P5)", async () => {
    const { prototype } = DatabaseSync;
    // oxlint-disable-next-line typescript/unbound-method -- called with its own handle below
    const { prepare } = prototype;
    let refused = 0;
    prototype.prepare = function (this: DatabaseSync, text: string) {
      if (!text.includes("wal_checkpoint")) return prepare.call(this, text);
      refused += 1;
      throw new Error("disk I/O error");
    };
    try {
      for (let count = 0; count < 250; count += 1) await write("x");
    } finally {
      prototype.prepare = prepare;
    }
    expect(refused).toBe(2);
    const { rows } = await sql<{ n: number }>`select count(*) as n from notes`.execute(opened.db);
    expect(rows).toEqual([{ n: 250 }]);
  });
});
