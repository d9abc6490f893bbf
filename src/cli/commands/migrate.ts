/** `migrate`: moves the state from the database file to PostgreSQL. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { text as readAll } from "node:stream/consumers";
import type { App } from "../../app.ts";
import { AppError } from "../../errors.ts";
import { systemClock } from "../../platform/clock.ts";
import { type Comparison, migrateStore } from "../../store/migrate-to-postgres.ts";
import { openPostgres } from "../../store/postgres/postgres.ts";
import { storageError } from "../../store/sqlite/driver.ts";
import { openSqlite } from "../../store/sqlite/sqlite.ts";
import { openCommand } from "../answer-command.ts";
import { createProgressLine, EXIT_CODES, print } from "../output.ts";
import { printError } from "../print-error.ts";
import { type Column, tableLines } from "../render/table.ts";

export interface MigrateOptions {
  from?: string | undefined;
  /** `-` reads it from stdin. */
  to?: string | undefined;
  force: boolean;
  json: boolean;
}

interface Answer {
  tables: Comparison[];
  text: string;
}

interface Databases {
  file: string;
  url: string;
  /** Host and database of the URL, without credentials. */
  target: string;
}

export async function runMigrate({ from, to, force, json }: MigrateOptions): Promise<void> {
  const url = to === "-" ? (await readAll(process.stdin)).trim() : to;
  // Passed as settings, so that the log redacts the password.
  const flags = { DEEP_RESEARCH_DB: from && resolve(from), GEMINI_SEARCH_DATABASE_URL: url };
  const app = openCommand({ flags });
  const { shutdown } = app;
  const line = createProgressLine();
  try {
    const databases = databasesOf(app);
    const task = { app, databases, progress: throttled(line.show) };
    const { tables, text } = await shutdown.during(move(task, force));
    line.clear();
    const { file, target } = databases;
    const rows = tables.map(tableRow);
    const answer = { success: true, from: file, to: target, tables: rows };
    await print(
      json
        ? JSON.stringify(answer, null, 2)
        : [...tableLines(COLUMNS, tables, { width: undefined }), "", text].join("\n"),
    );
    await shutdown.leave(EXIT_CODES.ok);
  } catch (error) {
    line.clear();
    await shutdown.leave(await printError(storageError(error), json));
  }
}

function databasesOf({ config }: App): Databases {
  const { databaseFile: file, sharedDatabase } = config;
  if (!existsSync(file)) throw invalid(`There is no database at ${file}.`, "Name it with --from.");
  if (sharedDatabase === undefined) {
    throw invalid("No target database given.", "Set GEMINI_SEARCH_DATABASE_URL, or use --to.");
  }
  const { url } = sharedDatabase;
  return { file, url, target: URL.canParse(url) ? `${new URL(url).host}${new URL(url).pathname}` : "" };
}

const invalid = (message: string, suggestion: string): AppError =>
  new AppError({ code: "INVALID_INPUT", message, suggestion });

interface Task {
  app: App;
  databases: Databases;
  progress(subject: string, figure?: string): void;
}

async function move({ app, databases, progress }: Task, force: boolean): Promise<Answer> {
  const { log, shutdown } = app;
  const { file, url, target } = databases;
  const source = await openSqlite(file, log);
  try {
    const postgres = await openPostgres({ url, connections: 2, log });
    try {
      const refusal = await postgres.obstacle();
      if (refusal !== undefined) throw refusal;
      const both = { source: source.db, target: postgres.db, targetName: target };
      const { signal } = shutdown;
      const moved = await migrateStore({ ...both, force, now: systemClock.now(), signal, progress });
      const text = moved.wasFinished
        ? "The migration was completed earlier; nothing was changed. Any differences were written since then."
        : `Everything was copied to ${target} and compared. Set GEMINI_SEARCH_DATABASE_URL for servers and workers. The file is kept, with its schedules paused; stop using it.`;
      return { tables: moved.tables, text };
    } finally {
      await postgres.close();
    }
  } finally {
    await source.close();
  }
}

const tableRow = ({ table, source, target, same }: Comparison) => ({
  table,
  rows_from: source,
  rows_to: target,
  same,
});

const COLUMNS: Column<Comparison>[] = [
  { title: "TABLE", cell: ({ table }) => table },
  { title: "FROM", cell: ({ source }) => String(source), align: "right" },
  { title: "TO", cell: ({ target }) => String(target), align: "right" },
  { title: "", cell: ({ same }) => (same ? "same" : "DIFFERENT") },
];

const SHOW_INTERVAL_MS = 1_000;

/** Shows at most one figure per second of each subject. */
function throttled(show: (message: string) => void): Task["progress"] {
  let last = -Infinity;
  let lastSubject = "";
  return (subject, figure) => {
    if (subject === lastSubject && performance.now() - last < SHOW_INTERVAL_MS) return;
    last = performance.now();
    lastSubject = subject;
    show(figure === undefined ? subject : `${subject}: ${figure}`);
  };
}
