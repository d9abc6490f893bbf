/** Makes a database file with the schema before the first test: copying it is faster than running the migrations. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { openSqlite } from "../../../src/store/sqlite/sqlite.ts";
import { silentLog as log } from "../log.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The path of the file; absent in the project of PostgreSQL. */
    sqliteTemplate: string;
  }
}

export default async function setup(project: TestProject): Promise<() => void> {
  const directory = mkdtempSync(join(tmpdir(), "gemini-search-template-"));
  const file = join(directory, "deep_research.db");
  const { close } = await openSqlite(file, log);
  await close();
  project.provide("sqliteTemplate", file);
  return () => rmSync(directory, { recursive: true, force: true });
}
