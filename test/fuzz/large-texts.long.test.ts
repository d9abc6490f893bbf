/** Megabytes of hostile text come to an end in every reader; how their time grows is measured by the lab (T15, T16). */

import { describe, expect, test } from "vitest";
import { MEGABYTE } from "../corpus/hostile-texts.ts";
import { READERS } from "./large-texts.ts";

/** What took quadratic time would take hours with these, what is linear a moment. */
const SIZE = MEGABYTE;

describe.each(Object.entries(READERS))("%s (T15)", (name, { read, texts }) => {
  // The corpus tests read its own texts, at 10 MB.
  const own = Object.entries(texts).slice(0, name === "JSON extraction" ? 11 : undefined);
  test.each(own)("%s are read to the end", (_text, make) => {
    expect(() => read(make(SIZE))).not.toThrow();
  });
});
