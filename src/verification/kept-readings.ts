/** Keeps long pages while they are read in pieces, so that all pieces are of one reading. */

import type { PageReading } from "../pages/page.ts";
import type { Clock } from "../platform/clock.ts";

export type TextReading = Extract<PageReading, { outcome: "text" }>;

export interface KeptReadings {
  find(key: string): TextReading | undefined;
  keep(key: string, reading: TextReading): void;
  drop(key: string): void;
}

/** A model reads the next piece within minutes, or not at all. */
const KEPT_MS = 10 * 60_000;
/** Of all of them: more than the longest page that is read. */
const MAX_CHARACTERS = 20_000_000;

export function createKeptReadings({ monotonic }: Pick<Clock, "monotonic">): KeptReadings {
  const kept = new Map<string, { reading: TextReading; characters: number; until: number }>();
  const dropExpired = (): void => {
    for (const [key, { until }] of kept) if (until <= monotonic()) kept.delete(key);
  };
  return {
    find: (key) => {
      dropExpired();
      return kept.get(key)?.reading;
    },
    keep: (key, reading) => {
      dropExpired();
      kept.delete(key);
      const characters = reading.page.blocks.reduce((sum, { length }) => sum + length, 0);
      kept.set(key, { reading, characters, until: monotonic() + KEPT_MS });
      let total = [...kept.values()].reduce((sum, one) => sum + one.characters, 0);
      for (const [oldest, one] of kept) {
        if (total <= MAX_CHARACTERS) return;
        kept.delete(oldest);
        total -= one.characters;
      }
    },
    drop: (key) => void kept.delete(key),
  };
}
