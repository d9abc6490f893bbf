/** Runs paid work in one call at a time across all processes; later calls reuse its stored result. */

import { createSlotPool, type SlotPoolOptions } from "./slots.ts";

interface ExclusiveOptions extends Omit<SlotPoolOptions, "size"> {
  signal: AbortSignal;
  onWait?: (() => void) | undefined;
}

interface LimitedOptions extends ExclusiveOptions {
  /** How long it waits for the calls before it. */
  maxMs: number;
}

/** Resolves with undefined, without having done the work, if the calls before it take longer than that. */
export function runExclusively<T>(options: LimitedOptions, work: () => Promise<T>): Promise<T | undefined>;
export function runExclusively<T>(options: ExclusiveOptions, work: () => Promise<T>): Promise<T>;
export async function runExclusively<T>(
  { signal, maxMs, onWait = () => {}, ...pool }: ExclusiveOptions & Partial<LimitedOptions>,
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
