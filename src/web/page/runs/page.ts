/** One page of the list: changed runs are updated in place, and a change of the list itself loads the page again. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { RunHead } from "../../../operations/view/run-view.ts";
import type { RunPage } from "../../wire.ts";
import { fetchJson } from "../app/request.ts";
import { useLive } from "../live/live.ts";
import { announce, statusLabel } from "../ui/parts.tsx";
import { nameOf } from "../library/organize.ts";
import { apiPath, isListed, type RunsFilter, withUpdates } from "./list.ts";
import { isUnfinished, updateTally } from "./tally.ts";

const MAX_CACHED_PAGES = 8;

/** Recently shown pages, so that going back restores the list. */
const pageCache = new Map<string, RunPage>();

function cachePage(path: string, page: RunPage): void {
  pageCache.delete(path);
  pageCache.set(path, page);
  for (const oldest of [...pageCache.keys()].slice(0, -MAX_CACHED_PAGES)) pageCache.delete(oldest);
}

interface Listing {
  path: string;
  page: RunPage | undefined;
  error: unknown;
  loading: boolean;
}

const initialListing = (path: string): Listing => ({
  path,
  page: pageCache.get(path),
  error: undefined,
  loading: true,
});

/**
 * While another page is loading the previous one stays, so that typing in the search field does not flicker. A row that
 * is added above does not move what is being read: browsers anchor the scroll position.
 */
export function useRunsPage(filter: RunsFilter): Listing {
  const path = apiPath(filter);
  const [listing, setListing] = useState(() => initialListing(path));
  const running = useRef<AbortController | undefined>(undefined);
  const load = (): void => {
    running.current?.abort();
    const mine = new AbortController();
    running.current = mine;
    fetchJson<RunPage>(path, { signal: mine.signal }).then(
      (page) => {
        if (mine.signal.aborted) return;
        updateTally(page);
        setListing({ path, page, error: undefined, loading: false });
      },
      (error: unknown) => {
        if (!mine.signal.aborted) setListing((before) => ({ ...before, path, error, loading: false }));
      },
    );
  };
  useEffect(() => {
    setListing((before) =>
      before.path === path ? before : { ...initialListing(path), page: pageCache.get(path) ?? before.page },
    );
    load();
    return () => running.current?.abort();
  }, [path]);
  useEffect(() => {
    if (listing.page !== undefined && !listing.loading && listing.path === path) cachePage(path, listing.page);
  }, [listing]);
  useLive({
    hello: load,
    runs: ({ runs, list_changed: listChanged }) => {
      if (listing.page !== undefined) announceEnds(listing.page.runs, runs);
      setListing((before) => (before.path === path ? withChanges(before, filter, runs) : before));
      if (listChanged) load();
    },
  });
  return listing;
}

function withChanges(before: Listing, filter: RunsFilter, changed: RunHead[]): Listing {
  if (before.page === undefined) return before;
  const runs = withUpdates(before.page.runs, changed).filter((run) => isListed(filter, run));
  return { ...before, page: { ...before.page, runs } };
}

function announceEnds(listed: RunHead[], changed: RunHead[]): void {
  const working = new Set(listed.filter(({ status }) => isUnfinished(status)).map((run) => run.task_id));
  const ended = changed.filter((run) => working.has(run.task_id) && !isUnfinished(run.status));
  if (ended.length > 0)
    announce(ended.map((run) => `${statusLabel(run.status)}: ${nameOf(run).slice(0, 100)}`).join(". "));
}
