/** Keeps the longest text of a paid run when a later response contains less. */

import { z } from "zod";
import { withinPictureBounds } from "../../reports/pictures/keep.ts";
import type { Picture } from "../../reports/pictures/picture.ts";
import type { NewResult } from "../run.ts";

const texts = z.array(z.string()).catch([]);

/** Merges the final result of a run with the draft that was stored while it was running. */
export function withLongestText(stored: NewResult | undefined, next: NewResult): NewResult {
  if (stored === undefined || !isLonger(stored.report, next.report)) return next;
  // A finished report is the result even if it is shorter; the longer draft is kept in `earlier_outputs`.
  if (next.partial)
    return withPicturesOf(next, { ...stored, metadata: { ...stored.metadata, ...next.metadata }, partial: true });
  const earlier = texts.parse(next.metadata["earlier_outputs"]);
  const isKept = normalizeSpace([...earlier, next.report].join("\n")).includes(normalizeSpace(stored.report));
  const earlier_outputs = isKept ? earlier : [...earlier, stored.report];
  const metadata = isKept ? next.metadata : { ...next.metadata, earlier_outputs };
  return withPicturesOf(stored, { ...next, metadata });
}

const isLonger = (one: string, other: string): boolean => one.trim().length > other.trim().length;

/** Normalises white space, which may differ between the draft and the report. */
const normalizeSpace = (text: string): string => text.trim().replaceAll(/\s+/g, " ");

/** Appends pictures that only the other result has; their offsets refer to a different text. */
function withPicturesOf(other: NewResult, result: NewResult): NewResult {
  const own = result.pictures ?? [];
  const hashes = new Set(own.map(({ hash }) => hash));
  const offset = result.report.length;
  const added = (other.pictures ?? []).filter(({ hash }) => !hashes.has(hash));
  if (added.length === 0) return result;
  const all = [...own, ...added.map((picture): Picture => ({ ...picture, offset }))];
  return { ...result, pictures: withinPictureBounds(all).map((picture, index) => ({ ...picture, n: index + 1 })) };
}
