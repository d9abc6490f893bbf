/** Adjusts documented ranges to the user's own runs, more strongly the more runs there are. */

import { COMPLEXITIES, type Complexity } from "./complexity.ts";

export interface Range {
  min: number;
  likely: number;
  max: number;
}

export type Ranges = Record<Complexity, Range>;

export interface Observation {
  complexity: Complexity;
  value: number;
}

/**
 * First scales all classes by a common factor, because a user's tasks tend to be expensive or cheap in every class; then
 * shifts each class towards its own runs. Finally averages values that contradict the order of the classes, weighted by
 * their runs: simple ≤ medium ≤ complex must hold for every figure.
 */
export function calibrate(documented: Ranges, observations: readonly Observation[]): Ranges {
  const factor = commonFactor(documented, observations);
  const shifted = COMPLEXITIES.map((complexity) => {
    const own = observations.filter((run) => run.complexity === complexity).map((run) => run.value);
    return { range: shiftTowards(scale(documented[complexity], factor), own), weight: own.length + 1 };
  });
  const inOrder = (figure: keyof Range): number[] =>
    ascending(shifted.map(({ range, weight }) => ({ value: range[figure], weight })));
  const [min, likely, max] = [inOrder("min"), inOrder("likely"), inOrder("max")];
  const rangeAt = (index: number): Range => ({
    min: min[index] ?? 0,
    likely: likely[index] ?? 0,
    max: max[index] ?? 0,
  });
  return { simple: rangeAt(0), medium: rangeAt(1), complex: rangeAt(2) };
}

/** One run is chance (a task may search 17 or 160 times), three runs weigh as much as the documentation, ten decide. */
const trust = (runs: number): number => runs ** 2 / (runs ** 2 + 9);

function commonFactor(documented: Ranges, observations: readonly Observation[]): number {
  const ratios = observations.map(({ complexity, value }) => value / documented[complexity].likely);
  return ratios.length === 0 ? 1 : interpolate(1, quantile(ratios, 0.5), trust(ratios.length));
}

/** Uses one weight for all three figures, which keeps min ≤ likely ≤ max. */
function shiftTowards(range: Range, values: number[]): Range {
  if (values.length === 0) return range;
  const weight = trust(values.length);
  return {
    min: interpolate(range.min, quantile(values, 0.1), weight),
    likely: interpolate(range.likely, quantile(values, 0.5), weight),
    max: interpolate(range.max, quantile(values, 0.9), weight),
  };
}

const scale = ({ min, likely, max }: Range, factor: number): Range => ({
  min: min * factor,
  likely: likely * factor,
  max: max * factor,
});

const interpolate = (from: number, to: number, weight: number): number => from + (to - from) * weight;

function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = share * (sorted.length - 1);
  const below = sorted[Math.floor(position)] ?? 0;
  const above = sorted[Math.ceil(position)] ?? below;
  return interpolate(below, above, position - Math.floor(position));
}

/** Isotonic regression by pooling adjacent violators: the nearest ascending numbers. */
function ascending(items: { value: number; weight: number }[]): number[] {
  const pools: { value: number; weight: number; size: number }[] = [];
  for (const item of items) {
    let pool = { ...item, size: 1 };
    for (let last = pools.at(-1); last !== undefined && last.value > pool.value; last = pools.at(-1)) {
      pools.pop();
      const weight = last.weight + pool.weight;
      const value = (last.value * last.weight + pool.value * pool.weight) / weight;
      pool = { value, weight, size: last.size + pool.size };
    }
    pools.push(pool);
  }
  return pools.flatMap(({ value, size }) => Array.from({ length: size }, () => value));
}
