/** Repairs damaged JSON within a time limit: in the worst case, the library's time grows faster than the text's cube. */

import { type Context, createContext, Script } from "node:vm";
import { jsonrepair } from "jsonrepair";

/** For all texts of one answer together, because the process handles nothing else meanwhile. */
const MAX_REPAIR_MS = 250;

/** Shorter texts take milliseconds at worst, not more than the thread that watches the time. */
const MIN_LIMITED_CHARACTERS = 500;

/** Only `vm` can stop synchronous code. The script calls our function and contains no text of others. */
const CALL = new Script("repair()");
/** Created once, by the first repair, because that takes a millisecond. */
let context: Context | undefined;

/** The returned function throws if a text cannot be repaired, or not within the time for all texts given to it. */
export function createJsonRepair(maxMs = MAX_REPAIR_MS): (text: string) => string {
  let leftMs = maxMs;
  return (text) => {
    if (leftMs < 1) throw new RangeError("The time for repairs is used up.");
    const startedAt = performance.now();
    try {
      if (text.length < MIN_LIMITED_CHARACTERS) return jsonrepair(text);
      context ??= createContext({});
      context["repair"] = () => jsonrepair(text);
      return String(CALL.runInContext(context, { timeout: Math.floor(leftMs) }));
    } finally {
      leftMs -= performance.now() - startedAt;
    }
  };
}
