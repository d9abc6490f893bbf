/** The array in which instrumented code counts its visits, and what of it is new. */

/** More than the product has; beyond it places would share a counter. */
export const MOST_PLACES = 1 << 14;

export const COUNTERS = new Uint8Array(MOST_PLACES);

/** Once, twice, a few times, many times: AFL's classes, so that loops tell something and not too much. */
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
  /** True when the visits since the last question hold something that none before had. Forgets them. */
  isNew(): boolean;
  /** How many places were ever visited. */
  places(): number;
}

export function createCoverage(): Coverage {
  const seen = new Uint8Array(MOST_PLACES);
  let known = 0;
  return {
    isNew: () => {
      let found = false;
      for (let place = 0; place < MOST_PLACES; place += 1) {
        const visits = COUNTERS[place] ?? 0;
        if (visits === 0) continue;
        const bit = CLASSES[visits] ?? 0;
        const before = seen[place] ?? 0;
        if ((before & bit) === 0) {
          if (before === 0) known += 1;
          seen[place] = before | bit;
          found = true;
        }
        COUNTERS[place] = 0;
      }
      return found;
    },
    places: () => known,
  };
}
