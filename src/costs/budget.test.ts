import { expect, test } from "vitest";
import { SETTINGS } from "../config/settings.ts";
import { type BudgetState, leftText, parseBudgets } from "./budget.ts";

test.each([
  ["off", {}, {}],
  ["5 a day", { soft: 5 }, {}],
  ["$50.5/month", {}, { soft: 50.5 }],
  ["5/10 a day, 50 per month", { soft: 5, hard: 10 }, { soft: 50 }],
  [".5/5. a day", { soft: 0.5, hard: 5 }, {}],
  ["50/40 a month,10/5 a day", { soft: 5, hard: 5 }, { soft: 40, hard: 40 }],
])("each user's budgets have one setting: %s (I13)", (value, day, month) => {
  const BUDGET_OWNER_USD = SETTINGS.BUDGET_OWNER_USD.schema().parse(value);
  const others = { BUDGET_DAY_USD: "off", BUDGET_MONTH_USD: "off", RESEARCH_CONFIRM_ABOVE_USD: "5/12" };
  const budgets = parseBudgets({ ...others, BUDGET_OWNER_USD });
  expect(budgets).toEqual({
    BUDGET_DAY_USD: {},
    BUDGET_MONTH_USD: {},
    BUDGET_OWNER_DAY_USD: day,
    BUDGET_OWNER_MONTH_USD: month,
    run: { soft: 5, hard: 12 },
  });
});

test.each(["5", "5 a week", "5 a day 50 a month", "5 a day, 10 a day"])(
  "a budget of each user needs its period: %s (I13)",
  (value) => {
    expect(SETTINGS.BUDGET_OWNER_USD.schema().safeParse(value).success).toBe(false);
  },
);

test("what is left is that of the soft amount, above it that of the hard one, and never below nothing (I13)", () => {
  const left = (more: Partial<BudgetState>): string =>
    leftText({ name: "BUDGET_DAY_USD", soft: 20, hard: 60, usedUsd: 0, renewsAt: 0, ...more });
  expect(left({ usedUsd: 7.504 })).toBe("$12.49 left of today's budget ($20)");
  expect(left({ usedUsd: 20 })).toBe("$40 left of today's budget ($60)");
  expect(left({ usedUsd: 70 })).toBe("$0 left of today's budget ($60)");
  expect(left({ usedUsd: 25, hard: undefined })).toBe("$0 left of today's budget ($20)");
  expect(left({ soft: undefined, usedUsd: 10 })).toBe("$50 left of today's budget ($60)");
  expect(left({ soft: 20_000, usedUsd: 0.5 })).toBe("$19,999.50 left of today's budget ($20,000)");
});
