/**
 * Megabytes of hostile text are parsed to the end by every parser; the lab measures how their time grows (T15, T16).
 */

import { describe, expect, test } from "vitest";
import { HOSTILE, MEGABYTE } from "../corpus/hostile-texts.ts";
import { READERS } from "./large-texts.ts";

/** Quadratic time would take hours with this size, linear time a moment. */
const SIZE = MEGABYTE;

describe.each(Object.entries(READERS))("%s (T15)", (name, { read, texts }) => {
  // The corpus tests already parse its texts, at 10 MB.
  const own = Object.entries(texts).filter(([text]) => name !== "JSON extraction" || !Object.hasOwn(HOSTILE, text));
  test.each(own)("%s are read to the end", (_text, make) => {
    expect(() => read(make(SIZE))).not.toThrow();
  });
});
