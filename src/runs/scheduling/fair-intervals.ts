/** Computes poll intervals per owner as max-min fair shares of the rate limit. */

export interface Demand {
  runsOf: ReadonlyMap<string, number>;
  /** Polls per second. */
  rate: number;
  minIntervalMs: number;
}

/** The share of the rate that is scheduled, so that due polls get a permit at once. */
const SCHEDULED_SHARE = 0.95;

/** Returns the interval of each owner in ms. Owners with few runs get all they can use; the others share the rest. */
export function fairIntervals({ runsOf, rate, minIntervalMs }: Demand): Map<string, number> {
  const ascending = [...runsOf].toSorted(([, a], [, b]) => a - b);
  let left = rate * SCHEDULED_SHARE;
  return new Map(
    ascending.map(([owner, runs], n) => {
      const share = Math.min((runs * 1_000) / minIntervalMs, left / (ascending.length - n));
      left -= share;
      return [owner, (runs * 1_000) / share];
    }),
  );
}

/** Among polls that are due, those of owners with few runs come first. */
export const priorityOf = (runs: number): number => -Math.floor(Math.log2(Math.max(1, runs)));
