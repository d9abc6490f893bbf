/** Merging polled and live events into one timeline. */

import { expect, test } from "vitest";
import type { TimelineEntry } from "../../../operations/view/run-view.ts";
import { entryText, mergeEntries } from "./timeline.tsx";

const entry = (id: string, second: number, rest: Partial<TimelineEntry> = {}): TimelineEntry => ({
  id,
  at: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString(),
  kind: "thought",
  text: id,
  ...rest,
});
const ids = (entries: TimelineEntry[]): string => entries.map(({ id }) => id).join(" ");

test("an entry received live and by a read is shown once, and none is lost", () => {
  const polled = [entry("created", 0), entry("e1", 1), entry("e2", 2)];
  const live = [entry("e2", 2), entry("e3", 3)];
  expect(ids(mergeEntries(polled, live))).toBe("created e1 e2 e3");
  expect(ids(mergeEntries(mergeEntries([], live), polled))).toBe("created e1 e2 e3");
});

test("entries of one moment keep the order in which they were received", () => {
  expect(ids(mergeEntries([entry("b", 5), entry("a", 5)], [entry("c", 5), entry("first", 1)]))).toBe("first b a c");
});

test("an entry that is received again with another text shows the later one", () => {
  const merged = mergeEntries([entry("e1", 1)], [entry("e1", 1, { text: "whole" })]);
  expect(merged.map(({ text }) => text)).toEqual(["whole"]);
});

test("a thought is folded under its title, a long text under its first words, a short one stays", () => {
  expect(entryText("**Comparing prices**\n\nI look at **three** shops.")).toEqual({
    head: "Comparing prices",
    rest: "I look at three shops.",
  });
  expect(entryText("## Plan")).toEqual({ head: "Plan" });
  expect(entryText("heat pump prices 2026")).toEqual({ head: "heat pump prices 2026" });
  const long = "word ".repeat(100);
  const { head, rest } = entryText(long);
  expect(head).toMatch(/^(?:word )+word…$/);
  expect(head.length).toBeLessThan(125);
  expect(rest).toBe(long.trim());
  expect(entryText("x".repeat(500)).head).toHaveLength(121);
});

test("of a run with very many entries the page keeps the newest (J3)", () => {
  let entries: TimelineEntry[] = [entry("created", 0, { kind: "state" })];
  for (let number = 1; number <= 2_500; number += 1) entries = mergeEntries(entries, [entry(`e${number}`, number)]);
  expect(entries.length).toBeLessThanOrEqual(2_000);
  expect(entries[0]?.id).toBe("created");
  expect(entries.at(-1)?.id).toBe("e2500");
});
