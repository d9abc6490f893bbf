/** Plans as lists of steps. */

import { expect, test } from "vitest";
import { plainPlan, planSteps, planText, withoutEmptySteps } from "./plan-steps.ts";

const PLAN = `Here is a plan for **heat pumps**:

1. **Find** trials
   - in Norway

2. Compare costs

Tell me what to change.`;

test("a plan is shown as its steps, and its text is kept around them (V2)", () => {
  const plan = planSteps(PLAN);
  expect(plan).toEqual({
    before: "Here is a plan for **heat pumps**:",
    steps: ["Find trials\n- in Norway", "Compare costs"],
    after: "Tell me what to change.",
  });
  const text = planText({ before: "", after: "", ...plan, steps: ["Find trials", "Ask owners", ""] });
  expect(planSteps(text)?.steps).toEqual(["Find trials", "Ask owners", ""]);
  expect(withoutEmptySteps(text)).toMatch(/1\. Find trials\n2\. Ask owners\n\nTell me/);
});

test("a plan without a list is text (V2)", () => {
  expect(planSteps("First find trials, then compare them.\n**Is this right?**")).toBeUndefined();
  expect(withoutEmptySteps("Only text")).toBe("Only text");
});

test("a plan with two lists is text, because steps of the second would be approved unseen (V2)", () => {
  const phases = "## Phase 1\n1. Find trials\n2. Read them\n\n## Phase 2\n1. Compare **costs**";
  expect(planSteps(phases)).toBeUndefined();
  expect(planSteps(`${PLAN}\n\n- Or stop here`)).toBeUndefined();
  expect(plainPlan(phases)).toBe("Phase 1\n1. Find trials\n2. Read them\n\nPhase 2\n1. Compare costs");
});
