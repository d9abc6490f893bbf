/** Keeps the longest text that was paid for, whatever a later answer holds. */

import { z } from "zod";
import { withinPictureBounds } from "../../reports/pictures/keep.ts";
import type { Picture } from "../../reports/pictures/picture.ts";
import type { NewResult } from "../run.ts";

const texts = z.array(z.string()).catch([]);

/** What to store at the end of a run, given what was stored while it worked. */
export function withLongestText(stored: NewResult | undefined, next: NewResult): NewResult {
  if (stored === undefined || !isLonger(stored.report, next.report)) return next;
  // A finished report is the result even if it is shorter; the longer draft stays readable beside it.
  if (next.partial)
    return withPicturesOf(next, { ...stored, metadata: { ...stored.metadata, ...next.metadata }, partial: true });
  const earlier = texts.parse(next.metadata["earlier_outputs"]);
  const isKept = words([...earlier, next.report].join("\n")).includes(words(stored.report));
  const earlier_outputs = isKept ? earlier : [...earlier, stored.report];
  const metadata = isKept ? next.metadata : { ...next.metadata, earlier_outputs };
  return withPicturesOf(stored, { ...next, metadata });
}

const isLonger = (one: string, other: string): boolean => one.trim().length > other.trim().length;

/** Parts may be joined by other blanks than before. */
const words = (text: string): string => text.trim().replaceAll(/\s+/g, " ");

/** Pictures that only the other result has stand at the end: their places are those of another text. */
function withPicturesOf(other: NewResult, result: NewResult): NewResult {
  const own = result.pictures ?? [];
  const hashes = new Set(own.map(({ hash }) => hash));
  const offsetByte = Buffer.byteLength(result.report);
  const added = (other.pictures ?? []).filter(({ hash }) => !hashes.has(hash));
  if (added.length === 0) return result;
  const all = [...own, ...added.map((picture): Picture => ({ ...picture, offsetByte }))];
  return { ...result, pictures: withinPictureBounds(all).map((picture, index) => ({ ...picture, n: index + 1 })) };
}
