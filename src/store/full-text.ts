/** Full-text search of reports, with the questions, titles, tags, notes and sources of their runs: FTS5 on SQLite, a tsvector with a GIN index on PostgreSQL. */

import { type Kysely, type RawBuilder, sql, type SqlBool } from "kysely";
import type { Database } from "./database.ts";
import { isShared } from "./dialect.ts";

/**
 * A tsvector is limited to 1 MB, and a larger one would make saving a paid report fail. This many characters always
 * fit.
 */
const MAX_INDEXED_CHARS = 100_000;

export async function createFullText(db: Kysely<unknown>): Promise<void> {
  if (!isShared(db)) {
    await sql`create virtual table research_search using fts5(task_id unindexed, query, report, beside)`.execute(db);
    // FTS5 erases the words of deleted reports.
    await sql`insert into research_search(research_search, rank) values ('secure-delete', 1)`.execute(db);
    return;
  }
  // No stemming: lower case without accents, as in FTS5.
  await sql`
    create table research_search (
      rowid bigserial primary key,
      task_id text not null,
      query text not null,
      report text not null,
      beside text not null default '',
      document tsvector generated always as (
        setweight(to_tsvector('simple', ${removeAccents(sql`query`)}), 'A') ||
        setweight(to_tsvector('simple', ${removeAccents(sql`report`)}), 'D') ||
        setweight(to_tsvector('simple', ${removeAccents(sql`beside`)}), 'D')
      ) stored
    )`.execute(db);
  await sql`create index research_search_by_document on research_search using gin (document)`.execute(db);
}

/** What is indexed as the question, so that a search finds a run by its title and tags, too. */
export const questionWithNames = (query: string, names: readonly (string | undefined)[]): string =>
  [...names.filter((name) => name !== undefined && name !== ""), query].join("\n");

interface SearchedSource {
  title: string;
  url: string;
  resolved_url?: string | undefined;
  domain: string;
}

const MAX_SOURCE_CHARACTERS = 300;
const MAX_SOURCES_CHARACTERS = 20_000;

/** What is indexed beside the report: the user's note, and of each source its title, its domain and the words of its URL. */
export const besideReport = (note: string | null, sources: readonly SearchedSource[]): string =>
  [note ?? "", sources.map(sourceWords).join("\n").slice(0, MAX_SOURCES_CHARACTERS).toWellFormed()].join("\n\n").trim();

/** PostgreSQL would index a URL as a whole. */
function sourceWords({ title, url, resolved_url: resolved = url, domain }: SearchedSource): string {
  const words = decodedUrl(resolved)
    .replaceAll(/^https?:|[^\p{L}\p{M}\p{N}]+/gu, " ")
    .trim();
  return `${title} ${domain} ${words}`.slice(0, MAX_SOURCE_CHARACTERS);
}

function decodedUrl(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}

const removeAccents = (column: RawBuilder<unknown>): RawBuilder<string> =>
  sql`regexp_replace(normalize(left(${column}, ${sql.lit(MAX_INDEXED_CHARS)}), NFD), U&'[\\0300-\\036F]', '', 'g')`;

/** A search term: one word or a phrase. It is data, never query syntax. */
export interface SoughtText {
  text: string;
  /** Also matches words that begin with the text, because the user may still be typing it. */
  begins: boolean;
}

/** SQL fragments for a query on `research_search as found`. */
export interface FullText {
  /** The join operator that makes SQLite read the index first. */
  join: RawBuilder<unknown>;
  matches: RawBuilder<SqlBool>;
  /** Sort key, best match first. A match in the question weighs more than one in the report. */
  rank: RawBuilder<number>;
}

export function fullText(db: Database, sought: readonly SoughtText[]): FullText {
  if (!isShared(db)) {
    return {
      join: sql`cross join`,
      matches: sql`(research_search match ${matchOf(sought)} and rank match 'bm25(0.0, 4.0, 1.0, 1.0)')`,
      // `order by rank` would make FTS5 sort all matches before the other conditions are applied.
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

/** FTS5 query that requires all terms, each quoted so that no character acts as an operator. */
export const matchOf = (sought: readonly SoughtText[]): string =>
  sought.map(({ text, begins }) => `"${text.replaceAll('"', '""')}"${begins ? "*" : ""}`).join(" AND ");

function vectorQuery({ text, begins }: SoughtText): RawBuilder<unknown> {
  // Removes the same combining marks as the index; marks of other scripts are significant.
  const folded = text.normalize("NFD").replaceAll(/[\u0300-\u036F]/g, "");
  if (!begins) return sql`phraseto_tsquery('simple', ${folded})`;
  return sql`to_tsquery('simple', ${`'${folded.replaceAll("\\", "\\\\").replaceAll("'", "''")}':*`})`;
}
