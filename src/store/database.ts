/** The tables as Kysely and the stores see them; `migrations/0001-tables.ts` explains their columns. */

import type { Generated, Kysely } from "kysely";
import type { AppError } from "../errors.ts";
import type { Column, TABLES } from "./migrations/0001-tables.ts";
import type { RunNotifications } from "./postgres/run-notifications.ts";

type RowOf<Columns> = { [Name in keyof Columns]: Columns[Name] extends Column<infer Type> ? Type : never };

type Created = { [Table in keyof typeof TABLES]: RowOf<(typeof TABLES)[Table]> };

export interface Tables extends Created {
  research_search: {
    rowid: Generated<number>;
    task_id: string;
    /** The question; of a run with a title, the title and then the question. */
    query: string;
    report: string;
    /** The user's note, and the sources in words. */
    beside: string;
  };
}

export type Database = Kysely<Tables>;

export interface OpenDatabase {
  db: Database;
  /** Why nothing can be stored at the moment; undefined if it can. */
  obstacle(): Promise<AppError | undefined>;
  /** Undefined on SQLite, where changes are found by polling. */
  notifications?: RunNotifications | undefined;
  close(): Promise<void>;
}

/** Removes NUL characters: drivers before Node 24.16 truncate text at a NUL when reading. */
export const storable = (text: string): string => text.replaceAll("\0", "");
