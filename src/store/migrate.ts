/** Migrates a database to the current schema and detects a newer one. */

import { sql } from "kysely";
import type { Migration } from "kysely/migration";
import { AppError } from "../errors.ts";
import type { Database } from "./database.ts";
import { isShared } from "./dialect.ts";
import * as runs from "./migrations/0001-runs.ts";
import * as scale from "./migrations/0002-scale.ts";
import * as accessTokens from "./migrations/0003-access-tokens.ts";
import * as changes from "./migrations/0004-changes.ts";
import * as pageKeys from "./migrations/0005-page-keys.ts";
import * as eventMarks from "./migrations/0006-event-marks.ts";
import * as handed from "./migrations/0007-handed.ts";
import * as seen from "./migrations/0008-seen.ts";
import * as oddAnswers from "./migrations/0009-odd-answers.ts";
import * as pictures from "./migrations/0010-pictures.ts";
import * as terms from "./migrations/0011-terms.ts";
import * as interactionIds from "./migrations/0012-interaction-ids.ts";
import * as access from "./migrations/0013-access.ts";
import * as answers from "./migrations/0014-answers.ts";
import * as joins from "./migrations/0015-joins.ts";
import * as polls from "./migrations/0016-polls.ts";
import * as operations from "./migrations/0017-operations.ts";
import * as library from "./migrations/0018-library.ts";
import * as followups from "./migrations/0019-followups.ts";
import * as plans from "./migrations/0020-plans.ts";
import * as material from "./migrations/0021-material.ts";
import * as evidence from "./migrations/0023-evidence.ts";
import * as pictureContents from "./migrations/0024-picture-contents.ts";
import * as judgeSpending from "./migrations/0025-judge-spending.ts";
import * as suggestions from "./migrations/0026-suggestions.ts";
import * as unconfirmedStarts from "./migrations/0027-unconfirmed-starts.ts";

const MIGRATIONS: Record<string, Migration> = {
  "0001-runs": runs,
  "0002-scale": scale,
  "0003-access-tokens": accessTokens,
  "0004-changes": changes,
  "0005-page-keys": pageKeys,
  "0006-event-marks": eventMarks,
  "0007-handed": handed,
  "0008-seen": seen,
  "0009-odd-answers": oddAnswers,
  "0010-pictures": pictures,
  "0011-terms": terms,
  "0012-interaction-ids": interactionIds,
  "0013-access": access,
  "0014-answers": answers,
  "0015-joins": joins,
  "0016-polls": polls,
  "0017-operations": operations,
  "0018-library": library,
  "0019-followups": followups,
  "0020-plans": plans,
  "0021-material": material,
  "0023-evidence": evidence,
  "0024-picture-contents": pictureContents,
  "0025-judge-spending": judgeSpending,
  "0026-suggestions": suggestions,
  "0027-unconfirmed-starts": unconfirmedStarts,
};

const LATEST = Object.keys(MIGRATIONS).at(-1) ?? "";

/** The schema of a database compared with this program's. */
export type SchemaState = "empty" | "older" | "current" | "newer";

/** Since this migration each poll is a job. Earlier versions cannot use the same database at the same time. */
const FIRST_WITH_POLL_JOBS = "0016-polls";

/** Whether the migration requires that no process of an earlier version uses the database. */
export async function needsExclusiveMigration(db: Database): Promise<boolean> {
  const newest = await newestMigration(db);
  return newest !== "" && newest < FIRST_WITH_POLL_JOBS;
}

export async function schemaState(db: Database): Promise<SchemaState> {
  const newest = await newestMigration(db);
  if (newest === "") return "empty";
  if (newest === LATEST) return "current";
  return newest > LATEST ? "newer" : "older";
}

export const newerSchema = (database: string): AppError =>
  new AppError({
    code: "SQLITE_ERROR",
    message: `${database} was written by a newer gemini-search-mcp and is read-only here.`,
    suggestion: "Update this installation and restart it.",
  });

export async function tableExists(db: Database, name: string): Promise<boolean> {
  const { rows } = isShared(db)
    ? await sql`select 1 where to_regclass(${name}) is not null`.execute(db)
    : await sql`select 1 from sqlite_master where type = 'table' and name = ${name}`.execute(db);
  return rows.length > 0;
}

async function newestMigration(db: Database): Promise<string> {
  if (!(await tableExists(db, "kysely_migration"))) return "";
  const applied = await sql<{ name: string | null }>`select max(name) as name from kysely_migration`.execute(db);
  return applied.rows[0]?.name ?? "";
}

/** Safe to call from several processes at once: the second waits for the lock and finds nothing to do. */
export async function migrate(db: Database, to = LATEST): Promise<void> {
  const { Migrator } = await import("kysely/migration");
  const provider = { getMigrations: async () => MIGRATIONS };
  const { error } = await new Migrator({ db, provider }).migrateTo(to);
  if (error !== undefined) throw error;
}
