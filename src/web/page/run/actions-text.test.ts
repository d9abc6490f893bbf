/** The texts of confirmations. */

import { expect, test } from "vitest";
import { actionText } from "./actions-text.ts";

const AGENT = { kind: "agent", status: "running_async" } as const;

test("the cancel dialog names what a research costs, and that there is no report (L1)", () => {
  const cancel = (run: Partial<Parameters<typeof actionText>[1]>) =>
    actionText("cancel", { ...AGENT, ...run }).explanation;
  expect(cancel({ estimate: { likely_usd: 0.98 } })).toMatch(/so far \(about \$0\.98 at its end\) and get no report/);
  expect(cancel({ cost_usd: 1.5, cost_incomplete: true })).toContain("(≥ $1.50)");
  expect(cancel({ status: "start_unknown" })).toMatch(/may have started it\. .* get no report/);
  expect(cancel({ kind: "deep_search" })).toMatch(/stops at its next step/);
});

test("a restart warns that it may be charged twice, names the amount, and asks first (Q1)", () => {
  const { explanation, confirmation, tone } = actionText("restart", {
    ...AGENT,
    estimate: { likely_usd: 2.4 },
  });
  expect(explanation).toContain("could charge you twice");
  expect(explanation).toContain("$2.40");
  expect({ confirmation, tone }).toMatchObject({ confirmation: { yes: "Start again" }, tone: "danger" });
  expect(actionText("restart", AGENT).explanation).not.toContain("$");
});

test("free actions need no confirmation", () => {
  const { explanation, confirmation } = actionText("poll_again", AGENT);
  expect(explanation).toContain("Free");
  expect(confirmation).toBeUndefined();
});
