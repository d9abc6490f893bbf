/** Citations are checked page by page, within limits; what was found is stored with the run and with no other. */

import { expect, test } from "vitest";
import { createTestLog, silentLog as log } from "../../test/kit/log.ts";
import { insertRun, openDatabase } from "../../test/kit/store/store-rows.ts";
import { NO_COST } from "../costs/actual.ts";
import type { PageReading } from "../pages/page.ts";
import { systemClock } from "../platform/clock.ts";
import { deleteRun } from "../runs/deletion/deletion-store.ts";
import { findResult } from "../runs/result-store.ts";
import { finishRun } from "../runs/run-store.ts";
import type { Database } from "../store/database.ts";
import { checkFinishedRuns } from "./automatic-checks.ts";
import { claimsOfRun, googleEvidence } from "./claims-of-run.ts";
import { findEvidence, findPageChecks, saveEvidence } from "./evidence-store.ts";
import { countsOf, standings } from "./standing.ts";
import { type Judge, planVerification, type Verification, verifyCitations, type VerifyDeps } from "./verify.ts";

const NOW = Date.UTC(2026, 10, 16);
const HOUR_MS = 3_600_000;
const LINK = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/x";

const REPORT = [
  "Lake Onda is 42 metres deep ([lake](https://a.example/lake)).",
  "The village of Onda has 310 inhabitants ([village](https://b.example/village)).",
  "The ferry to Onda was discontinued in 1987 ([ferry](https://c.example/ferry)).",
  `The bridge of Onda was opened in 1990 ([bridge](${LINK})).`,
  "Nothing else is known about the place.",
].join("\n\n");

const SOURCES = [
  { n: 1, title: "Onda", url: "https://a.example/lake", domain: "a.example" },
  { n: 2, title: "Village", url: "https://b.example/village", domain: "b.example" },
  { n: 3, title: "Ferry", url: "https://c.example/ferry", domain: "c.example" },
  { n: 4, title: "d.example", url: LINK, domain: "d.example" },
];

const text = (...blocks: string[]): Partial<PageReading> => ({
  outcome: "text",
  page: { title: "Page", blocks, date: "2024-03-01", author: "A. Writer" },
  httpStatus: 200,
  hash: "ab".repeat(32),
});

const PAGES: Record<string, Partial<PageReading>> = {
  "https://a.example/lake": text("Lake Onda is 42 metres deep."),
  "https://b.example/village": text("A page about cheese from the north, without any village."),
  "https://c.example/ferry": { outcome: "gone", reason: "The page was removed.", httpStatus: 410 },
  "https://d.example/bridge": { outcome: "unreadable", wall: "paywall", httpStatus: 200 },
};

async function openRun(taskId = "run", db?: Database) {
  const database = db ?? (await openDatabase());
  await insertRun(database, { task_id: taskId, status: "running", lease_owner: "p" });
  const citations = [{ n: 1, start_byte: 0, end_byte: 27 }];
  await finishRun(database, {
    taskId,
    processId: "p",
    to: "completed",
    result: { report: REPORT, sources: SOURCES, citations, metadata: {}, partial: false },
    error: undefined,
    backend: "api",
    model: "m",
    tokens: { input: 1, output: 1 },
    cost: NO_COST,
    usageFinal: true,
    now: NOW,
  });
  return database;
}

/** With `slow`, only the page of source 1 answers at once. */
function openWorld(db: Database, { slow = false, judge }: { slow?: boolean; judge?: Judge } = {}) {
  const fetched: string[] = [];
  let now = NOW;
  const pages = { ...PAGES };
  const deps: VerifyDeps = {
    db,
    judge,
    clock: { ...systemClock, now: () => now },
    log,
    readPage: async (url, signal) => {
      fetched.push(url);
      if (slow && fetched.length > 1) await systemClock.sleep(60_000, signal);
      const page = pages[url] ?? { outcome: "unreachable", reason: "No answer." };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table above has whole outcomes
      return { url, finalUrl: url, checkedAt: now, ...page } as PageReading;
    },
    resolver: { resolve: async (link) => (link === LINK ? "https://d.example/bridge" : undefined) },
  };
  const verify = async (changes: Partial<Verification> = {}): Promise<number> => {
    const result = await findResult(db, changes.taskId ?? "run");
    if (result === undefined) throw new Error("There is no report.");
    const wanted: Verification = {
      taskId: "run",
      result,
      again: false,
      maxPages: 100,
      maxMs: 60_000,
      signal: new AbortController().signal,
      onProgress: () => {},
      ...changes,
    };
    return verifyCitations(deps, wanted, await planVerification(deps, wanted));
  };
  return { deps, pages, fetched, verify, later: (ms: number) => void (now += ms) };
}

async function pairs(db: Database, taskId = "run") {
  const evidence = await findEvidence(db, taskId);
  return evidence.map(({ source, verdict }) => `${source} ${verdict}`).toSorted();
}

test("each cited page is fetched, compared, and stored with verdict, receipt and reason; links at Google are resolved first (W2, W3)", async () => {
  const db = await openRun();
  const { verify, fetched } = openWorld(db);
  expect(await verify()).toBe(0);
  expect(fetched.toSorted()).toEqual(Object.keys(PAGES).toSorted());
  expect(await pairs(db)).toEqual(["1 supported", "2 not_confirmed", "3 gone", "4 unreadable"]);
  const checks = await findPageChecks(db, "run");
  expect(checks.get(1)).toMatchObject({
    outcome: "text",
    httpStatus: 200,
    hash: "ab".repeat(32),
    date: "2024-03-01",
    author: "A. Writer",
    checkedAt: NOW,
  });
  expect(checks.get(3)).toMatchObject({ outcome: "gone", reason: "The page was removed.", httpStatus: 410 });
  expect(checks.get(4)).toMatchObject({ outcome: "unreadable", reason: "The page is behind a paywall." });
  // The target stays known after Google's link has expired.
  const stored = await findResult(db, "run");
  expect(stored?.sources[3]).toMatchObject({ url: LINK, resolved_url: "https://d.example/bridge" });
  expect(stored?.report).toBe(REPORT);
  const evidence = await findEvidence(db, "run");
  expect(evidence.find(({ source }) => source === 1)?.passage).toContain("42 metres");
  // The comparison of texts never accuses.
  expect(evidence.some(({ verdict }) => verdict === "unsupported" || verdict === "contradicted")).toBe(false);
});

test("claims name their sources, uncited ones none, and Google's annotations are evidence without a request (W1, W2)", async () => {
  const db = await openRun();
  const { deps, fetched } = openWorld(db);
  const result = await findResult(db, "run");
  if (result === undefined) throw new Error("There is no report.");
  const { claims } = await claimsOfRun(deps, { taskId: "run", result });
  expect(claims.map(({ sources }) => sources)).toEqual([[1], [2], [3], [4], []]);
  expect(googleEvidence(claims)).toEqual([{ claim: 1, source: 1, kind: "google", verdict: "supported" }]);
  expect(fetched).toEqual([]);
  const counts = countsOf(standings(claims, []));
  expect(counts).toEqual({ claims: 5, uncited: 1, not_checked: 4 });
  // Stored once: numbers of claims keep their meaning.
  expect(await claimsOfRun(deps, { taskId: "run", result })).toMatchObject({ claims });
});

test("a check goes on where it stopped, and fetches recent pages only again if asked (W3)", async () => {
  const db = await openRun();
  const { verify, fetched, later } = openWorld(db);
  expect(await verify({ maxPages: 3 })).toBe(1);
  expect(await verify()).toBe(0);
  expect(fetched).toHaveLength(4);
  expect(await verify()).toBe(0);
  expect(fetched).toHaveLength(4);
  await verify({ numbers: [1], again: true });
  expect(fetched.slice(4)).toEqual(["https://a.example/lake"]);
  later(25 * HOUR_MS);
  await verify();
  expect(fetched).toHaveLength(9);
  expect(await pairs(db)).toHaveLength(4);
});

test("a cancelled check keeps what it has found, and time limits end it (W3)", async () => {
  const db = await openRun();
  const { verify } = openWorld(db, { slow: true });
  const stopped = new AbortController();
  const checking = verify({ signal: stopped.signal, onProgress: () => stopped.abort() });
  await expect(checking).rejects.toThrow();
  expect(await pairs(db)).toEqual(["1 supported"]);
  expect(await verify({ maxMs: -1, again: true })).toBe(4);
});

test("evidence belongs to one run, follows its report and is deleted with it (W3, T-5)", async () => {
  const db = await openRun();
  await openRun("other", db);
  const { verify } = openWorld(db);
  await verify();
  expect(await pairs(db, "other")).toEqual([]);
  await saveEvidence(db, "run", {
    kind: "read",
    evidence: [{ claim: 2, source: 2, kind: "read", verdict: "contradicted", passage: "It has 290." }],
    now: NOW,
  });
  expect(await pairs(db)).toHaveLength(5);
  const result = await findResult(db, "run");
  if (result === undefined) throw new Error("There is no report.");
  // A report that arrives late has other claims.
  const late = { ...result, report: "The lake is frozen ([lake](https://a.example/lake))." };
  const { claims } = await claimsOfRun({ db, log }, { taskId: "run", result: late });
  expect(claims).toHaveLength(1);
  expect(await pairs(db)).toEqual([]);
  await verify();
  expect(await deleteRun(db, { taskId: "run", now: NOW + 1 })).toBe(true);
  for (const table of ["research_claims", "research_pages", "research_evidence"] as const) {
    expect(await db.selectFrom(table).select("task_id").where("task_id", "=", "run").execute()).toEqual([]);
  }
  // A check that was in progress while the run was deleted stores nothing and does not fail.
  await expect(claimsOfRun({ db, log }, { taskId: "run", result })).resolves.toBeDefined();
});

test("damaged claims are split anew (W1)", async () => {
  const db = await openRun();
  const lines: string[] = [];
  const { verify } = openWorld(db);
  await verify();
  await db.updateTable("research_claims").set({ claims_json: "{" }).execute();
  const result = await findResult(db, "run");
  if (result === undefined) throw new Error("There is no report.");
  const deps = { db, log: createTestLog((line) => lines.push(line)) };
  expect((await claimsOfRun(deps, { taskId: "run", result })).claims).toHaveLength(5);
  expect(lines).toEqual([]);
});

test("with VERIFY_CITATIONS=auto each finished report is checked once, without a judge; others only on request (T-3, W3)", async () => {
  const db = await openRun();
  const { deps, fetched } = openWorld(db);
  const leaving = new AbortController().signal;
  const verification = async () => deps;
  expect(fetched).toEqual([]);
  expect(await checkFinishedRuns({ verification, leaving })).toBe(1);
  expect(fetched).toHaveLength(4);
  expect(await checkFinishedRuns({ verification, leaving })).toBe(0);
  expect(await pairs(db)).toContain("1 supported");
});

test("a failure ends the other pages before it is thrown (W3)", async () => {
  const db = await openRun();
  const { deps } = openWorld(db);
  const result = await findResult(db, "run");
  if (result === undefined) throw new Error("There is no report.");
  let ended = 0;
  const failing: VerifyDeps = {
    ...deps,
    readPage: async (url, signal) => {
      if (url.startsWith("https://a.")) throw new Error("The database is gone.");
      await systemClock.sleep(60_000, signal).finally(() => (ended += 1));
      return deps.readPage(url, signal);
    },
  };
  const limits = { again: false, maxPages: 100, maxMs: 60_000, signal: new AbortController().signal };
  const wanted: Verification = { taskId: "run", result, ...limits, onProgress: () => {} };
  const plan = await planVerification(failing, wanted);
  await expect(verifyCitations(failing, wanted, plan)).rejects.toThrow("The database is gone.");
  expect(ended).toBe(3);
});

const VILLAGE = "https://b.example/village";

/** Judges all claims, or none while it has no time. */
function createTestJudge() {
  const asked: number[] = [];
  const state = { hasTime: true };
  const judge: Judge = {
    model: "m",
    estimateUsd: () => 0,
    judge: async ({ source, claims }) => {
      if (!state.hasTime) return { evidence: [], isComplete: false };
      asked.push(...claims.map(({ n }) => n));
      const evidence = claims.map(
        ({ n }) => ({ claim: n, source, kind: "page", verdict: "weak", judged: true }) as const,
      );
      return { evidence, isComplete: true };
    },
  };
  return { judge, asked, state };
}

test("claims that were not judged in time keep the text's verdict, and the next call judges them (W3)", async () => {
  const db = await openRun();
  const { judge, asked, state } = createTestJudge();
  const { verify } = openWorld(db, { judge });
  state.hasTime = false;
  expect(await verify()).toBe(1);
  expect(await pairs(db)).toContain("2 not_confirmed");
  state.hasTime = true;
  expect(await verify()).toBe(0);
  expect(await pairs(db)).toContain("2 weak");
  expect(await verify()).toBe(0);
  expect(asked).toEqual([2]);
});

test("a judgement is kept and not paid for again until the page has another text (W3)", async () => {
  const db = await openRun();
  const { judge, asked } = createTestJudge();
  const { verify, deps, pages, later, fetched } = openWorld(db, { judge });
  await verify();
  expect(asked).toEqual([2]);
  const again = { numbers: [2], again: true };
  // The same text, with and without a judge; then no answer; then the same text.
  await verify(again);
  delete deps.judge;
  await verify(again);
  const { [VILLAGE]: village = {} } = pages;
  delete pages[VILLAGE];
  later(HOUR_MS);
  await verify(again);
  expect((await findPageChecks(db, "run")).get(2)).toMatchObject({ outcome: "unreachable", checkedAt: NOW + HOUR_MS });
  expect(await pairs(db)).toContain("2 weak");
  deps.judge = judge;
  pages[VILLAGE] = village;
  await verify(again);
  expect(asked).toEqual([2]);
  expect(await pairs(db)).toContain("2 weak");
  pages[VILLAGE] = { ...village, hash: "cd".repeat(32) };
  await verify(again);
  expect(asked).toEqual([2, 2]);
  // A page that was checked after the plan is not fetched again.
  const result = await findResult(db, "run");
  if (result === undefined) throw new Error("There is no report.");
  const limits = { maxPages: 100, maxMs: 60_000, signal: new AbortController().signal, onProgress: () => {} };
  const wanted: Verification = { taskId: "run", result, ...again, ...limits };
  const plan = await planVerification(deps, wanted);
  later(1_000);
  await verify(again);
  const before = fetched.length;
  expect(await verifyCitations(deps, wanted, plan)).toBe(0);
  expect(fetched).toHaveLength(before);
});
