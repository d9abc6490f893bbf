/** The texts of confirmations, and the requests that follow. */

import { expect, test } from "vitest";
import { actionText, requestFor } from "./actions-text.ts";

const SUBJECT = { operation: "resume_research", input: "a hash", max_usd: 5 };
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

test("consent to a cost is valid only for the action that asked for it (Q1)", () => {
  expect(requestFor("t", { action: "cancel", savePartial: false })).toEqual({
    path: "/api/runs/t/cancel",
    body: { save_partial: false },
  });
  expect(requestFor("t", { action: "poll_again", agreed: SUBJECT }).body).toEqual({});
  expect(requestFor("t", { action: "adopt", interactionId: " v1_x " }).body).toEqual({ interaction_id: "v1_x" });
  expect(requestFor("t", { action: "restart" })).toEqual({
    path: "/api/runs/t/resume",
    body: { accept_possible_double_charge: true },
  });
  expect(requestFor("t", { action: "restart", agreed: SUBJECT }).body).toEqual({
    accept_possible_double_charge: true,
    agreed: SUBJECT,
  });
});
