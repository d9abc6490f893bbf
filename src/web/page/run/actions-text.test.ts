/** The texts of confirmations. */

import { expect, test } from "vitest";
import { actionText } from "./actions-text.ts";

const AGENT = { kind: "agent", interaction_id: "v1_abc" } as const;

test("the cancel dialog names what Google may still charge, by what is known of the run", () => {
  expect(actionText("cancel", AGENT).explanation).toMatch(/pay in full and keep the report/);
  expect(actionText("cancel", { kind: "agent" }).explanation).toMatch(/cannot be stopped from here/);
  expect(actionText("cancel", { kind: "deep_search" }).explanation).toMatch(/stops at its next step/);
});

test("a restart warns that it may be charged twice, names the amount, and asks first (Q1)", () => {
  const { explanation, confirmation, tone } = actionText("restart", {
    kind: "agent",
    estimate: { likely_usd: 2.4 },
  });
  expect(explanation).toContain("could charge you twice");
  expect(explanation).toContain("$2.40");
  expect({ confirmation, tone }).toMatchObject({ confirmation: { yes: "Start again" }, tone: "danger" });
  expect(actionText("restart", { kind: "agent" }).explanation).not.toContain("$");
});

test("free actions need no confirmation", () => {
  const { explanation, confirmation } = actionText("poll_again", AGENT);
  expect(explanation).toContain("Free");
  expect(confirmation).toBeUndefined();
});
