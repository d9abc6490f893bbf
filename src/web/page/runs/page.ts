/**
 * One page of the list, updated by live events. New runs that arrive while the reader is further down are held back.
 */

import { useEffect, useRef, useState } from "preact/hooks";
import type { RunPage, RunSummary } from "../../wire.ts";
import { fetchJson } from "../app/request.ts";
import { useLive } from "../live/live.ts";
import { announce, statusLabel } from "../ui/parts.tsx";
import { nameOf } from "../library/organize.ts";
import { apiPath, withInserted, addedRuns, isListed, type RunsFilter, withUpdates } from "./list.ts";
import { isUnfinished, updateTally } from "./tally.ts";

/** Above this scroll position a new row may be inserted; further down it would move what is being read. */
const AT_TOP_PX = 200;
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
  /** New runs that are not shown yet. */
  waiting: RunSummary[];
  error: unknown;
  loading: boolean;
}

interface ShownListing extends Listing {
  showWaiting: () => void;
}

const initialListing = (path: string): Listing => ({
  path,
  page: pageCache.get(path),
  waiting: [],
  error: undefined,
  loading: true,
});

/** While another page is loading the previous one stays, so that typing in the search field does not flicker. */
export function useRunsPage(filter: RunsFilter): ShownListing {
  const path = apiPath(filter);
  const [listing, setListing] = useState(() => initialListing(path));
  const running = useRef<AbortController | undefined>(undefined);
  const applyChanges = (changed: RunSummary[], from?: RunPage): void =>
    setListing((before) => (before.path === path ? withChanges(before, { filter, changed, from }) : before));
  const load = (): void => {
    running.current?.abort();
    const mine = new AbortController();
    running.current = mine;
    fetchJson<RunPage>(path, { signal: mine.signal }).then(
      (page) => {
        if (mine.signal.aborted) return;
        updateTally(page);
        if (isScrolledDown() && listing.path === path && listing.page !== undefined) applyChanges(page.runs, page);
        else setListing({ path, page, waiting: [], error: undefined, loading: false });
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
    runs: ({ runs }) => {
      if (listing.page !== undefined) announceEnds(listing.page.runs, runs);
      applyChanges(runs);
      // The numbers of matches come with the page.
      if (filter.text !== "" && listing.page !== undefined && haveOtherMarks(listing.page.runs, runs)) load();
    },
  });
  const showWaiting = (): void => setListing((before) => withWaiting(before));
  return { ...listing, showWaiting };
}

const haveOtherMarks = (listed: RunSummary[], changed: RunSummary[]): boolean =>
  listed.some((run) => {
    const next = changed.find(({ task_id: id }) => id === run.task_id);
    return next !== undefined && (next.starred !== run.starred || next.archived !== run.archived);
  });

const isScrolledDown = (): boolean => scrollY > AT_TOP_PX;

interface Changes {
  filter: RunsFilter;
  changed: RunSummary[];
  /** Set if the changes came with a whole page. */
  from?: RunPage | undefined;
}

function withChanges(before: Listing, { filter, changed, from }: Changes): Listing {
  if (before.page === undefined) return before;
  const runs = withUpdates(before.page.runs, changed).filter((run) => isListed(filter, run));
  const page = { ...before.page, ...from, runs };
  const hasMore = page.next_cursor !== undefined;
  const fresh = addedRuns({ filter, listed: page.runs, hasMore }, changed);
  const waiting = withInserted(withUpdates(before.waiting, changed), fresh).filter((run) => isListed(filter, run));
  const next = { ...before, page, waiting, error: undefined, loading: false };
  return isScrolledDown() ? next : withWaiting(next);
}

function withWaiting(before: Listing): Listing {
  if (before.page === undefined || before.waiting.length === 0) return before;
  return { ...before, waiting: [], page: { ...before.page, runs: withInserted(before.page.runs, before.waiting) } };
}

function announceEnds(listed: RunSummary[], changed: RunSummary[]): void {
  const working = new Set(listed.filter(({ status }) => isUnfinished(status)).map((run) => run.task_id));
  const ended = changed.filter((run) => working.has(run.task_id) && !isUnfinished(run.status));
  if (ended.length > 0)
    announce(ended.map((run) => `${statusLabel(run.status)}: ${nameOf(run).slice(0, 100)}`).join(". "));
}
