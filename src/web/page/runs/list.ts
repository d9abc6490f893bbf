/** The list as data: its URL, and updates of its rows. */

import type { RunHead } from "../../../operations/view/run-view.ts";
import type { ListedRun } from "../../wire.ts";

const PAGE_SIZE = 100;

export interface RunsFilter {
  text: string;
  status: string;
  kind: string;
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
export const EVERYTHING = { text: "", status: "", kind: "", starred: "", archived: "" };

export const apiPath = (filter: RunsFilter): string => `/api/runs?${filled({ ...filter, limit: String(PAGE_SIZE) })}`;

/** Whether the run belongs to the list by its marks. */
export const isListed = ({ starred, archived }: RunsFilter, run: RunHead): boolean =>
  (run.archived === true) === (archived === "true") && (starred !== "true" || run.starred === true);

/** Replaces changed runs in place; their search excerpts stay. */
export function withUpdates(listed: ListedRun[], changed: RunHead[]): ListedRun[] {
  const news = new Map(changed.map((run) => [run.task_id, run]));
  return listed.map((run) => {
    const next = news.get(run.task_id);
    return next === undefined ? run : { ...next, ...(run.found === undefined ? {} : { found: run.found }) };
  });
}
