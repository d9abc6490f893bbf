/** One page of the list: changed runs are updated in place, and a change of the list itself loads the page again. */

import { useEffect } from "preact/hooks";
import type { RunHead } from "../../../operations/view/run-view.ts";
import type { RunPage } from "../../wire.ts";
import { fetchJson } from "../app/request.ts";
import { useLive } from "../live/live.ts";
import { STATUS_LABELS } from "../../../runs/run.ts";
import { announce, useLoad } from "../ui/parts.tsx";
import { nameOf } from "../library/organize.ts";
import { apiPath, isListed, type RunsFilter, withUpdates } from "./list.ts";
import { isUnfinished } from "../ui/run-state.ts";

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
      update((before) => ({
        ...before,
        runs: withUpdates(before.runs, runs).filter((run) => isListed(filter, run)),
      }));
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
