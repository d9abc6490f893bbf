/** The tables to copy, ordered so that referenced rows come first. */

import { type RawBuilder, sql } from "kysely";

export type Row = Record<string, unknown>;

export interface CopiedTable {
  name: string;
  /** The columns of the primary key, in order. */
  key: readonly string[];
  /** Rows per page; few where a row can contain a whole report. */
  batch: number;
  inSource: RawBuilder<Row>;
  inTarget: RawBuilder<Row>;
  /** Columns that are valid only in their own database. */
  without: readonly string[];
}

interface WholeTable {
  name: string;
  key: readonly string[];
  batch?: number;
  without?: readonly string[];
}

const wholeTable = ({ name, key, batch = 200, without = [] }: WholeTable): CopiedTable => {
  const rows = sql<Row>`select * from ${sql.table(name)}`;
  return { name, key, batch, without, inSource: rows, inTarget: rows };
};

/** Rebuilt from run and result; the rows found in the target are compared with these. */
const search: CopiedTable = {
  name: "research_search",
  key: ["task_id"],
  batch: 20,
  without: [],
  inSource: sql`
    select result.task_id, result.report_markdown as report,
      case when run.title is null then run.query else run.title || char(10) || run.query end as query
    from research_results as result join research_tasks as run on run.task_id = result.task_id
    where result.search_rowid is not null`,
  inTarget: sql`
    select result.task_id, found.query, found.report
    from research_results as result join research_search as found on found.rowid = result.search_rowid`,
};

export const COPIED_TABLES: readonly CopiedTable[] = [
  wholeTable({ name: "research_tasks", key: ["task_id"] }),
  wholeTable({ name: "research_attempts", key: ["attempt_id"] }),
  wholeTable({ name: "research_results", key: ["task_id"], batch: 20, without: ["search_rowid"] }),
  search,
  wholeTable({ name: "research_pictures", key: ["task_id", "n"], batch: 2 }),
  wholeTable({ name: "research_files", key: ["task_id", "n"], batch: 2 }),
  wholeTable({ name: "research_claims", key: ["task_id"], batch: 20 }),
  wholeTable({ name: "research_pages", key: ["task_id", "source"] }),
  wholeTable({ name: "research_evidence", key: ["task_id", "claim", "source", "kind"] }),
  wholeTable({ name: "research_rounds", key: ["task_id", "round_number"], batch: 20 }),
  wholeTable({ name: "research_events", key: ["task_id", "seq"] }),
  wholeTable({ name: "notification_outbox", key: ["outbox_id"] }),
  wholeTable({ name: "access_tokens", key: ["token_hash"] }),
];

/** Columns with fractions. Others are rounded. */
export const FRACTIONS: readonly string[] = ["cost_usd", "unconfirmed_usd"];

/** Tables that are not copied: short-lived or tied to a process. A target with only these counts as empty. */
export const NOT_COPIED_TABLES: readonly string[] = ["processes", "slots", "page_keys", "rate_limits"];
