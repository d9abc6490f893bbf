/** Plans as lists of steps. */

import { expect, test } from "vitest";
import { planSteps, planText, withoutEmptySteps } from "./plan-steps.ts";

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
