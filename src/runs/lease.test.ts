import { expect, test } from "vitest";
import { isHeld } from "./lease.ts";

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
