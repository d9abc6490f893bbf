/** Seeded random numbers: the same seed generates the same documents on every machine. */

export interface Random {
  /** A number from 0 up to, but not including, 1. */
  next: () => number;
  /** A whole number from `low` to `high`, both included. */
  between: (low: number, high: number) => number;
  pick: <Item>(items: readonly Item[]) => Item;
  /** `count` different items in random order. */
  sample: <Item>(items: readonly Item[], count: number) => Item[];
}

export function createRandom(seed: number): Random {
  // mulberry32: https://github.com/cprosche/mulberry32
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  const sample = <Item>(items: readonly Item[], count: number): Item[] => {
    const left = [...items];
    const drawn: Item[] = [];
    while (drawn.length < count && left.length > 0) {
      drawn.push(...left.splice(between(0, left.length - 1), 1));
    }
    return drawn;
  };
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[between(0, items.length - 1)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  };
  return { next, between, pick, sample };
}
