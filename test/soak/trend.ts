/** Distinguishes growth from noise in a series of measurements. */

export interface Point {
  x: number;
  y: number;
}

/** The slope of the least-squares line. */
export function slopeOf(points: readonly Point[]): number {
  const meanX = mean(points.map(({ x }) => x));
  const meanY = mean(points.map(({ y }) => y));
  const spread = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  return spread === 0 ? 0 : points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / spread;
}

export interface Growth {
  /** From the median of the third quarter to the median of the last. */
  by: number;
  /** The difference of two such medians without growth: the spread of the third quarter, at least 4 and 3 %. */
  noise: number;
}

/** Compares medians, because garbage collection makes memory use a sawtooth. */
export function growthInSecondHalf(values: readonly number[]): Growth {
  const quarter = Math.floor(values.length / 4);
  const third = values.slice(2 * quarter, 3 * quarter);
  const slope = slopeOf(third.map((y, x) => ({ x, y })));
  // Growth within the quarter itself must not count as noise.
  const level = sorted(third.map((y, x) => y - slope * x));
  const middle = at(sorted(third), 0.5);
  const by = at(sorted(values.slice(3 * quarter)), 0.5) - middle;
  return { by, noise: Math.max(4, 0.03 * middle, at(level, 0.95) - at(level, 0.05)) };
}

const sorted = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b);

const at = (row: readonly number[], share: number): number => row[Math.floor((row.length - 1) * share)] ?? 0;

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
