/** Checks the state: config directory, file modes, database, and other processes that use it. */

import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { LOCAL_OWNER } from "../caller.ts";
import type { Config } from "../config/config.ts";
import { type Budgets, type BudgetState, leftText } from "../costs/budget.ts";
import { formatDollars } from "../costs/dollars.ts";
import { AppError } from "../errors.ts";
import { isoTime } from "../platform/clock.ts";
import { countOf } from "../platform/count.ts";
import { readBudgets } from "../runs/ledger/budget-store.ts";
import { dayNumber, readSpending, type Spending } from "../runs/ledger/ledger-store.ts";
import { listRuns } from "../runs/run-store.ts";
import type { Database } from "../store/database.ts";
import { schemaState, type SchemaState } from "../store/migrate.ts";
import { liveProcesses } from "../store/processes.ts";
import { denialOf } from "../store/sqlite/driver.ts";
import { readOnly } from "../store/sqlite/sqlite.ts";
import { type CheckResult, fail, ok, warn } from "./check.ts";

const GROUP_AND_OTHERS = 0o077;

export function checkDirectory({ configDir, configDirWritable }: Config): CheckResult {
  const name = "config directory";
  if (!configDirWritable) {
    return fail(name, `Can't write to ${configDir}.`, "Make it writable, or set GEMINI_SEARCH_CONFIG_DIR.");
  }
  return readableByOthers(configDir)
    ? warn(name, `${configDir} is readable by other users.`, `chmod 700 ${quoted(configDir)}`)
    : ok(name, configDir);
}

const readableByOthers = (path: string): boolean =>
  process.platform !== "win32" && (statSync(path).mode & GROUP_AND_OTHERS) !== 0;

/** For pasting into a shell. */
const quoted = (path: string): string =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;

/** Every file that holds questions, reports, a key or a token. */
export function checkModes({ configDir, databaseFile }: Config): CheckResult[] {
  const folder = dirname(databaseFile);
  const copies = existsSync(folder) ? readdirSync(folder).filter((name) => name.includes(".db.before-update-")) : [];
  const secret = [
    ...["", "-wal", "-shm"].map((suffix) => databaseFile + suffix),
    ...copies.map((name) => join(folder, name)),
    ...["token", "config.json", "orphans.jsonl"].map((name) => join(configDir, name)),
  ];
  const open = secret.filter((path) => existsSync(path) && readableByOthers(path));
  return open.map((path) => warn("file modes", `${path} is readable by other users.`, `chmod 600 ${quoted(path)}`));
}

interface DatabaseHealth {
  /** `ok`, or SQLite's error. */
  integrity: string;
  schema: SchemaState;
  unknownStarts: number;
  processes: { pid: number; startedAt: number }[];
  /** Of the last 90 days. */
  spending: Spending[];
  budgets: BudgetState[];
}

export interface Inspected {
  checks: CheckResult[];
  /** The models that were paid for in the last 90 days. */
  models: string[];
}

interface Asked {
  now: number;
  budgets: Budgets;
}

const MAX_COUNTED = 100;

const SPENDING_DAYS = 90;

async function inspect(db: Database, integrity: string, { now, budgets }: Asked): Promise<DatabaseHealth> {
  const schema = await schemaState(db);
  if (schema === "empty" || schema === "foreign")
    return { integrity, schema, unknownStarts: 0, processes: [], spending: [], budgets: [] };
  const filter = { owner: LOCAL_OWNER, status: "start_unknown", kind: undefined, before: undefined } as const;
  const unknown = await listRuns(db, { ...filter, limit: MAX_COUNTED });
  const untilDay = dayNumber(now);
  return {
    integrity,
    schema,
    unknownStarts: unknown.length,
    processes: await liveProcesses(db),
    spending: await readSpending(db, { fromDay: untilDay - SPENDING_DAYS + 1, untilDay }),
    budgets: await readBudgets(db, budgets, { owner: LOCAL_OWNER, now }),
  };
}

export async function checkDatabase({ databaseFile, sharedDatabase }: Config, asked: Asked): Promise<Inspected> {
  if (sharedDatabase !== undefined) return checkShared(sharedDatabase.url, asked);
  if (!existsSync(databaseFile))
    return { checks: [ok("database", `${databaseFile} will be created on first use.`)], models: [] };
  let health: DatabaseHealth;
  try {
    health = await readOnly(databaseFile, (db, integrity) => inspect(db, integrity, asked));
  } catch {
    const failed = fail(
      "database",
      `${databaseFile} cannot be opened or read.`,
      "Check its permissions; if it is damaged, move it away. Reports saved as files are not affected.",
    );
    return { checks: [failed], models: [] };
  }
  return inspected([checkIntegrity(databaseFile, health)], health, asked);
}

const inspected = (checks: CheckResult[], health: DatabaseHealth, { now }: Asked): Inspected => ({
  checks: [...checks, ...checkUnknownStarts(health), checkProcesses(health), checkSpending(health, now)],
  models: [...new Set(health.spending.flatMap(({ model }) => model ?? []))],
});

/** What counts against the budgets, and what is left of them. */
function checkSpending({ spending, budgets }: DatabaseHealth, now: number): CheckResult {
  const today = dayNumber(now);
  const monthBegan = today - new Date(now).getUTCDate() + 1;
  const since = (from: number): string =>
    formatDollars(spending.reduce((sum, { day, usd }) => (day >= from ? sum + usd : sum), 0));
  const sums = `${since(today)} today and ${since(monthBegan)} this month (UTC)`;
  return ok("spending", [sums, ...budgets.map(leftText)].join("; "));
}

/** Only checks that it can be used; its integrity is up to its operator. */
async function checkShared(url: string, asked: Asked): Promise<Inspected> {
  const { readOnlyPostgres } = await import("../store/postgres/postgres.ts");
  const warned: CheckResult[] = [];
  try {
    const log = {
      debug: () => undefined,
      warn: (message: string) => void warned.push(warn("clock", message, "timedatectl set-ntp true")),
    };
    const health = await readOnlyPostgres({ url, log }, (db) => inspect(db, "ok", asked));
    const location = `PostgreSQL at ${new URL(url).host}${new URL(url).pathname}`;
    const schema = health.schema === "newer" ? newerSchema(location) : ok("database", location);
    return inspected([schema, ...warned], health, asked);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { checks: [fail("database", error.message, error.suggestion ?? "")], models: [] };
  }
}

const newerSchema = (location: string): CheckResult =>
  warn("database", `${location} was written by a newer version and is read-only.`, "Update gemini-search-mcp.");

function checkIntegrity(file: string, { integrity, schema }: DatabaseHealth): CheckResult {
  const denial = denialOf(file);
  if (integrity !== "ok") {
    return fail("database", `${file} is damaged.`, `Keep a copy, then: sqlite3 ${quoted(file)} .recover > rescued.sql`);
  }
  if (schema === "newer") {
    return newerSchema(file);
  }
  if (denial !== undefined) return fail("database", `${file} cannot be written: ${denial.why}.`, denial.advice);
  return ok("database", `${file}, integrity ok, ${megabytes(file)} MB, WAL ${megabytes(`${file}-wal`)} MB`);
}

const megabytes = (path: string): string =>
  ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) / 2 ** 20).toFixed(1);

function checkUnknownStarts({ unknownStarts }: DatabaseHealth): CheckResult[] {
  if (unknownStarts === 0) return [];
  const message = `${countOf(unknownStarts, "research run")} may or may not have been started by Google.`;
  return [warn("unknown starts", message, "List them with: gemini-search-mcp list --status start_unknown")];
}

function checkProcesses({ processes }: DatabaseHealth): CheckResult {
  if (processes.length === 0)
    return ok("other processes", "No other gemini-search-mcp process is using this database.");
  const listed = processes.map(({ pid, startedAt }) => `process ${pid} since ${isoTime(startedAt)}`).join(", ");
  return ok("other processes", `Also using this database: ${listed}`);
}
