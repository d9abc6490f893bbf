/** One page of the list, kept true by live events. What comes while somebody reads further down waits to be asked for. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { RunPage, RunSummary } from "../../wire.ts";
import { ask } from "../app/request.ts";
import { useLive } from "../live/live.ts";
import { announce, statusWord } from "../ui/parts.tsx";
import { apiPath, inserted, newcomers, type RunsFilter, updated } from "./list.ts";
import { isUnfinished, keepTally } from "../figures/tally.ts";

/** Whoever sees the first rows sees a new one come; further down it would push away what is read. */
const AT_TOP_PX = 200;
const KEPT_PAGES = 8;

/** Pages as they were left, so that going back finds the list where it was. */
const kept = new Map<string, RunPage>();

function keep(path: string, page: RunPage): void {
  kept.delete(path);
  kept.set(path, page);
  for (const oldest of [...kept.keys()].slice(0, -KEPT_PAGES)) kept.delete(oldest);
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

const unseen = (path: string): Listing => ({
  path,
  page: kept.get(path),
  waiting: [],
  error: undefined,
  loading: true,
});

/** While another page is loaded the last one stays, so that typing in the search does not flicker. */
export function useRunsPage(filter: RunsFilter): ShownListing {
  const path = apiPath(filter);
  const [listing, setListing] = useState(() => unseen(path));
  const running = useRef<AbortController | undefined>(undefined);
  const hear = (changed: RunSummary[], from?: RunPage): void =>
    setListing((before) => (before.path === path ? withNews(before, { filter, changed, from }) : before));
  const look = (): void => {
    running.current?.abort();
    const mine = new AbortController();
    running.current = mine;
    ask<RunPage>(path, { signal: mine.signal }).then(
      (page) => {
        if (mine.signal.aborted) return;
        keepTally(page);
        if (isReadBelow() && listing.path === path && listing.page !== undefined) hear(page.runs, page);
        else setListing({ path, page, waiting: [], error: undefined, loading: false });
      },
      (error: unknown) => {
        if (!mine.signal.aborted) setListing((before) => ({ ...before, path, error, loading: false }));
      },
    );
  };
  useEffect(() => {
    setListing((before) => (before.path === path ? before : { ...unseen(path), page: kept.get(path) ?? before.page }));
    look();
    return () => running.current?.abort();
  }, [path]);
  useEffect(() => {
    if (listing.page !== undefined && !listing.loading && listing.path === path) keep(path, listing.page);
  }, [listing]);
  useLive({
    hello: look,
    runs: ({ runs }) => {
      if (listing.page !== undefined) announceEnds(listing.page.runs, runs);
      hear(runs);
    },
  });
  const showWaiting = (): void => setListing((before) => withWaiting(before));
  return { ...listing, showWaiting };
}

const isReadBelow = (): boolean => scrollY > AT_TOP_PX;

interface News {
  filter: RunsFilter;
  changed: RunSummary[];
  /** Where they came with a whole page. */
  from?: RunPage | undefined;
}

function withNews(before: Listing, { filter, changed, from }: News): Listing {
  if (before.page === undefined) return before;
  const page = { ...before.page, ...from, runs: updated(before.page.runs, changed) };
  const hasMore = page.next_cursor !== undefined;
  const fresh = newcomers({ filter, listed: page.runs, hasMore }, changed);
  const waiting = inserted(updated(before.waiting, changed), fresh);
  const next = { ...before, page, waiting, error: undefined, loading: false };
  return isReadBelow() ? next : withWaiting(next);
}

function withWaiting(before: Listing): Listing {
  if (before.page === undefined || before.waiting.length === 0) return before;
  return { ...before, waiting: [], page: { ...before.page, runs: inserted(before.page.runs, before.waiting) } };
}

function announceEnds(listed: RunSummary[], changed: RunSummary[]): void {
  const working = new Set(listed.filter(({ status }) => isUnfinished(status)).map((run) => run.task_id));
  const ended = changed.filter((run) => working.has(run.task_id) && !isUnfinished(run.status));
  if (ended.length > 0)
    announce(ended.map((run) => `${statusWord(run.status)}: ${run.query.slice(0, 100)}`).join(". "));
}
