/** Paid work that only one call at a time does, in all processes on the database: the next finds what was paid for. */

import { createSlotPool, type SlotPoolOptions } from "./slots.ts";

interface Turn extends Omit<SlotPoolOptions, "size"> {
  signal: AbortSignal;
  onWait?: (() => void) | undefined;
}

interface LimitedTurn extends Turn {
  /** How long it waits for its turn. */
  maxMs: number;
}

/** Resolves with undefined, without having done the work, if its turn does not come in time. */
export function inTurn<T>(turn: LimitedTurn, work: () => Promise<T>): Promise<T | undefined>;
export function inTurn<T>(turn: Turn, work: () => Promise<T>): Promise<T>;
export async function inTurn<T>(
  { signal, maxMs, onWait = () => {}, ...pool }: Turn & Partial<LimitedTurn>,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const late = maxMs === undefined ? undefined : AbortSignal.timeout(Math.max(0, Math.ceil(maxMs)));
  const release = await createSlotPool({ ...pool, size: 1 })
    .take({ signal: late === undefined ? signal : AbortSignal.any([signal, late]), onWait })
    .catch((error: unknown) => {
      if (late?.aborted !== true || signal.aborted) throw error;
      return undefined;
    });
  if (release === undefined) return undefined;
  try {
    return await work();
  } finally {
    await release();
  }
}
