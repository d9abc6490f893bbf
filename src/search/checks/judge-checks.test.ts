/** Which of a model's checks the server accepts. */

import { expect, test } from "vitest";
import { checksField } from "./check.ts";
import { claimsOf, listClaims } from "./report-claims.ts";
import { judgeChecks } from "./judge-checks.ts";
import { evidenceOf, verificationOf } from "./verification.ts";

const LAKE = "https://lakes.example/orven";
const FIRM = "https://firms.example/kalmir";
const REPORT = `# Lakes

Lake Orven is up to 214 metres deep. ([Lakes](${LAKE}))

## Owners

- The company Kalmir owns its shore since 1962. ([Firms](${FIRM}))
- Most visitors like it.`;

const QUOTE = "At its northern end Lake Orven reaches a depth of 214 metres.";
const READ = { backend: "api" as const, opened: [LAKE], unread: [] };

interface Round {
  check?: Record<string, unknown>;
  after?: string;
  pages?: typeof READ | { backend: "api"; opened: string[]; unread: string[] };
}

function judged({ check = {}, after = REPORT, pages = READ }: Round) {
  const list = listClaims(claimsOf(REPORT, []), []);
  const checks = checksField.parse([{ claim: 1, verdict: "supported", page: 1, quote: QUOTE, ...check }]);
  return judgeChecks({ checks, list, report: claimsOf(after, []), pages });
}

const verdictOf = (round: Round) => judged(round).map(({ verdict, reason }) => [verdict, reason]);

test("the open claims are listed with their pages, those that carry the answer first (W4)", () => {
  expect(listClaims(claimsOf(REPORT, []), []).text).toBe(
    `1. Lake Orven is up to 214 metres deep. [1]\n2. The company Kalmir owns its shore since 1962. [2]\n\nPages:\n[1] ${LAKE}\n[2] ${FIRM}`,
  );
});

test("a list is bounded in number and characters, and says when nothing is open (W4)", () => {
  const long = Array.from(
    { length: 60 },
    (_, n) => `- Item ${n} ${"weighs much ".repeat(30)}and costs ${n} euros. ([p](https://p.example/${n}))`,
  );
  const list = listClaims(claimsOf(long.join("\n"), []), []);
  expect(list.claims.length).toBeLessThanOrEqual(10);
  expect(list.text.length).toBeLessThan(3_000);
  const findings = judged({});
  const only = listClaims(claimsOf(`Lake Orven is up to 214 metres deep. ([Lakes](${LAKE}))`, []), findings);
  expect(only).toMatchObject({ claims: [], text: "None: a page was quoted for every claim." });
});

test("a quote from a page that was opened, with the claim's figures, supports it (W4)", () => {
  expect(verdictOf({})).toEqual([["likely", undefined]]);
  expect(verdictOf({ check: { page: `${LAKE}#depth` } })).toEqual([["likely", undefined]]);
  // Google reports the address after a redirect, often with another scheme and `www.`.
  const moved = { ...READ, opened: ["http://www.lakes.example/orven/?utm_source=x"] };
  expect(verdictOf({ pages: moved })).toEqual([["likely", undefined]]);
});

test.each<[string, Round, string]>([
  [
    "another figure",
    { check: { quote: QUOTE.replace("214", "241") } },
    "A figure of the claim is not in the quotation.",
  ],
  [
    "another unit",
    { check: { quote: QUOTE.replace("metres", "kilometres") } },
    "A figure of the claim is not in the quotation.",
  ],
  ["no quote", { check: { quote: " " } }, "No passage was quoted."],
  ["a page that was not opened", { pages: { ...READ, opened: [FIRM] } }, "The page was not opened."],
  [
    "a page that the claim does not cite",
    { check: { page: 2 }, pages: { ...READ, opened: [FIRM] } },
    "The claim does not cite the page.",
  ],
])("%s does not support a claim (W4)", (_, round, reason) => {
  expect(verdictOf(round)).toEqual([["not_found", reason]]);
});

test("the model's other verdicts count only for a page that it opened (W4)", () => {
  expect(verdictOf({ check: { verdict: "contradicted" } })).toEqual([["conflict", "The page contradicts it."]]);
  expect(verdictOf({ check: { verdict: "Unsupported" } })).toEqual([["not_found", "The page does not say it."]]);
  expect(verdictOf({ check: { verdict: "weak" } })[0]?.[0]).toBe("not_found");
  const unread = { backend: "api" as const, opened: [], unread: [LAKE] };
  expect(verdictOf({ pages: unread })).toEqual([["unreadable", "The page could not be opened."]]);
  expect(verdictOf({ check: { verdict: "contradicted" }, pages: { ...unread, unread: [] } })[0]?.[0]).toBe("not_found");
});

test("a quote with none of the claim's words does not support it (W4)", () => {
  const after = `The company owns everything there. ([Lakes](${LAKE}))`;
  const check = { claim: "The company owns everything", quote: "Bathing is allowed in summer." };
  expect(verdictOf({ after, check })[0]?.[0]).toBe("not_found");
});

test("a sentence that the round corrected counts as far as the quote proves it (W4)", () => {
  const wrong = REPORT.replace("214", "300");
  const list = listClaims(claimsOf(wrong, []), []);
  const checks = checksField.parse([
    { claim: 1, verdict: "contradicted", page: 1, quote: "Lake Orven is up to 214 metres deep." },
  ]);
  const findings = judgeChecks({ checks, list, report: claimsOf(REPORT, []), pages: READ });
  expect(findings).toMatchObject([{ claim: "lake orven is up to 214 metres deep.", verdict: "likely" }]);
  const kept = judgeChecks({ checks, list, report: claimsOf(wrong, []), pages: READ });
  expect(kept).toMatchObject([{ verdict: "conflict" }]);
});

test("a redirect link stands for a page of the domain in its title (W4)", () => {
  const link = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/AUZIYQxyz";
  const cited = `Lake Orven is up to 214 metres deep. ([Lakes](${link}))`;
  const report = claimsOf(cited, [{ url: link, title: "lakes.example" }]);
  const list = listClaims(report, []);
  const checks = checksField.parse([{ claim: 1, verdict: "supported", page: 1, quote: QUOTE }]);
  const verdicts = (opened: string[]) =>
    judgeChecks({ checks, list, report, pages: { backend: "api", opened, unread: [] } }).map(({ verdict }) => verdict);
  expect(verdicts([LAKE])).toEqual(["likely"]);
  expect(verdicts([link])).toEqual(["likely"]);
  expect(verdicts([FIRM])).toEqual(["not_found"]);
});

test("checks in any other form are left out (W4)", () => {
  expect(checksField.parse(undefined)).toEqual([]);
  expect(checksField.parse({ 1: "supported" })).toEqual([]);
  expect(
    checksField.parse(["supported", null, { claim: 1 }, { claim: 1, verdict: "sure" }, { verdict: "supported" }]),
  ).toEqual([]);
  expect(checksField.parse([{ claim: "#2", verdict: " SUPPORTED ", url: LAKE, quote: 7 }])).toEqual([
    { claim: 2, verdict: "supported", page: LAKE, quote: "" },
  ]);
});

test("the counts name every claim once, and the claims that carry the answer without support (W4)", () => {
  const findings = judged({});
  const { verification, open } = verificationOf({ report: REPORT, visited: [], findings, method: "url_context" });
  expect(verification).toEqual({
    method: "url_context",
    claims: 2,
    likely: 1,
    conflict: 0,
    not_found: 1,
    unreadable: 0,
    uncited: 0,
    independent_domains: 1,
  });
  expect(open).toEqual(["The company Kalmir owns its shore since 1962."]);
  // A section without a mark is uncited; a word such as "Yes" is no claim.
  const report = `${REPORT}\n\n## Fish\n\nThere are pike in the lake.\n\n- Ice: Yes ([Lakes](${LAKE}))`;
  const more = verificationOf({ report, visited: [], findings, method: "url_context" });
  expect(more.verification).toMatchObject({ claims: 3, uncited: 1 });
  const sources = [{ n: 1, url: LAKE, title: "Lakes", domain: "lakes.example" }];
  expect(evidenceOf(REPORT, sources, findings)).toEqual([
    { claim: 1, source: 1, kind: "read", verdict: "likely", reason: undefined, passage: QUOTE },
  ]);
});
