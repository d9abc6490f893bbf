import { expect, test } from "vitest";
import { isAbandoned, isHeld, SEARCH_LEASE_MS } from "./lock-store.ts";

test.each([
  ["that ends now", 1_000, false],
  ["that ends in a moment", 1_001, true],
  ["that ended", 999, false],
  ["as long as a lease", 1_100, true],
  ["twice as long, as after a clock was set back a little", 1_200, true],
  ["longer than any lease lasts", 1_201, false],
])("a lease %s (end %s, now 1000) counts as held: %s (P2)", (_, until, held) => {
  expect(isHeld(until, { now: 1_000, lease: 100 })).toBe(held);
});

test.each([
  ["of a live process", "alive", -1, false],
  ["of a dead process, however long its lease", "dead", 1, true],
  ["of a process that is not known", undefined, 1, true],
  ["of another machine, while its lease lasts", "unknown", 1, false],
  ["of another machine, once its lease has ended", "unknown", 0, true],
  ["of another machine, leased before the clock was set back", "unknown", 2 * SEARCH_LEASE_MS + 1, true],
] as const)("a search %s (holder %s, %s ms left) counts as abandoned: %s (P2)", (_, holder, leftMs, abandoned) => {
  expect(isAbandoned(holder, 1_000 + leftMs, 1_000)).toBe(abandoned);
});
