/**
 * Virtual time that advances only when nothing else can run, and seeded randomness: the same seed gives the same
 * history.
 */

export interface VirtualTime {
  /** Milliseconds since the history began. */
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  after(ms: number, action: () => void): void;
  /** Advances time until the work is done; returns false if it is not done within this time. */
  pass(work: Promise<unknown>, maxMs: number): Promise<boolean>;
}

interface Timer {
  at: number;
  order: number;
  action: () => void;
}

export function createTime(): VirtualTime {
  const timers: Timer[] = [];
  let now = 0;
  let order = 0;
  const after = (ms: number, action: () => void): Timer => {
    const timer = { at: now + Math.max(0, ms), order: (order += 1), action };
    insert(timers, timer);
    return timer;
  };
  return {
    now: () => now,
    after: (ms, action) => void after(ms, action),
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) {
          reject(new Error("aborted"));
          return;
        }
        const timer = after(ms, () => {
          signal?.removeEventListener("abort", stop);
          resolve();
        });
        const stop = (): void => {
          timer.action = () => {};
          reject(new Error("aborted"));
        };
        signal?.addEventListener("abort", stop, { once: true });
      }),
    pass: async (work, maxMs) => {
      const end = now + maxMs;
      let done = false;
      const finish = (): void => void (done = true);
      work.then(finish, finish);
      for (;;) {
        // The product waits only for virtual time or for settled promises, so one turn of the event loop runs
        // everything that can run.
        await new Promise(setImmediate);
        if (done) return true;
        const next = timers.shift();
        if (next === undefined || next.at > end) return false;
        now = next.at;
        next.action();
      }
    },
  };
}

/** Sorted by time, then by insertion. */
function insert(timers: Timer[], timer: Timer): void {
  let low = 0;
  let high = timers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((timers[middle]?.at ?? 0) <= timer.at) low = middle + 1;
    else high = middle;
  }
  timers.splice(low, 0, timer);
}

export interface Chance {
  /** From 0 up to but excluding 1. */
  next(): number;
  upTo(max: number): number;
  is(share: number): boolean;
  pick<T>(from: readonly T[]): T | undefined;
}

export function createChance(seed: number): Chance {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    upTo: (max) => Math.floor(next() * max),
    is: (share) => next() < share,
    pick: (from) => from[Math.floor(next() * from.length)],
  };
}
