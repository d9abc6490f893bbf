import { expect, test } from "vitest";
import { covers, type Subject } from "./subject.ts";

const AGREED: Subject = { operation: "resume_research", input: "a hash", run: "a", current: "plan 1", max_usd: 2.07 };

test("a yes covers the same subject at the same price, a lower one and a cent more (T28)", () => {
  for (const max_usd of [2.07, 1, 2.075]) expect(covers(AGREED, { ...AGREED, max_usd })).toBe(true);
  const { max_usd: _, ...unpriced } = AGREED;
  expect(covers(unpriced, unpriced)).toBe(true);
  // A yes to an unknown price is one to any.
  expect(covers(unpriced, AGREED)).toBe(true);
});

test.for<Partial<Subject>>([
  { operation: "start_deep_research" },
  { input: "another" },
  { run: "b" },
  { current: "plan 2" },
  { max_usd: 2.09 },
  { max_usd: undefined },
])("a yes does not cover a question about something else: %o (T28)", (other) => {
  expect(covers(AGREED, { ...AGREED, ...other })).toBe(false);
  expect(covers(undefined, AGREED)).toBe(false);
});
