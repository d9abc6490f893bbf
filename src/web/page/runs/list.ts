/** The list as data: its URL, and updates that do not move the rows being read. */

import type { ListedRun, RunSummary } from "../../wire.ts";

export const PAGE_SIZE = 100;

export interface RunsFilter {
  text: string;
  status: string;
  kind: string;
  /** "true": only starred runs. */
  starred: string;
  /** "true": the archived runs instead of the others. */
  archived: string;
  /** The cursor of the page, and the number of runs before it. */
  cursor: string;
  from: number;
}

export function readFilter(parameters: URLSearchParams): RunsFilter {
  const from = Number(parameters.get("from") ?? 0);
  const cursor = parameters.get("cursor") ?? "";
  return {
    text: (parameters.get("text") ?? "").trim(),
    status: parameters.get("status") ?? "",
    kind: parameters.get("kind") ?? "",
    starred: parameters.get("starred") ?? "",
    archived: parameters.get("archived") ?? "",
    cursor,
    from: cursor !== "" && Number.isSafeInteger(from) && from > 0 ? from : 0,
  };
}

const filled = (entries: Record<string, string>): string =>
  new URLSearchParams(Object.entries(entries).filter(([, value]) => value !== "")).toString();

/** A changed filter starts at the first page. */
export function listPath(filter: RunsFilter, change: Partial<RunsFilter>): string {
  const { from, ...fields } = { ...filter, cursor: "", from: 0, ...change };
  const query = filled({ ...fields, from: from === 0 ? "" : String(from) });
  return query === "" ? "/" : `/?${query}`;
}

/** Shows every run that is not archived. */
export const EVERYTHING = { text: "", status: "", kind: "", starred: "", archived: "" };

export const apiPath = ({ from: _from, ...fields }: RunsFilter): string =>
  `/api/runs?${filled({ ...fields, limit: String(PAGE_SIZE) })}`;

/** Whether the run belongs to the list by its marks. A run whose state changes stays in the list that is open. */
export const isListed = ({ starred, archived }: RunsFilter, run: RunSummary): boolean =>
  (run.archived === true) === (archived === "true") && (starred !== "true" || run.starred === true);

/** Replaces changed runs in place; their search excerpts stay. */
export function withUpdates(listed: ListedRun[], changed: RunSummary[]): ListedRun[] {
  const news = new Map(changed.map((run) => [run.task_id, run]));
  return listed.map((run) => {
    const next = news.get(run.task_id);
    return next === undefined ? run : { ...next, ...(run.found === undefined ? {} : { found: run.found }) };
  });
}

interface Shown {
  filter: RunsFilter;
  listed: ListedRun[];
  hasMore: boolean;
}

/** Runs that a reload would add to this page. Search results are sorted by relevance, so nothing is added to them. */
export function addedRuns({ filter, listed, hasMore }: Shown, changed: RunSummary[]): RunSummary[] {
  if (filter.text !== "" || filter.cursor !== "") return [];
  const known = new Set(listed.map((run) => run.task_id));
  const oldest = hasMore ? (listed.at(-1)?.created_at ?? "") : "";
  return changed.filter(
    (run) =>
      !known.has(run.task_id) &&
      run.created_at >= oldest &&
      isListed(filter, run) &&
      (filter.status === "" || filter.status === run.status) &&
      (filter.kind === "" || filter.kind === run.kind),
  );
}

/** Newest first; of duplicates the first counts. */
export function withInserted(listed: ListedRun[], fresh: RunSummary[]): ListedRun[] {
  const runs = new Map([...listed, ...fresh].toReversed().map((run) => [run.task_id, run]));
  return [...runs.values()].toSorted((one, other) => order(other, one));
}

/** Runs of the same time are sorted as on the server. */
const order = (one: RunSummary, other: RunSummary): number =>
  compare(one.created_at, other.created_at) || compare(one.task_id, other.task_id);

const compare = (one: string, other: string): number => (one < other ? -1 : Number(one > other));
