/** The list as data: its URL, and updates of its rows. */

import type { RunHead } from "../../../operations/view/run-view.ts";
import type { ListedRun } from "../../wire.ts";

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
