/** Medians and quartiles, which are robust against slow samples of a busy machine. */

export interface Spread {
  low: number;
  median: number;
  high: number;
}

export function spreadOf(samples: readonly number[]): Spread {
  const sorted = samples.toSorted((a, b) => a - b);
  return { low: quantile(sorted, 0.25), median: quantile(sorted, 0.5), high: quantile(sorted, 0.75) };
}

/** Median and 99th percentile. */
export interface Tail {
  p50: number;
  p99: number;
}

export function tailOf(samples: readonly number[]): Tail {
  const sorted = samples.toSorted((a, b) => a - b);
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) };
}

export const median = (samples: readonly number[]): number => spreadOf(samples).median;

/** Each sample divided by the one taken next to it, so that a slow minute affects both. */
export const ratiosOf = (ours: readonly number[], theirs: readonly number[]): Spread =>
  spreadOf(ours.map((sample, index) => sample / (theirs[index] ?? Number.NaN)));

function quantile(sorted: readonly number[], share: number): number {
  const position = (sorted.length - 1) * share;
  const before = sorted[Math.floor(position)] ?? Number.NaN;
  const after = sorted[Math.ceil(position)] ?? Number.NaN;
  return before + (after - before) * (position - Math.floor(position));
}

export const withSpread = ({ low, median: middle, high }: Spread, digits: number): string =>
  `${middle.toFixed(digits)} (${low.toFixed(digits)}–${high.toFixed(digits)})`;

const Z_95 = 1.96;

/** Wilson interval of 95 % for a share; `[0, 1]` without any observation. */
export function wilson(part: number, total: number): [low: number, high: number] {
  if (total === 0) return [0, 1];
  const share = part / total;
  const square = Z_95 ** 2 / total;
  const middle = (share + square / 2) / (1 + square);
  const half = (Z_95 * Math.sqrt((share * (1 - share)) / total + square / (4 * total))) / (1 + square);
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}
