import { expect, test } from "vitest";
import { createKeptReadings, type TextReading } from "./kept-readings.ts";

const reading = (url: string, characters: number): TextReading => ({
  url,
  finalUrl: url,
  checkedAt: 0,
  outcome: "text",
  page: { title: "", blocks: ["x".repeat(characters)] },
});

test("a page that is read in pieces is kept for minutes, and the oldest ones go when many are long (W10)", () => {
  let now = 0;
  const kept = createKeptReadings({ monotonic: () => now });
  for (const url of ["a", "b", "c"]) kept.keep(url, reading(url, 8_000_000));
  expect(["a", "b", "c"].map((url) => kept.find(url)?.url)).toEqual([undefined, "b", "c"]);
  kept.drop("b");
  expect(kept.find("b")).toBeUndefined();
  now = 9 * 60_000;
  expect(kept.find("c")?.url).toBe("c");
  now = 11 * 60_000;
  expect(kept.find("c")).toBeUndefined();
});
