/** Formats times: median, 99th percentile, and maximum. */

/** Infinity if nothing was measured, so that no target is met. */
export const worst = (samples: readonly number[]): number =>
  samples.length === 0 ? Infinity : samples.reduce((max, one) => Math.max(max, one));

export function spread(samples: readonly number[]): string {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share: number): string => milliseconds(sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN);
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)} of ${sorted.length}`;
}

const milliseconds = (ms: number): string => (ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`);
