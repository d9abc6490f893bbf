/** How often the runs of each owner are polled when there are more than the rate allows: max-min shares of it. */

export interface Demand {
  runsOf: ReadonlyMap<string, number>;
  /** Polls a second. */
  rate: number;
  minIntervalMs: number;
}

/** A little below the rate: what is due then finds a permit at once. */
const USED = 0.95;

/** Milliseconds for each owner. An owner with few runs gets all it can use; those with many share what is left. */
export function fairIntervals({ runsOf, rate, minIntervalMs }: Demand): Map<string, number> {
  const fewestFirst = [...runsOf].toSorted(([, a], [, b]) => a - b);
  let left = rate * USED;
  return new Map(
    fewestFirst.map(([owner, runs], n) => {
      const share = Math.min((runs * 1_000) / minIntervalMs, left / (fewestFirst.length - n));
      left -= share;
      return [owner, (runs * 1_000) / share];
    }),
  );
}

/** Among polls that are due, those of owners with few runs come first. */
export const priorityOf = (runs: number): number => -Math.floor(Math.log2(Math.max(1, runs)));
