import { expect, test } from "vitest";
import { addUsage } from "./run-plan.ts";

test("the cost of several turns has no more digits than that of one (V2)", () => {
  const turn = (usd: number) => ({
    tokens: { input: 1, output: 1 },
    cost: { usd, incomplete: false, estimated: false },
  });
  expect(addUsage(turn(0.088), turn(0.0704)).cost.usd).toBe(0.1584);
});
