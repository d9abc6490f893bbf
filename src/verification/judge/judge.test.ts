/** The judge must quote the page; its numbers must agree; what it is asked and what it uses is counted. */

import { expect, test } from "vitest";
import { createTestLog } from "../../../test/kit/log.ts";
import { insertRun, openDatabase } from "../../../test/kit/store/store-rows.ts";
import { bestPassages, indexPage } from "../../claims/page-index.ts";
import { AppError } from "../../errors.ts";
import { type Answer, NO_USAGE, PaidFailure } from "../../gemini/search-backend.ts";
import { systemClock } from "../../platform/clock.ts";
import { totalCost } from "../../runs/history/figures-store.ts";
import { findJudgeUsage, saveClaims } from "../claim-store.ts";
import type { OpenClaim } from "./judge-port.ts";
import { createJudge, judgeClaim, maxOutputTokens } from "./judge.ts";

const claim = (text: string): OpenClaim => ({
  n: 1,
  text,
  headings: [],
  context: [],
  start: 0,
  end: text.length,
  sources: [1],
  googleSources: [],
  passages: [],
});

const PAGE = {
  title: "Onda",
  blocks: ["The village sits on a hill.", "According to the survey, Lake Onda’s depth is 42 metres – as expected."],
};
const LONG_PAGE = { title: "Onda", blocks: Array.from({ length: 400 }, (_, n) => `Sentence ${n} about the valley.`) };

const says =
  (verdict: string, quote = "") =>
  async (): Promise<string> =>
    `Here it is:\n\`\`\`json\n${JSON.stringify({ verdict, quote })}\n\`\`\``;

test("a verdict counts only with a quote that is on the page and agrees with the claim (W2, W3)", async () => {
  const deep = claim("Lake Onda is 42 metres deep.");
  const quote = `Lake Onda's  depth is 42 metres - as expected.`;
  expect(await judgeClaim(says("supported", quote), deep, PAGE)).toEqual({ verdict: "likely", passage: quote });
  const invented = await judgeClaim(says("supported", "Lake Onda is 42 metres deep."), deep, PAGE);
  expect(invented).toMatchObject({ verdict: "not_found", reason: expect.stringContaining("not on the page") });
  // The model may be talked into it; the figures are not.
  const deeper = await judgeClaim(says("supported", quote), claim("Lake Onda is 57 metres deep."), PAGE);
  expect(deeper).toMatchObject({ verdict: "not_found", passage: quote });
  expect(deeper?.reason).toMatch(/\.$/);
  const contradicted = await judgeClaim(says("contradicted", quote), claim("Lake Onda is 57 metres deep."), PAGE);
  expect(contradicted).toMatchObject({ verdict: "conflict", passage: quote });
  expect(await judgeClaim(says("contradicted", "It is shallow."), deep, PAGE)).toMatchObject({
    verdict: "not_found",
  });
});

test.each([
  ["in two blocks", ["The bridge", "opened to traffic jams of criticism"], false],
  ["that ends inside a word", ["The bridge opened to trafficking of animals"], false],
  ["that also occurs as whole words", ["xThe bridge opened to traffics. The bridge opened to traffic."], true],
])("a quote %s of the page is judged by its words (W2)", async (_where, blocks, isQuoted) => {
  const opened = claim("The bridge opened to traffic.");
  const found = await judgeClaim(says("supported", "The bridge opened to traffic"), opened, { title: "Menu", blocks });
  expect(found?.verdict).toBe(isQuoted ? "likely" : "not_found");
});

test("a quote in a script without spaces may begin and end anywhere (W2)", async () => {
  const page = { title: "湖", blocks: ["調査によるとオンダ湖の深さは42メートルである。"] };
  const found = await judgeClaim(
    says("supported", "オンダ湖の深さは42メートル"),
    claim("オンダ湖の深さは42メートルである。"),
    page,
  );
  expect(found?.verdict).toBe("likely");
});

test("only a judge that was given the whole page may say that it does not say something (W2)", async () => {
  const other = claim("Sentence 12 about the valley is wrong.");
  expect(await judgeClaim(says("unsupported"), other, PAGE)).toMatchObject({ verdict: "not_found" });
  const passages = bestPassages(other, indexPage(LONG_PAGE), 5);
  expect(await judgeClaim(says("unsupported"), { ...other, passages }, LONG_PAGE)).toMatchObject({
    verdict: "not_found",
  });
  expect(await judgeClaim(says("unsupported"), other, LONG_PAGE)).toBeUndefined();
  for (const nonsense of ["", "supported", '{"verdict":"certainly"}', "{", '{"quote":"x"}']) {
    expect(await judgeClaim(async () => nonsense, other, PAGE)).toBeUndefined();
  }
});

const ANSWER: Answer = {
  backend: "api",
  text: "",
  cut: false,
  model: "gemini-3.8-flash",
  sources: [],
  unreadUrls: [],
  openedUrls: [],
  isGrounded: false,
  queries: [],
  searchSuggestions: [],
  usage: { ...NO_USAGE, input: 1_000, output: 100 },
  notices: [],
};

const CLAIMS = [1, 2, 3].map((n) => ({ ...claim("Lake Onda is 42 metres deep."), n }));
const UNLIMITED = { signal: new AbortController().signal, deadline: Infinity };

test("requests are counted before they are sent, their cost after it; a failed one is not repeated (W3)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: "run", status: "completed", cost_usd: 1 });
  await saveClaims(db, { taskId: "run", reportHash: "h", claims: [] });
  const lines: string[] = [];
  const asked: number[] = [];
  const answers = [
    async () => ({ ...ANSWER, text: await says("supported", "Lake Onda’s depth is 42 metres")() }),
    async () => Promise.reject(new PaidFailure(new AppError({ code: "EXECUTION_ERROR", message: "Cut." }), ANSWER)),
    async () => Promise.reject(new AppError({ code: "GEMINI_UNAVAILABLE", message: "No quota." })),
  ];
  const judge = createJudge({
    db,
    clock: systemClock,
    log: createTestLog((line) => lines.push(line)),
    model: "gemini-3.8-flash",
    costOf: ({ input }) => ({ usd: input / 1_000_000, incomplete: false, estimated: false }),
    promptFor: ({ claim: text, passages }) => `Judge.\n${text}\n${passages}`,
    send: async (prompt, { maxOutputTokens: limit }) => {
      expect(prompt).toContain("Lake Onda is 42 metres deep.");
      expect(limit).toBe(maxOutputTokens("gemini-3.8-flash"));
      asked.push((await findJudgeUsage(db, "run"))?.requests ?? 0);
      const answer = answers[asked.length - 1];
      if (answer === undefined) throw new Error("It was asked too often.");
      return answer();
    },
  });
  const claims = CLAIMS;
  const found = await judge.judge({ taskId: "run", source: 7, page: PAGE, claims }, UNLIMITED);
  expect(found).toMatchObject({
    evidence: [{ claim: 1, source: 7, kind: "page", verdict: "likely", judged: true }],
    isComplete: true,
  });
  expect(asked).toEqual([1, 2, 3]);
  expect(await findJudgeUsage(db, "run")).toEqual({ requests: 3, input: 2_000, output: 200 });
  expect(lines).toHaveLength(2);
  // The last request failed without usage: it may have been charged, so the sum is a lower bound.
  expect(await totalCost(db, "local")).toMatchObject({ usd: 1.002, incomplete: true });
});

test("a judgement is kept although its usage cannot be stored, and one without usage has an unknown cost (W3)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: "run", status: "completed", cost_usd: 1 });
  await saveClaims(db, { taskId: "run", reportHash: "h", claims: [] });
  const lines: string[] = [];
  let priced = 0;
  const judge = createJudge({
    db,
    clock: systemClock,
    log: createTestLog((line) => lines.push(line)),
    model: "gemini-3.8-flash",
    costOf: () => {
      priced += 1;
      if (priced === 1) throw new Error("The database is busy.");
      return { usd: 0, incomplete: false, estimated: false };
    },
    promptFor: ({ passages }) => passages,
    send: async () => ({
      ...ANSWER,
      text: await says("supported", "Lake Onda’s depth is 42 metres")(),
      usage: NO_USAGE,
    }),
  });
  const request = { taskId: "run", source: 7, page: PAGE, claims: CLAIMS.slice(0, 2) };
  const { evidence } = await judge.judge(request, UNLIMITED);
  expect(evidence.map(({ claim: n }) => n)).toEqual([1, 2]);
  expect(lines).toEqual([expect.stringContaining("usage was not stored: The database is busy.")]);
  expect(await totalCost(db, "local")).toMatchObject({ usd: 1, incomplete: true });
});

test("a request that was cancelled before it was sent, or that Google refuses, leaves no unknown cost (W3)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: "run", status: "completed", cost_usd: 1 });
  await saveClaims(db, { taskId: "run", reportHash: "h", claims: [] });
  const cancelling = new AbortController();
  let sent = 0;
  const judge = createJudge({
    db,
    clock: systemClock,
    log: createTestLog(() => {}),
    model: "gemini-3.8-flash",
    costOf: () => ({ usd: 0.001, incomplete: false, estimated: false }),
    promptFor: ({ passages }) => {
      // While the request is being counted.
      if (sent === 1) queueMicrotask(() => cancelling.abort());
      return passages;
    },
    send: async () => {
      sent += 1;
      throw new AppError({ code: "GEMINI_UNAVAILABLE", message: "Too many requests.", reason: "rate_limit" });
    },
  });
  const request = { taskId: "run", source: 7, page: PAGE, claims: CLAIMS };
  expect(await judge.judge(request, { signal: cancelling.signal, deadline: Infinity })).toEqual({
    evidence: [],
    isComplete: false,
  });
  expect(sent).toBe(1);
  expect(await totalCost(db, "local")).toMatchObject({ usd: 1, incomplete: false });
});

test("what was judged before a cancel or the time limit is returned; nothing is sent after it, or for a deleted run (W3)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: "run", status: "completed" });
  await saveClaims(db, { taskId: "run", reportHash: "h", claims: [] });
  let [asked, time] = [0, 0];
  let onSecond = (): void => {};
  const judge = createJudge({
    db,
    clock: { ...systemClock, monotonic: () => time },
    log: createTestLog(() => {}),
    model: "gemini-3.8-flash",
    costOf: () => ({ usd: 0, incomplete: false, estimated: false }),
    promptFor: () => "p",
    send: async (_prompt, { signal }) => {
      asked += 1;
      time += 10;
      if (asked === 2) onSecond();
      await new Promise((resolve) => setTimeout(resolve, 30));
      signal.throwIfAborted();
      return { ...ANSWER, text: await says("supported", "Lake Onda’s depth is 42 metres")() };
    },
  });
  const request = { taskId: "run", source: 7, page: PAGE, claims: CLAIMS };
  const stopped = new AbortController();
  onSecond = () => stopped.abort();
  const cancelled = await judge.judge(request, { signal: stopped.signal, deadline: Infinity });
  // The second request was in progress: it is paid for, so its answer is kept.
  expect(cancelled).toMatchObject({
    evidence: [
      { claim: 1, judged: true },
      { claim: 2, judged: true },
    ],
    isComplete: false,
  });
  expect(asked).toBe(2);
  [asked, time] = [0, 0];
  onSecond = () => {};
  const late = await judge.judge(request, { ...UNLIMITED, deadline: 15 });
  expect(late).toMatchObject({ evidence: [{ claim: 1 }, { claim: 2 }], isComplete: false });
  expect(asked).toBe(2);
  await db.deleteFrom("research_claims").execute();
  expect(await judge.judge(request, UNLIMITED)).toEqual({ evidence: [], isComplete: false });
  expect(asked).toBe(2);
});
