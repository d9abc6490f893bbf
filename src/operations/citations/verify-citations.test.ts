/** The operation with real pages on loopback: counts first, then findings; bounded, resumable, and for the owner only. */

import { expect, test, type TestContext } from "vitest";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { silentLog } from "../../../test/kit/log.ts";
import { openReader } from "../../../test/kit/sites/reader.ts";
import type { Handler } from "../../../test/kit/sites/sites.ts";
import { openRunner } from "../../../test/kit/store/runner.ts";
import type { StepInput } from "../../../simulator/scenario.ts";
import { startSimulator } from "../../../simulator/server.ts";
import { costCalculator } from "../../costs/actual.ts";
import { LIST_PRICES } from "../../costs/prices.ts";
import { createDecisions } from "../../gemini/decisions.ts";
import { systemClock } from "../../platform/clock.ts";
import { findJudgeCost } from "../../runs/ledger/ledger-store.ts";
import { finishRun, insertRunning } from "../../runs/run-store.ts";
import { reserveJudgeRequest } from "../../verification/claim-store.ts";
import type { Judge, Judgements } from "../../verification/judge/judge-port.ts";
import { createJudge } from "../../verification/judge/judge.ts";
import type { Database } from "../../store/database.ts";
import type { VerifyDeps } from "../../verification/verify.ts";
import type { Call, OperationDeps } from "../operation.ts";
import { getResearchResults } from "../get-research-results.ts";
import { perform } from "../perform.ts";
import { verifyCitations } from "./verify-citations.ts";

const TASK_ID = "11111111-2222-4333-8444-555555555555";

const page =
  (text: string): Handler =>
  (_request, response) =>
    response
      .writeHead(200, { "content-type": "text/html" })
      .end(`<!doctype html><title>Onda</title><article>${text}</article>`);

const FILLER =
  "<p>The valley has been described by travellers since the eighteenth century, often at length.</p>".repeat(4);

const PAGES: Record<string, Handler> = {
  "lake.onda-press.com/depth": page(`<p>Lake Onda is 42 metres deep.</p>${FILLER}`),
  "village.onda-press.org/people": page(`<p>Some 290 people live in Onda.</p>${FILLER}`),
};

const URLS = [
  "http://lake.onda-press.com/depth",
  "http://village.onda-press.org/people",
  "http://ferry.onda-press.net/gone",
  "http://10.0.0.7/x",
];

const REPORT = `# Onda

Lake Onda is 42 metres deep ([depth](${URLS[0]})). The village of Onda has 310 inhabitants ([people](${URLS[1]})).

The ferry to Onda was discontinued in 1987 ([ferry](${URLS[2]})). The cellar of the town hall is full of wine ([cellar](${URLS[3]})). Nobody knows why.
`;

type CreateJudge = (db: Database) => Judge;

async function openWorld(context: TestContext, createJudge?: CreateJudge) {
  const { store, deps } = await openRunner(context);
  const judge = createJudge?.(store.db);
  const run = { taskId: TASK_ID, owner: "anna", kind: "search" as const, query: "Where is Onda?", options: {} };
  await insertRunning(store.db, { ...run, client: undefined, processId: store.processId, now: 1 });
  const sources = URLS.map((url, index) => ({ n: index + 1, title: "t", url, domain: new URL(url).hostname }));
  await finishRun(store.db, {
    taskId: TASK_ID,
    processId: store.processId,
    to: "completed",
    result: { report: REPORT, sources, metadata: {}, partial: false },
    error: undefined,
    backend: "api",
    model: "m",
    tokens: { input: 1, output: 1 },
    cost: { usd: 0, incomplete: false, estimated: false },
    usageFinal: true,
    now: systemClock.now(),
  });
  const sites = await openReader(PAGES);
  const { log } = deps();
  const verification: VerifyDeps = {
    db: store.db,
    clock: systemClock,
    log,
    processId: "p",
    readPage: (url) => sites.read(url),
    resolver: { resolve: async () => undefined },
    judge,
  };
  const given = {
    clock: systemClock,
    log,
    settings: { confirmAboveUsd: 0, judgeMaxUsd: judge === undefined ? undefined : 0.05 },
    database: async () => store.db,
    verification: async () => verification,
    leaving: new AbortController().signal,
    backupOf: () => undefined,
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that these operations ask for
  const operationDeps = given as unknown as OperationDeps;
  const progress: string[] = [];
  const callOf = (owner: string, signal = new AbortController().signal): Call => ({
    owner,
    client: undefined,
    from: "network",
    signal,
    progress: (message) => progress.push(message),
  });
  const check = (
    input: Record<string, unknown> = {},
    { owner = "anna", signal = undefined as AbortSignal | undefined } = {},
  ) => perform(verifyCitations, operationDeps, { input: { task_id: TASK_ID, ...input }, call: callOf(owner, signal) });
  const results = () =>
    perform(getResearchResults, operationDeps, { input: { task_id: TASK_ID }, call: callOf("anna") });
  return { check, results, sites, progress, db: store.db };
}

test("counts come first, then what is not confirmed; passages by number; nothing is fetched twice or for others (W3)", async (context) => {
  const { check, results, sites, progress } = await openWorld(context);
  expect(await check({}, { owner: "bert" })).toMatchObject({ structured: { error: { code: "TASK_NOT_FOUND" } } });
  expect((await results()).structured).not.toHaveProperty("citations_checked");
  const { structured, text } = await check();
  expect(structured).toMatchObject({
    success: true,
    caution: expect.any(String),
    counts: { uncited: 0, confirmed: 1, not_found: 1, gone: 1, not_checked: 1 },
    pages: { cited: 4, checked: 3, not_fetched: 1, left: 0 },
    findings: [
      { source: 3, verdict: "gone" },
      { source: 2, verdict: "not_found", reason: expect.any(String), passage: "Some 290 people live in Onda." },
    ],
  });
  expect(text).toContain("1 of 4 cited sentences are confirmed, 0 likely, 3 open.");
  expect(text).toContain("The village of Onda has 310 inhabitants");
  expect(countTokens(text)).toBeLessThan(450);
  expect(progress).toContain("4 of 4 cited pages tried");
  const requests = sites.requests.length;
  expect((await check({ numbers: [2, 99] })).structured).toMatchObject({
    error: { code: "INVALID_INPUT", message: "This report has no source 99." },
  });
  // A private address is refused without a request.
  expect(sites.requests.map(({ target }) => target).filter((target) => target.startsWith("10."))).toEqual([]);
  const first = await check({ numbers: [1, 4] });
  expect(first.structured).toMatchObject({
    findings: [
      { source: 4, verdict: "not_checked" },
      {
        source: 1,
        verdict: "confirmed",
        passage: expect.stringContaining("42 metres deep"),
        domain: "lake.onda-press.com",
      },
    ],
  });
  expect(sites.requests).toHaveLength(requests);
  await check({ numbers: [1], refetch: true });
  expect(sites.requests).toHaveLength(requests + 1);
  expect((await results()).structured).toMatchObject({
    citations_checked: { claims: 4, confirmed: 1, gone: 1 },
    report: expect.stringContaining("Lake Onda is 42 metres deep"),
  });
});

test.for([[[]], [[0]], [[1.5]], [["1"]], ["1"]])(
  "numbers that are no source numbers are refused: %j (W3)",
  async ([numbers], context) => {
    const { check, sites } = await openWorld(context);
    expect(await check({ numbers })).toMatchObject({ failed: true, structured: { error: { code: "INVALID_INPUT" } } });
    expect(sites.requests).toEqual([]);
  },
);

test("a cancelled call says so, and a judge is asked without a question: its limit, its cost and what it left are in the answer (W3)", async (context) => {
  const why = "Google does not recognise the model gemini-decision-1.";
  const states: ((n: number) => Judgements)[] = [
    (n) => ({ judged: new Map(), unjudged: new Map([[why, n]]), isComplete: true, isRefused: true }),
    () => ({ judged: new Map([[2, 0.93]]), unjudged: new Map(), isComplete: true, isRefused: false }),
  ];
  const judge: Judge = {
    canJudge: () => true,
    judge: async ({ taskId, claims }) => {
      const entry = { entryId: crypto.randomUUID(), model: "m", keyFingerprint: undefined, now: Date.now() };
      await reserveJudgeRequest(opened.db, { ...entry, taskId, maxUsd: 0.001, limitUsd: 0.05, budgets: {} });
      return (
        states.shift()?.(claims.length) ?? {
          judged: new Map(),
          unjudged: new Map(),
          isComplete: true,
          isRefused: false,
        }
      );
    },
  };
  const opened = await openWorld(context, () => judge);
  const { check, progress } = opened;
  const first = await check();
  expect(first.structured).toMatchObject({
    counts: { not_found: 1 },
    not_judged: `1 citation was not judged: ${why}`,
    judge: { model: "gemini-decision-1", cost_usd: 0, cost_incomplete: true, max_usd: 0.05 },
  });
  expect(first.text).toContain(`1 citation was not judged: ${why}`);
  expect(progress[0]).toMatch(/for at most \$0\.05 a report$/);
  const second = await check({ numbers: [2], refetch: true });
  expect(second.structured).toMatchObject({
    counts: { likely: 1 },
    findings: [{ source: 2, verdict: "likely", probability: 0.93, judged: true, passage: expect.any(String) }],
  });
  expect(second.structured).not.toHaveProperty("not_judged");
  const free = await openWorld(context);
  expect(await free.check({}, { signal: AbortSignal.abort() })).toMatchObject({
    failed: true,
    structured: { error: { code: "CANCELLED" } },
  });
});

/** What Google does, what the answer says about it, how many requests it takes, and whether the cost is known. */
const FAULTS: [StepInput, { says: RegExp; requests: number; isUnknown?: boolean }][] = [
  [{ fault: "http-404" }, { says: /does not recognise the model gemini-decision-1/, requests: 1 }],
  [{ fault: "http-403" }, { says: /does not allow this key/, requests: 1 }],
  [{ fault: "location-unsupported" }, { says: /location/, requests: 1 }],
  [{ fault: "http-429" }, { says: /quota/, requests: 2 }],
  [{ fault: "http-503" }, { says: /overloaded/, requests: 2 }],
  [{ fault: "http-503-gateway" }, { says: /overloaded/, requests: 1, isUnknown: true }],
  [{ fault: "reset-mid-body" }, { says: /could not be read|broke/, requests: 1, isUnknown: true }],
  [{ fault: "malformed-json" }, { says: /could not be read/, requests: 1, isUnknown: true }],
  [{ answer: "truncated" }, { says: /incomplete/, requests: 1 }],
  [{ block: "safety" }, { says: /filters/, requests: 1 }],
];

test.for(FAULTS)(
  "the check works without the judge, and says why it was not asked or gave no answer: %j (W3)",
  async ([step, { says, requests, isUnknown = false }], context) => {
    const simulator = await startSimulator({ scenario: { name: "judge", tasks: { decide: [step] } } });
    context.onTestFinished(() => simulator.close());
    const { check, db } = await openWorld(context, (database) =>
      createJudge({
        db: database,
        clock: { ...systemClock, sleep: async () => {} },
        log: silentLog,
        costOf: costCalculator(LIST_PRICES),
        keyFingerprint: undefined,
        decide: createDecisions({ apiKey: "k", baseUrl: simulator.url, environment: {}, log: silentLog }),
        maxUsd: 0.05,
        budgets: {},
      }),
    );
    const { structured } = await check();
    expect(structured).toMatchObject({
      counts: { confirmed: 1, not_found: 1, gone: 1, not_checked: 1 },
      not_judged: expect.stringMatching(says),
    });
    const billed = simulator.ledger.entries().reduce((sum, { costUsd }) => sum + costUsd, 0);
    const cost = await findJudgeCost(db, TASK_ID);
    expect(cost.incomplete).toBe(isUnknown);
    expect(cost.usd ?? 0).toBeCloseTo(isUnknown ? 0 : billed, 6);
    expect(simulator.ledger.count("decide")).toBe(requests);
  },
);

test("a check that reached no page says that nothing was checked, by cause, and counts no site (W3)", async (context) => {
  const { check, sites } = await openWorld(context);
  const read = async (url: string) => {
    const reason = url === URLS[0] ? "The site took too long." : "The name of the site cannot be found.";
    return { outcome: "unreachable" as const, reason, url, finalUrl: url, checkedAt: systemClock.now() };
  };
  Object.assign(sites, { read });
  const { structured, text } = await check();
  expect(structured).toMatchObject({
    message:
      "No page could be reached; nothing was checked. 3 pages: The name of the site cannot be found. 1 page: The site took too long.",
    pages: { cited: 4, checked: 0, not_reached: 4, left: 0 },
    independent_domains: 0,
    findings: [],
  });
  expect(text.match(/cannot be found/g)).toHaveLength(1);
});
