/** Ids that follow from a value. */

import { hash } from "node:crypto";

/** A UUID v4 whose random part is a hash, so that the same value has the same id. */
export function uuidOf(value: unknown): string {
  const hex = hash("sha256", JSON.stringify(value));
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
