/** Finding reports by their words: FTS5 on SQLite, a text vector with a GIN index on PostgreSQL, asked for in one way. */

import { type Kysely, type RawBuilder, sql, type SqlBool } from "kysely";
import type { Database } from "./database.ts";
import { isShared } from "./dialect.ts";

/**
 * A text vector holds a megabyte and refuses more, and a report that was paid for must not fail on its index: so many
 * characters stay below that whatever they are.
 */
const MOST_INDEXED = 100_000;

export async function createFullText(db: Kysely<unknown>): Promise<void> {
  if (!isShared(db)) {
    await sql`create virtual table research_search using fts5(task_id unindexed, query, report)`.execute(db);
    return;
  }
  // No language: words as they are, in small letters and without accents, as FTS5 has them.
  await sql`
    create table research_search (
      rowid bigserial primary key,
      task_id text not null,
      query text not null,
      report text not null,
      document tsvector generated always as (
        setweight(to_tsvector('simple', ${plain(sql`query`)}), 'A') ||
        setweight(to_tsvector('simple', ${plain(sql`report`)}), 'D')
      ) stored
    )`.execute(db);
  await sql`create index research_search_by_document on research_search using gin (document)`.execute(db);
}

/** On SQLite: the index leaves the words of a deleted report in the file until it is told not to, once for each file. */
export async function overwriteDeletedWords(db: Database): Promise<void> {
  const { rows } = await sql`select v from research_search_config where k = 'secure-delete' and v = 1`.execute(db);
  // Nearly always: and a write would wait for its turn.
  if (rows.length > 0) return;
  await sql`insert into research_search(research_search, rank) values ('secure-delete', 1)`.execute(db);
}

const plain = (column: RawBuilder<unknown>): RawBuilder<string> =>
  sql`regexp_replace(normalize(left(${column}, ${sql.lit(MOST_INDEXED)}), NFD), U&'[\\0300-\\036F]', '', 'g')`;

/** What is looked for: a word, or several in this order. Data, never syntax. */
export interface SoughtText {
  text: string;
  /** Still being typed: words that begin with it are meant as well. */
  begins: boolean;
}

/** Pieces of a query that reads `research_search as found`. */
export interface FullText {
  /** Joins another table so that the index is read first. */
  join: RawBuilder<unknown>;
  matches: RawBuilder<SqlBool>;
  /** To be ordered by: the best first. A word in the question says more than one in a long report. */
  rank: RawBuilder<number>;
}

export function fullText(db: Database, sought: readonly SoughtText[]): FullText {
  if (!isShared(db)) {
    return {
      join: sql`cross join`,
      matches: sql`(research_search match ${matchOf(sought)} and rank match 'bm25(0.0, 4.0, 1.0)')`,
      // Asked for plain `rank`, the index itself would put all that it finds in order, whatever else is asked for.
      rank: sql`+rank`,
    };
  }
  const query = sql.join(sought.map(vectorQuery), sql` && `);
  return {
    join: sql`join`,
    matches: sql`found.document @@ (${query})`,
    rank: sql`-ts_rank(found.document, ${query})`,
  };
}

/** All of them, each in the quotation marks that take every other meaning from it. */
export const matchOf = (sought: readonly SoughtText[]): string =>
  sought.map(({ text, begins }) => `"${text.replaceAll('"', '""')}"${begins ? "*" : ""}`).join(" AND ");

function vectorQuery({ text, begins }: SoughtText): RawBuilder<unknown> {
  // What the document loses, and no more: marks of other scripts make other words.
  const folded = text.normalize("NFD").replaceAll(/[\u0300-\u036F]/g, "");
  if (!begins) return sql`phraseto_tsquery('simple', ${folded})`;
  return sql`to_tsquery('simple', ${`'${folded.replaceAll("\\", "\\\\").replaceAll("'", "''")}':*`})`;
}
