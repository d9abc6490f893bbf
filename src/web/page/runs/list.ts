/** One page of the list: its URL, changed runs in place, and a new request when the list itself has changed. */

import { useEffect } from "preact/hooks";
import type { RunHead } from "../../../operations/view/run-view.ts";
import type { ListedRun, RunPage } from "../../wire.ts";
import { fetchJson } from "../app/request.ts";
import { useLive } from "../live/live.ts";
import { STATUS_LABELS } from "../../../runs/run.ts";
import { announce, useLoad } from "../ui/parts.tsx";
import { isUnfinished, nameOf } from "../ui/format.ts";

/** Kept while a run is read, so that going back restores the list and its scroll position. */
let shown: { path: string; page: RunPage } | undefined;

interface Listing {
  page: RunPage | undefined;
  error: unknown;
  loading: boolean;
}

/**
 * While another page is loading the previous one stays, so that typing in the search field does not flicker. A row that
 * is added above does not move what is being read: browsers anchor the scroll position.
 */
export function useRunsPage(filter: RunsFilter): Listing {
  const path = apiPath(filter);
  const { value, last, error, reload, update } = useLoad(path, (signal) => fetchJson<RunPage>(path, { signal }));
  const page = value ?? (shown?.path === path ? shown.page : last);
  useEffect(() => {
    if (value !== undefined) shown = { path, page: value };
  }, [value]);
  useLive({
    hello: reload,
    runs: ({ runs, list_changed: listChanged }) => {
      if (page !== undefined) announceEnds(page.runs, runs);
      update((before) => ({ ...before, runs: withUpdates(before.runs, runs) }));
      if (listChanged) reload();
    },
  });
  return { page, error, loading: value === undefined && error === undefined };
}

function announceEnds(listed: RunHead[], changed: RunHead[]): void {
  const working = new Set(listed.filter(({ status }) => isUnfinished(status)).map((run) => run.task_id));
  const ended = changed.filter((run) => working.has(run.task_id) && !isUnfinished(run.status));
  if (ended.length > 0)
    announce(ended.map((run) => `${STATUS_LABELS[run.status]}: ${nameOf(run).slice(0, 100)}`).join(". "));
}

const PAGE_SIZE = 100;

export interface RunsFilter {
  text: string;
  status: string;
  kind: string;
  tag: string;
  /** "true": only starred runs. */
  starred: string;
  /** "true": the archived runs instead of the others. */
  archived: string;
  /** Of a later page. */
  cursor: string;
}

export function readFilter(parameters: URLSearchParams): RunsFilter {
  return {
    text: (parameters.get("text") ?? "").trim(),
    status: parameters.get("status") ?? "",
    kind: parameters.get("kind") ?? "",
    tag: parameters.get("tag") ?? "",
    starred: parameters.get("starred") ?? "",
    archived: parameters.get("archived") ?? "",
    cursor: parameters.get("cursor") ?? "",
  };
}

const filled = (entries: Record<string, string>): string =>
  new URLSearchParams(Object.entries(entries).filter(([, value]) => value !== "")).toString();

/** A changed filter starts at the first page. */
export function listPath(filter: RunsFilter, change: Partial<RunsFilter>): string {
  const query = filled({ ...filter, cursor: "", ...change });
  return query === "" ? "/" : `/?${query}`;
}

/** Shows every run that is not archived. */
export const EVERYTHING = { text: "", status: "", kind: "", tag: "", starred: "", archived: "" };

export const apiPath = (filter: RunsFilter): string => `/api/runs?${filled({ ...filter, limit: String(PAGE_SIZE) })}`;

/** A question with its follow-ups and tables: one entry of the list. */
export interface Conversation {
  first: ListedRun;
  /** What continues it, among the listed runs. */
  later: ListedRun[];
  /** The run of it that is listed first: the newest one, or the best match. */
  leading: ListedRun;
}

/** In the order of their first runs in the list. */
export function conversationsOf({ runs, roots }: Pick<RunPage, "runs" | "roots">): Conversation[] {
  const byId = new Map([...roots, ...runs].map((run) => [run.task_id, run]));
  const entries = new Map<string, Conversation>();
  for (const run of runs) {
    const first = byId.get(run.root_id ?? run.task_id) ?? run;
    const entry: Conversation = entries.get(first.task_id) ?? { first, later: [], leading: run };
    entries.set(first.task_id, entry);
    if (run.task_id !== first.task_id) entry.later.push(run);
  }
  return [...entries.values()];
}

/** A start that failed and cost nothing: nothing of it is worth reading. */
export const isFreeFailure = ({ first: { status, cost_usd: cost }, later }: Conversation): boolean =>
  status === "failed" && cost === 0 && later.length === 0;

/** Replaces changed runs in place; their search excerpts stay. */
export function withUpdates(listed: ListedRun[], changed: RunHead[]): ListedRun[] {
  const news = new Map(changed.map((run) => [run.task_id, run]));
  return listed.map((run) => {
    const next = news.get(run.task_id);
    return next === undefined ? run : { ...next, root_id: run.root_id, found: run.found };
  });
}
