/** Is the state sound: the config directory, its modes, the database, and who else works on it. */

import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { LOCAL_OWNER } from "../caller.ts";
import type { Config } from "../config/config.ts";
import { AppError } from "../errors.ts";
import { isoTime } from "../platform/clock.ts";
import { listRuns } from "../runs/run-store.ts";
import type { Database } from "../store/database.ts";
import { schemaState, type SchemaState } from "../store/migrate.ts";
import { liveProcesses } from "../store/processes.ts";
import { readOnly } from "../store/sqlite/sqlite.ts";
import { type Checkup, fail, ok, warn } from "./check.ts";

const OTHERS = 0o077;

export function checkDirectory({ configDir, configDirWritable }: Config): Checkup {
  const name = "config directory";
  if (!configDirWritable) {
    return fail(name, `${configDir} cannot be written.`, "Make it writable, or set GEMINI_SEARCH_CONFIG_DIR.");
  }
  return readableByOthers(configDir)
    ? warn(name, `${configDir} can be read by others.`, `chmod 700 ${quoted(configDir)}`)
    : ok(name, configDir);
}

const readableByOthers = (path: string): boolean =>
  process.platform !== "win32" && (statSync(path).mode & OTHERS) !== 0;

/** To be pasted into a shell; many a path has a space. */
const quoted = (path: string): string =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;

/** Everything that holds questions, reports, a key or a token. */
export function checkModes({ configDir, databaseFile }: Config): Checkup[] {
  const folder = dirname(databaseFile);
  const copies = existsSync(folder) ? readdirSync(folder).filter((name) => name.includes(".db.before-update-")) : [];
  const secret = [
    ...["", "-wal", "-shm"].map((suffix) => databaseFile + suffix),
    ...copies.map((name) => join(folder, name)),
    ...["token", "config.json", "orphans.jsonl"].map((name) => join(configDir, name)),
  ];
  const open = secret.filter((path) => existsSync(path) && readableByOthers(path));
  return open.map((path) => warn("file modes", `${path} can be read by others.`, `chmod 600 ${quoted(path)}`));
}

interface DatabaseHealth {
  /** `ok`, or what SQLite says is wrong. */
  integrity: string;
  schema: SchemaState;
  unknownStarts: number;
  processes: { pid: number; startedAt: number }[];
}

const MOST_COUNTED = 100;

async function inspect(db: Database, integrity: string): Promise<DatabaseHealth> {
  const schema = await schemaState(db);
  if (schema === "empty") return { integrity, schema, unknownStarts: 0, processes: [] };
  const filter = { owner: LOCAL_OWNER, status: "start_unknown", kind: undefined, before: undefined } as const;
  const unknown = await listRuns(db, { ...filter, limit: MOST_COUNTED });
  return { integrity, schema, unknownStarts: unknown.length, processes: await liveProcesses(db) };
}

export async function checkDatabase({ databaseFile, sharedDatabase }: Config): Promise<Checkup[]> {
  if (sharedDatabase !== undefined) return checkShared(sharedDatabase.url);
  if (!existsSync(databaseFile)) return [ok("database", `${databaseFile} will be made at the first call.`)];
  let health: DatabaseHealth;
  try {
    health = await readOnly(databaseFile, inspect);
  } catch {
    return [
      fail(
        "database",
        `${databaseFile} cannot be opened or read.`,
        "Look at its permissions; if it is damaged, move it aside: reports that were saved as files stay.",
      ),
    ];
  }
  return [soundness(databaseFile, health), ...unfinished(health), others(health)];
}

/** Its integrity is the operator's; here counts whether it can be used. */
async function checkShared(url: string): Promise<Checkup[]> {
  const { readOnlyPostgres } = await import("../store/postgres/postgres.ts");
  const warned: Checkup[] = [];
  try {
    const log = {
      debug: () => undefined,
      warn: (message: string) => void warned.push(warn("clock", message, "timedatectl set-ntp true")),
    };
    const health = await readOnlyPostgres({ url, log }, (db) => inspect(db, "ok"));
    const place = `PostgreSQL at ${new URL(url).host}${new URL(url).pathname}`;
    const schema = health.schema === "newer" ? newer(place) : ok("database", place);
    return [schema, ...warned, ...unfinished(health), others(health)];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [fail("database", error.message, error.suggestion ?? "")];
  }
}

const newer = (place: string): Checkup =>
  warn("database", `${place} was written by a newer version and is only read.`, "Update gemini-search-mcp.");

function soundness(file: string, { integrity, schema }: DatabaseHealth): Checkup {
  if (integrity !== "ok") {
    return fail("database", `${file} is damaged.`, `Keep a copy, then: sqlite3 ${quoted(file)} .recover > rescued.sql`);
  }
  if (schema === "newer") {
    return newer(file);
  }
  return ok("database", `${file}, integrity ok, ${megabytes(file)} MB, WAL ${megabytes(`${file}-wal`)} MB`);
}

const megabytes = (path: string): string =>
  ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) / 2 ** 20).toFixed(1);

function unfinished({ unknownStarts }: DatabaseHealth): Checkup[] {
  if (unknownStarts === 0) return [];
  const message = `${unknownStarts} research start(s) whose outcome is not known.`;
  return [
    warn("unknown starts", message, "gemini-search-mcp list-research --status start_unknown, then resume-research."),
  ];
}

function others({ processes }: DatabaseHealth): Checkup {
  if (processes.length === 0) return ok("other processes", "None of ours works on this database.");
  const listed = processes.map(({ pid, startedAt }) => `${pid} since ${isoTime(startedAt)}`).join(", ");
  return ok("other processes", `${processes.length} of ours on this database: ${listed}`);
}
