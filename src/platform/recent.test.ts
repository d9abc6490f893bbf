import { expect, test } from "vitest";
import { createRecent } from "./recent.ts";

test("what was computed from a text is kept while it is among the last ones that fit (S2)", () => {
  const computed: string[] = [];
  const recent = createRecent<string>(6);
  const read = (key: string): string =>
    recent(key, () => {
      computed.push(key);
      return key.toUpperCase();
    });
  expect(["aaa", "bb", "aaa", "cc", "aaa", "bb"].map(read)).toEqual(["AAA", "BB", "AAA", "CC", "AAA", "BB"]);
  // "bb" made room for "cc", and is computed again.
  expect(computed).toEqual(["aaa", "bb", "cc", "bb"]);
  expect([read("longer than all"), read("longer than all")]).toEqual(["LONGER THAN ALL", "LONGER THAN ALL"]);
  expect(computed.filter((key) => key.startsWith("longer"))).toHaveLength(2);
  // What fits stays.
  read("bb");
  expect(computed.filter((key) => key === "bb")).toHaveLength(2);
});
