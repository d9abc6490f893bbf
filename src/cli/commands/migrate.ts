/** Moves the state from its file to PostgreSQL, from the terminal: counted first, compared last, stopped at any time. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { text as readAll } from "node:stream/consumers";
import type { App } from "../../app.ts";
import { AppError } from "../../errors.ts";
import { systemClock } from "../../platform/clock.ts";
import type { OpenDatabase } from "../../store/database.ts";
import { schemaState } from "../../store/migrate.ts";
import {
  type Comparison,
  compareStores,
  countStores,
  differing,
  type Move,
  moveStore,
  refuseOtherTarget,
} from "../../store/migrate-to-postgres/copy.ts";
import { openPostgres, readOnlyPostgres } from "../../store/postgres/postgres.ts";
import { openSqlite, readOnly } from "../../store/sqlite/sqlite.ts";
import { storageError } from "../../store/sqlite/errors.ts";
import { openCommand } from "../answer-command.ts";
import { createProgressLine, print } from "../output.ts";
import { printError } from "../print-error.ts";
import { EXIT_CODES } from "../exit-codes.ts";

export interface MigrateOptions {
  from?: string | undefined;
  /** `-` reads it from stdin. */
  to?: string | undefined;
  does: "move" | "count" | "compare";
  force: boolean;
  json: boolean;
}

interface Answer {
  tables: Comparison[];
  text: string;
  failed?: boolean;
}

interface Places {
  file: string;
  url: string;
  place: string;
}

export async function runMigrate({ from, to, does, force, json }: MigrateOptions): Promise<void> {
  const url = to === "-" ? (await readAll(process.stdin)).trim() : to;
  // As settings, so that the password in it is known to the log as a secret.
  const flags = { DEEP_RESEARCH_DB: from && resolve(from), GEMINI_SEARCH_DATABASE_URL: url };
  const app = openCommand({ flags });
  const { shutdown } = app;
  const line = createProgressLine();
  try {
    const places = placesOf(app);
    const doing = { app, places, progress: seldom(line.show) };
    const work = does === "move" ? move(doing, force) : does === "count" ? count(doing) : compare(doing);
    const { tables, text, failed = false } = await shutdown.during(work);
    line.clear();
    const { file, place } = places;
    const answer = { success: !failed, from: file, to: place, dry_run: does === "count", tables: tables.map(shown) };
    await print(json ? JSON.stringify(answer, null, 2) : `${table(tables)}\n\n${text}`);
    await shutdown.leave(failed ? EXIT_CODES.failed : EXIT_CODES.ok);
  } catch (error) {
    line.clear();
    await shutdown.leave(await printError(storageError(error), json));
  }
}

function placesOf({ config }: App): Places {
  const { databaseFile: file, sharedDatabase } = config;
  if (!existsSync(file)) throw wrong(`There is no database at ${file}.`, "Name it with --from.");
  if (sharedDatabase === undefined) {
    throw wrong("It is not said where to move to.", "Set GEMINI_SEARCH_DATABASE_URL, or give --to.");
  }
  const { url } = sharedDatabase;
  return { file, url, place: URL.canParse(url) ? `${new URL(url).host}${new URL(url).pathname}` : "" };
}

const wrong = (message: string, suggestion: string): AppError =>
  new AppError({ code: "INVALID_INPUT", message, suggestion });

interface Doing {
  app: App;
  places: Places;
  progress(message: string): void;
}

async function move({ app, places, progress }: Doing, force: boolean): Promise<Answer> {
  const { log, shutdown } = app;
  const { file, url, place } = places;
  const source = await openSqlite(file, log);
  try {
    refuseNewer(source, file);
    const target = await openPostgres({ url, connections: 2, log });
    try {
      refuseNewer(target, `The PostgreSQL database at ${place}`);
      const both = { source: source.db, target: target.db, place };
      const { signal } = shutdown;
      const moved = await moveStore({ ...both, force, now: systemClock.now(), signal, progress });
      const text = moved.before
        ? "It was moved before; nothing was changed. What differs was written since."
        : `All of it is at ${place} and was compared. Set GEMINI_SEARCH_DATABASE_URL for servers and workers; the file is kept as it was, do not use it any more.`;
      return { tables: moved.tables, text };
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

function refuseNewer({ writable }: OpenDatabase, what: string): void {
  if (writable) return;
  throw new AppError({
    code: "SQLITE_ERROR",
    message: `${what} was written by a newer gemini-search-mcp.`,
    suggestion: "Update this one, then move.",
  });
}

const count = (doing: Doing): Promise<Answer> =>
  looking(doing, async (both) => {
    await refuseOtherTarget(both);
    return { tables: await countStores(both), text: "Nothing was moved." };
  });

const compare = (doing: Doing): Promise<Answer> =>
  looking(doing, async (both) => {
    if ((await schemaState(both.source)) !== "current" || (await schemaState(both.target)) !== "current") {
      throw new AppError({
        code: "SQLITE_ERROR",
        message: "One of the two is of another version than this program, or empty: they cannot be compared.",
        suggestion: "Move first; with --dry-run it is only counted.",
      });
    }
    const tables = await compareStores(both, doing.progress);
    const different = differing(tables);
    const text = different.length === 0 ? "Both hold the same." : `They differ: ${different.join(", ")}.`;
    return { tables, text, failed: different.length > 0 };
  });

/** Neither is changed, not even in its schema. */
function looking({ app, places }: Doing, look: (both: Move) => Promise<Answer>): Promise<Answer> {
  const { file, url } = places;
  return readOnly(file, (source, integrity) => {
    if (integrity !== "ok") throw wrong(`${file} is damaged.`, "gemini-search-mcp doctor says what to do.");
    return readOnlyPostgres({ url, log: app.log }, (target) => look({ source, target }));
  });
}

const shown = ({ table, source, target, same }: Comparison) => ({
  table,
  rows_from: source,
  rows_to: target,
  ...(same !== undefined && { same }),
});

function table(tables: readonly Comparison[]): string {
  const verdict = ({ same }: Comparison): string => (same === undefined ? "" : same ? "same" : "DIFFERENT");
  const rows = [
    ["TABLE", "FROM", "TO", ""],
    ...tables.map((row) => [row.table, String(row.source), String(row.target), verdict(row)]),
  ];
  return rows
    .map(([name = "", from = "", to = "", verdict = ""]) =>
      `${name.padEnd(20)}${from.padStart(10)}${to.padStart(10)}  ${verdict}`.trimEnd(),
    )
    .join("\n");
}

const SHOWN_EVERY_MS = 1_000;

/** A batch takes milliseconds, and in a log each message is a line; what it is about is always said. */
function seldom(show: (message: string) => void): (message: string) => void {
  let last = -Infinity;
  let about = "";
  return (message) => {
    const [subject = ""] = message.split(":");
    if (subject === about && performance.now() - last < SHOWN_EVERY_MS) return;
    last = performance.now();
    about = subject;
    show(message);
  };
}
