/** What of a store is moved to another: the tables in an order in which no row comes before one it refers to. */

import { type RawBuilder, sql } from "kysely";

export type Row = Record<string, unknown>;

export interface MovedTable {
  name: string;
  /** In the order of its primary key. */
  key: readonly string[];
  /** Rows at a time: few where one of them can be a whole report. */
  batch: number;
  inSource: RawBuilder<Row>;
  inTarget: RawBuilder<Row>;
  /** Columns that mean something in their own database only. */
  without: readonly string[];
}

interface Plain {
  name: string;
  key: readonly string[];
  batch?: number;
  without?: readonly string[];
}

const plain = ({ name, key, batch = 200, without = [] }: Plain): MovedTable => {
  const rows = sql<Row>`select * from ${sql.table(name)}`;
  return { name, key, batch, without, inSource: rows, inTarget: rows };
};

/** Made anew from run and result; in the target it is compared as it is found there. */
const search: MovedTable = {
  name: "research_search",
  key: ["task_id"],
  batch: 20,
  without: [],
  inSource: sql`
    select result.task_id, run.query, result.report_markdown as report
    from research_results as result join research_tasks as run on run.task_id = result.task_id
    where result.search_rowid is not null`,
  inTarget: sql`
    select result.task_id, found.query, found.report
    from research_results as result join research_search as found on found.rowid = result.search_rowid`,
};

export const MOVED_TABLES: readonly MovedTable[] = [
  // Columns of earlier versions, which only a file still has.
  plain({ name: "research_tasks", key: ["task_id"], without: ["handed_to"] }),
  plain({ name: "research_attempts", key: ["attempt_id"] }),
  plain({ name: "research_results", key: ["task_id"], batch: 20, without: ["search_rowid"] }),
  search,
  plain({ name: "research_pictures", key: ["task_id", "n"], batch: 2 }),
  plain({ name: "research_rounds", key: ["task_id", "round_number"], batch: 20 }),
  plain({ name: "research_events", key: ["task_id", "seq"] }),
  plain({ name: "notification_outbox", key: ["outbox_id"] }),
  plain({ name: "access_tokens", key: ["token_hash"] }),
];

/** All other numbers are whole; files of an earlier version have some that are not, and only SQLite takes them. */
export const FRACTIONS: readonly string[] = ["cost_usd"];

/** Of processes, none of which goes along, or of a few minutes: a target that holds nothing else is still empty. */
export const LEFT_BEHIND: readonly string[] = ["processes", "slots", "held_files", "page_keys", "pace"];
