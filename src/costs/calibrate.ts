/** Moves documented ranges towards what the user's own runs took, the further the more runs there are. */

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
 * First every class moves by what all runs together say, because a user's tasks tend to be dear or cheap whatever
 * their class; then each class by its own runs. Last, what contradicts the order of the classes is averaged, weighted
 * by the runs behind it: simple ≤ medium ≤ complex must hold in every number.
 */
export function calibrate(documented: Ranges, observations: readonly Observation[]): Ranges {
  const factor = commonFactor(documented, observations);
  const moved = COMPLEXITIES.map((complexity) => {
    const own = observations.filter((seen) => seen.complexity === complexity).map((seen) => seen.value);
    return { range: towards(scale(documented[complexity], factor), own), weight: own.length + 1 };
  });
  const inOrder = (figure: keyof Range): number[] =>
    ascending(moved.map(({ range, weight }) => ({ value: range[figure], weight })));
  const [min, likely, max] = [inOrder("min"), inOrder("likely"), inOrder("max")];
  const rangeAt = (index: number): Range => ({
    min: min[index] ?? 0,
    likely: likely[index] ?? 0,
    max: max[index] ?? 0,
  });
  return { simple: rangeAt(0), medium: rangeAt(1), complex: rangeAt(2) };
}

/** One run is chance (a task may search 17 times or 160), three weigh as much as the documentation, ten decide. */
const trust = (runs: number): number => runs ** 2 / (runs ** 2 + 9);

function commonFactor(documented: Ranges, observations: readonly Observation[]): number {
  const ratios = observations.map(({ complexity, value }) => value / documented[complexity].likely);
  return ratios.length === 0 ? 1 : between(1, quantile(ratios, 0.5), trust(ratios.length));
}

/** The same weight for all three figures keeps min ≤ likely ≤ max. */
function towards(range: Range, values: number[]): Range {
  if (values.length === 0) return range;
  const weight = trust(values.length);
  return {
    min: between(range.min, quantile(values, 0.1), weight),
    likely: between(range.likely, quantile(values, 0.5), weight),
    max: between(range.max, quantile(values, 0.9), weight),
  };
}

const scale = ({ min, likely, max }: Range, factor: number): Range => ({
  min: min * factor,
  likely: likely * factor,
  max: max * factor,
});

const between = (from: number, to: number, weight: number): number => from + (to - from) * weight;

function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)] ?? 0;
  const above = sorted[Math.ceil(at)] ?? below;
  return between(below, above, at - Math.floor(at));
}

/** Isotonic regression by pooling neighbours: the nearest ascending numbers, and it keeps the order of two lists. */
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
