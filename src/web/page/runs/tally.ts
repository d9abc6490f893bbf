/** The number of runs in each state, for the list's filters and the tab title. */

import { useEffect, useState } from "preact/hooks";
import type { RunCounts, RunPage } from "../../wire.ts";
import { fetchJson } from "../app/request.ts";
import { useLive } from "../live/live.ts";
import { UNFINISHED } from "../ui/run-state.ts";

export const unfinished = ({ counts }: RunCounts): number =>
  UNFINISHED.reduce((sum, status) => sum + (counts[status] ?? 0), 0);

/** A hidden tab has no live stream, but its title must stay current. */
const HIDDEN_POLL_MS = 30_000;

let tally: RunCounts | undefined;
const readers = new Set<(tally: RunCounts) => void>();

/** Takes the counts of every response that has them. */
export function updateTally({ counts, total, starred, archived }: RunCounts): void {
  tally = { counts, total, starred, archived };
  for (const read of readers) read(tally);
}

export function useTally(): RunCounts | undefined {
  const [now, read] = useState(tally);
  useEffect(() => {
    readers.add(read);
    if (tally !== undefined) read(tally);
    return () => {
      readers.delete(read);
    };
  }, []);
  return now;
}

/** Keeps the counts current; used by the frame, which is always mounted. */
export function useTallyUpdates(): void {
  useLive({
    hello: () => void refreshTally(),
    runs: ({ list_changed: listChanged }) => {
      if (listChanged) void refreshTally();
    },
  });
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.hidden) void refreshTally();
    }, HIDDEN_POLL_MS);
    return () => clearInterval(timer);
  }, []);
}

const refreshTally = (): Promise<void> => fetchJson<RunPage>("/api/runs?limit=1").then(updateTally, () => {});
