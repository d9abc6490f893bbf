import { expect, test } from "vitest";
import { ago, costRemark, markedMoney, money, rangeText } from "./format.ts";

test.each([
  [0, "$0.00"],
  [0.004, "<$0.01"],
  [0.01, "$0.01"],
  [2.4, "$2.40"],
  [1234.5, "$1,234.50"],
])("%d dollars are %s", (usd, text) => {
  expect(money(usd)).toBe(text);
});

test.each([
  [-2_000, "just now"],
  [59_000, "just now"],
  [60_000, "1 min ago"],
  [3_600_000, "1 h ago"],
  [86_400_000, "1 d ago"],
  [6 * 86_400_000, "6 d ago"],
])("%d ms ago is %s", (past, text) => {
  const now = Date.parse("2026-03-20T12:00:00Z");
  expect(ago(now - past, now)).toBe(text);
});

test("what is older than a week has its date", () => {
  expect(ago(Date.parse("2026-01-05T12:00:00Z"), Date.parse("2026-03-20T12:00:00Z"))).toBe("5 Jan 2026");
});

test("an amount carries the marks of an incomplete or estimated cost (S6)", () => {
  expect(markedMoney(1.5, {})).toBe("$1.50");
  expect(markedMoney(1.5, { cost_incomplete: true })).toBe("≥ $1.50");
  expect(markedMoney(1.5, { cost_estimated: true })).toBe("≈ $1.50");
  expect(costRemark({})).toBeUndefined();
  expect(costRemark({ cost_incomplete: true, cost_estimated: true })).toMatch(/^At least: .* Estimated: /);
});

test("an estimate has no range when both bounds are shown the same (M1)", () => {
  expect(rangeText("1 min", "1 min")).toBeUndefined();
  expect(rangeText("1 min", "2 min")).toBe("1 min to 2 min");
});
