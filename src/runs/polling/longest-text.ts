/** Keeps the longest text that was paid for, whatever a later answer holds. */

import { z } from "zod";
import type { NewResult } from "../run.ts";

const texts = z.array(z.string()).catch([]);

/** What to store at the end of a run, given what was stored while it worked. */
export function withLongestText(stored: NewResult | undefined, next: NewResult): NewResult {
  if (stored === undefined || !isLonger(stored.report, next.report)) return next;
  // A finished report is the result even if it is shorter; the longer draft stays readable beside it.
  if (!next.partial) {
    const earlier_outputs = [...texts.parse(next.metadata["earlier_outputs"]), stored.report];
    return { ...next, metadata: { ...next.metadata, earlier_outputs } };
  }
  return { ...stored, metadata: { ...stored.metadata, ...next.metadata }, partial: true };
}

const isLonger = (one: string, other: string): boolean => one.trim().length > other.trim().length;
