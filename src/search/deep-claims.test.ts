/** The rounds of a deep search with claims to check: what is fed back, kept and continued. */

import { expect, test } from "vitest";
import { silentLog } from "../../test/kit/log.ts";
import type { Answer } from "../gemini/search-backend.ts";
import { deepSearch, type Round } from "./deep.ts";
import { createPrompts } from "./prompts.ts";

const URL = "https://lakes.example/orven";
const report = (depth: number): string => `# Lakes\n\nLake Orven is up to ${depth} metres deep. ([Lakes](${URL}))`;
const quote = "Lake Orven reaches a depth of 214 metres.";

interface Scripted {
  verified?: boolean;
  depth?: number;
  checks?: unknown;
  opened?: string[];
}

const answerOf = ({ verified = false, depth = 214, checks, opened = [URL] }: Scripted): Answer => ({
  backend: "api",
  text: JSON.stringify({ success: true, checks, verified, report: report(depth) }),
  cut: false,
  model: "scripted",
  sources: [{ url: URL, title: "Lakes" }],
  unreadUrls: [],
  openedUrls: opened,
  queries: ["lake"],
  isGrounded: true,
  searchSuggestions: [],
  usage: { input: 1, output: 1, cached: 0, searches: 1 },
  notices: [],
});

async function search(answers: Scripted[], { own, earlier }: { own?: string; earlier?: Round[] } = {}) {
  const packaged = createPrompts({ packaged: "prompts", own: undefined, now: () => 0, log: silentLog });
  const sent: string[] = [];
  const result = await deepSearch(
    {
      backend: {
        name: "api",
        obstacle: () => undefined,
        ask: async ({ prompt }) => {
          sent.push(prompt);
          return answerOf(answers[sent.length - 1] ?? {});
        },
      },
      prompts: own === undefined ? packaged : { render: () => own, hasPlaceFor: () => false },
      invalidOutputs: { keep: async () => ({ path: "", remove: async () => {} }) },
      clock: { now: () => 0, monotonic: () => 0, sleep: async () => {} },
      log: silentLog,
      model: undefined,
      correctionModel: undefined,
      maxCycles: 1,
    },
    {
      query: "How deep?",
      maxRounds: (earlier?.length ?? 0) + answers.length,
      onRound: async () => {},
      earlier: earlier ?? [],
    },
    { signal: new AbortController().signal, onActivity: () => {}, onRoundStart: () => {}, onAsk: async () => () => {} },
  );
  const claims = sent.map((prompt) => /-----BEGIN CLAIMS \w+-----\n([^]*?)\n-----END/.exec(prompt)?.[1]);
  return { ...result, claims, sent };
}

const SUPPORTED = { claim: 1, verdict: "supported", page: 1, quote };

test("a check that is not accepted comes back with its reason; an accepted claim does not (W4)", async () => {
  const { claims, verification, open } = await search([
    {},
    { checks: [SUPPORTED], opened: [] },
    { checks: [SUPPORTED] },
    { verified: true },
  ]);
  const listed = `1. Lake Orven is up to 214 metres deep. [1]`;
  expect(claims).toEqual([
    undefined,
    `${listed}\n\nPages:\n[1] ${URL}`,
    `${listed} – last check: The page was not opened.\n\nPages:\n[1] ${URL}`,
    "None: a page was quoted for every claim.",
  ]);
  expect(verification).toMatchObject({ method: "url_context", claims: 1, likely: 1, independent_domains: 1 });
  expect(open).toEqual([]);
});

test("a conflict goes into the next round with the passage, and nothing is verified above it (W4, G3)", async () => {
  const passage = "Lake Orven is up to 214 metres deep.";
  const wrong = { ...SUPPORTED, claim: "Lake Orven is up to 300", quote: passage };
  const { claims, verified, iterations, verification } = await search([
    {},
    { depth: 300, checks: [wrong], verified: true },
    { depth: 300, verified: true },
  ]);
  expect({ verified, iterations }).toEqual({ verified: false, iterations: 3 });
  expect(verification).toMatchObject({ likely: 0, conflict: 1 });
  expect(claims[2]).toContain(`The page has another figure. It says 214 metres. The page: "${passage}"`);
});

test("a verified result keeps its claims open if the quote has other figures, and the loop still ends (W4, G3)", async () => {
  const { verified, iterations, verification, open } = await search([
    {},
    { depth: 300, checks: [{ ...SUPPORTED, claim: "Lake Orven is up to 300" }], verified: true },
    {},
  ]);
  expect({ verified, iterations }).toEqual({ verified: true, iterations: 2 });
  expect(verification).toMatchObject({ likely: 0, not_found: 1 });
  expect(open).toEqual(["Lake Orven is up to 300 metres deep."]);
});

test.each([
  ["ignores", undefined],
  ["answers in another form", "all of them are supported"],
])("a model that %s the list leaves the search as it was (W4)", async (_, checks) => {
  const { verified, verification, best } = await search([{}, { checks, verified: true }]);
  expect(verified).toBe(true);
  expect(best.report).toBe(report(214));
  expect(verification).toMatchObject({ method: "none", likely: 0, not_found: 1 });
});

test("a user's own prompt without a place for claims is not given any (W4)", async () => {
  const { sent, verification } = await search([{}, { verified: true }], { own: "# Task: verify\n\nMy own words." });
  expect(sent[1]).toBe("# Task: verify\n\nMy own words.");
  expect(verification.method).toBe("none");
});

test("a continuation knows what earlier rounds found (W4, Q1)", async () => {
  const { rounds } = await search([{}, { checks: [SUPPORTED] }]);
  const { claims, verification } = await search([{ verified: true }], { earlier: rounds });
  expect(claims).toEqual(["None: a page was quoted for every claim."]);
  expect(verification).toMatchObject({ method: "url_context", likely: 1 });
});
