/** How many runs there are in each state: for the filters of the list and the title of the tab. */

import { useEffect, useState } from "preact/hooks";
import type { RunPage, RunSummary } from "../../wire.ts";
import { ask } from "../app/request.ts";
import { useLive } from "../live/live.ts";

export type Tally = Pick<RunPage, "counts" | "total">;

const UNFINISHED: RunSummary["status"][] = ["pending", "running", "running_async"];

export const isUnfinished = (status: RunSummary["status"]): boolean => UNFINISHED.includes(status);

export const unfinished = ({ counts }: Tally): number =>
  UNFINISHED.reduce((sum, status) => sum + (counts[status] ?? 0), 0);

/** A hidden tab hears nothing, and its title is all that is seen of it. */
const HIDDEN_LOOK_MS = 30_000;

let tally: Tally | undefined;
const readers = new Set<(tally: Tally) => void>();

/** Every answer with the counts is taken, whoever asked. */
export function keepTally({ counts, total }: Tally): void {
  tally = { counts, total };
  for (const read of readers) read(tally);
}

export function useTally(): Tally | undefined {
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

/** Keeps the counts true; for the frame, which is always there. */
export function useTallying(): void {
  useLive({
    hello: () => void look(),
    runs: ({ list_changed: listChanged }) => {
      if (listChanged) void look();
    },
  });
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.hidden) void look();
    }, HIDDEN_LOOK_MS);
    return () => clearInterval(timer);
  }, []);
}

const look = (): Promise<void> => ask<RunPage>("/api/runs?limit=1").then(keepTally, () => {});
