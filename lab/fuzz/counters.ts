/** The array in which instrumented code counts its visits, and the detection of new coverage. */

/** More than the product has; beyond it locations would share a counter. */
export const MAX_LOCATIONS = 1 << 14;

export const COUNTERS = new Uint8Array(MAX_LOCATIONS);

/** Once, twice, a few times, many times: AFL's classes, so that loops count, but not every iteration. */
const CLASSES = Uint8Array.from({ length: 256 }, (_unused, visits) =>
  visits === 0
    ? 0
    : visits < 4
      ? 1 << (visits - 1)
      : visits < 8
        ? 8
        : visits < 16
          ? 16
          : visits < 32
            ? 32
            : visits < 128
              ? 64
              : 128,
);

export interface Coverage {
  /** True if the visits since the last call contain new coverage. Resets the counters. */
  isNew(): boolean;
  /** The number of locations visited so far. */
  locations(): number;
}

export function createCoverage(): Coverage {
  const seen = new Uint8Array(MAX_LOCATIONS);
  let known = 0;
  return {
    isNew: () => {
      let found = false;
      for (let location = 0; location < MAX_LOCATIONS; location += 1) {
        const visits = COUNTERS[location] ?? 0;
        if (visits === 0) continue;
        const bit = CLASSES[visits] ?? 0;
        const before = seen[location] ?? 0;
        if ((before & bit) === 0) {
          if (before === 0) known += 1;
          seen[location] = before | bit;
          found = true;
        }
        COUNTERS[location] = 0;
      }
      return found;
    },
    locations: () => known,
  };
}
