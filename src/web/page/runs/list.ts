/** The list as data: what its address asks for, and how news change it without moving what is being read. */

import type { ListedRun, RunSummary } from "../../wire.ts";

export const PAGE_SIZE = 100;

export interface RunsFilter {
  text: string;
  status: string;
  kind: string;
  /** Where the page begins, and how many runs stand before it. */
  cursor: string;
  from: number;
}

export function readFilter(address: URLSearchParams): RunsFilter {
  const from = Number(address.get("from") ?? 0);
  const cursor = address.get("cursor") ?? "";
  return {
    text: (address.get("text") ?? "").trim(),
    status: address.get("status") ?? "",
    kind: address.get("kind") ?? "",
    cursor,
    from: cursor !== "" && Number.isSafeInteger(from) && from > 0 ? from : 0,
  };
}

const filled = (entries: Record<string, string>): string =>
  new URLSearchParams(Object.entries(entries).filter(([, value]) => value !== "")).toString();

/** Another filter begins at its first page. */
export function listPath(filter: RunsFilter, change: Partial<RunsFilter>): string {
  const { text, status, kind, cursor, from } = { ...filter, cursor: "", from: 0, ...change };
  const query = filled({ text, status, kind, cursor, from: from === 0 ? "" : String(from) });
  return query === "" ? "/" : `/?${query}`;
}

export const apiPath = ({ text, status, kind, cursor }: RunsFilter): string =>
  `/api/runs?${filled({ text, status, kind, cursor, limit: String(PAGE_SIZE) })}`;

/** Changed runs in their places; what was found in them stays. */
export function updated(listed: ListedRun[], changed: RunSummary[]): ListedRun[] {
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

/** Runs that a new look would show on this page. Found ones stand by relevance, so nothing comes to them by itself. */
export function newcomers({ filter, listed, hasMore }: Shown, changed: RunSummary[]): RunSummary[] {
  if (filter.text !== "" || filter.cursor !== "") return [];
  const known = new Set(listed.map((run) => run.task_id));
  const oldest = hasMore ? (listed.at(-1)?.created_at ?? "") : "";
  return changed.filter(
    (run) =>
      !known.has(run.task_id) &&
      run.created_at >= oldest &&
      (filter.status === "" || filter.status === run.status) &&
      (filter.kind === "" || filter.kind === run.kind),
  );
}

/** Newest first; of a run that is there twice, the first counts. */
export function inserted(listed: ListedRun[], fresh: RunSummary[]): ListedRun[] {
  const runs = new Map([...listed, ...fresh].toReversed().map((run) => [run.task_id, run]));
  return [...runs.values()].toSorted((one, other) => order(other, one));
}

/** Runs of the same moment stand as the server sorts them. */
const order = (one: RunSummary, other: RunSummary): number =>
  compare(one.created_at, other.created_at) || compare(one.task_id, other.task_id);

const compare = (one: string, other: string): number => (one < other ? -1 : Number(one > other));
