import { expect, test } from "vitest";
import { type BudgetState, leftText } from "./budget.ts";

test("what is left is that of the soft amount, above it that of the hard one, and never below nothing (I13)", () => {
  const left = (more: Partial<BudgetState>): string =>
    leftText({ name: "BUDGET_DAY_USD", soft: 20, hard: 60, usedUsd: 0, renewsAt: 0, ...more });
  expect(left({ usedUsd: 7.504 })).toBe("$12.49 left of today's budget ($20)");
  expect(left({ usedUsd: 20 })).toBe("$40 left of today's budget ($60)");
  expect(left({ usedUsd: 70 })).toBe("$0 left of today's budget ($60)");
  expect(left({ usedUsd: 25, hard: undefined })).toBe("$0 left of today's budget ($20)");
  expect(left({ soft: undefined, usedUsd: 10 })).toBe("$50 left of today's budget ($60)");
});
