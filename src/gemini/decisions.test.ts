/** The Decisions API against the simulator: the wire, and which failures are certainly not charged. */

import { expect, onTestFinished, test } from "vitest";
import { silentLog as log } from "../../test/kit/log.ts";
import { TEST_KEY } from "../../test/kit/server/server.ts";
import type { StepInput } from "../../simulator/scenario.ts";
import { startSimulator } from "../../simulator/server.ts";
import { createDecisions, type DecisionRequest } from "./decisions.ts";

const CRITERIA = { whenTrue: "It says so.", whenFalse: "It does not." };

const REQUEST: DecisionRequest = {
  model: "gemini-decision-1",
  input: "Lake Onda is 42 metres deep. The ferry was discontinued in 1987.",
  questions: new Map([
    ["c1", { ...CRITERIA, instructions: "Does the page say this?\n\nLake Onda is 42 metres deep." }],
    ["c_2-b", { ...CRITERIA, instructions: "Does the page say this?\n\nThe harbour has a museum of lighthouses." }],
  ]),
};

async function decideWith(step: StepInput, request = REQUEST) {
  const simulator = await startSimulator({ scenario: { name: "decide", tasks: { decide: [step] } } });
  onTestFinished(() => simulator.close());
  const decide = createDecisions({ apiKey: TEST_KEY, baseUrl: `${simulator.url}/`, environment: {}, log });
  const outcome = await decide(request);
  return { outcome, entries: simulator.ledger.entries() };
}

test("each question is answered with a probability, and the input tokens are reported (W3)", async () => {
  const { outcome, entries } = await decideWith({});
  expect(outcome).toEqual({
    kind: "answered",
    probabilities: new Map([
      ["c1", 0.99],
      ["c_2-b", expect.closeTo(0.2, 1)],
    ]),
    isBlocked: false,
    inputTokens: expect.any(Number),
  });
  const [entry] = entries;
  expect(entry).toMatchObject({
    method: "POST",
    path: "/v1beta/decisions",
    model: "gemini-decision-1",
    kind: "decide",
  });
  expect(entry?.costUsd).toBeCloseTo((outcome.kind === "answered" ? (outcome.inputTokens ?? 0) : 0) / 10_000_000, 12);
});

test("an answer without an answer to each question, or without usage, is used as far as it goes (W3)", async () => {
  const { outcome } = await decideWith({ answer: "truncated", usage: "none" });
  expect(outcome).toEqual({
    kind: "answered",
    probabilities: new Map([["c1", 0.99]]),
    isBlocked: false,
    inputTokens: undefined,
  });
  const blocked = await decideWith({ block: "safety" });
  expect(blocked.outcome).toMatchObject({ kind: "answered", probabilities: new Map(), isBlocked: true });
  const text = JSON.stringify({
    answers: {
      c1: { type: "noul", noul: 1.2 },
      "c_2-b": { type: "choice", choice: "yes" },
      c3: { type: "noul", noul: 0.9 },
      __proto__: { type: "noul", noul: 0.9 },
    },
  });
  const malformed = await decideWith({ answer: "raw", text });
  expect(malformed.outcome).toMatchObject({ kind: "answered", probabilities: new Map() });
});

test.each([
  ["http-404", { isLasting: true }],
  ["http-403", { isLasting: true }],
  ["location-unsupported", { isLasting: true }],
  ["key-invalid", { isLasting: true }],
  ["http-402", { isLasting: true }],
  ["http-400", { isLasting: false }],
  ["http-429", { isLasting: false, retryAfterMs: 1_000 }],
  ["http-429-retry-after", { isLasting: false, retryAfterMs: 1_000 }],
  ["http-500", { isLasting: false, retryAfterMs: 1_000 }],
  ["http-503", { isLasting: false, retryAfterMs: 1_000 }],
] as const)("Google's %s is a refusal that is not charged (W3)", async (fault, expected) => {
  const { outcome, entries } = await decideWith({ fault });
  expect(outcome).toMatchObject({ kind: "refused", why: expect.stringMatching(/^[A-Z].*\.$/), ...expected });
  expect(entries.map(({ costUsd }) => costUsd)).toEqual([0]);
});

test.each([
  "http-503-gateway",
  "reset-before",
  "reset-mid-body",
  "short-body",
  "html-200",
  "empty-200",
  "malformed-json",
  "wrong-json",
  "redirect",
] as const)("after %s it is unknown whether the request was charged, and nothing is repeated (W3)", async (fault) => {
  const { outcome, entries } = await decideWith({ fault });
  expect(outcome).toMatchObject({ kind: "lost", why: expect.stringMatching(/^[A-Z].*\.$/) });
  expect(entries).toHaveLength(1);
});

test("a request that is not sent is not charged (W3)", async () => {
  const decide = createDecisions({ apiKey: TEST_KEY, baseUrl: "http://127.0.0.1:1", environment: {}, log });
  expect(await decide(REQUEST)).toMatchObject({ kind: "refused", isLasting: false });
});
