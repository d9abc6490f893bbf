/** A finished run whose report cites four pages, and the pages as a check of its citations finds them. */

import { NO_COST } from "../../../src/costs/actual.ts";
import type { PageReading } from "../../../src/pages/page.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { findResult } from "../../../src/runs/result-store.ts";
import { finishRun } from "../../../src/runs/run-store.ts";
import type { Database } from "../../../src/store/database.ts";
import { findEvidence } from "../../../src/verification/evidence-store.ts";
import { type Verification, verifyCitations, type VerifyDeps } from "../../../src/verification/verify.ts";
import { type Judge } from "../../../src/verification/judge/judge-port.ts";
import { silentLog as log } from "../log.ts";
import { insertRun, openDatabase } from "./store-rows.ts";

export const NOW = Date.UTC(2026, 10, 16);
export const HOUR_MS = 3_600_000;
export const LINK = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/x";

export const REPORT = [
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

export const PAGES: Record<string, Partial<PageReading>> = {
  "https://a.example/lake": text("Lake Onda is 42 metres deep."),
  "https://b.example/village": text("A page about cheese from the north, without any village."),
  "https://c.example/ferry": { outcome: "gone", reason: "The page was removed.", httpStatus: 410 },
  "https://d.example/bridge": { outcome: "unreadable", wall: "paywall", httpStatus: 200 },
};

export async function openRun(taskId = "run", db?: Database) {
  const database = db ?? (await openDatabase());
  await insertRun(database, { task_id: taskId, status: "running", lease_owner: "p" });
  const citations = [{ n: 1, start: 0, end: 27 }];
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
export function openWorld(
  db: Database,
  { slow = false, judge, processId = "p" }: { slow?: boolean; judge?: Judge; processId?: string } = {},
) {
  const fetched: string[] = [];
  let now = NOW;
  const pages = { ...PAGES };
  const deps: VerifyDeps = {
    db,
    judge,
    processId,
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
    return verifyCitations(deps, wanted);
  };
  return { deps, pages, fetched, verify, later: (ms: number) => void (now += ms) };
}

export async function pairs(db: Database, taskId = "run") {
  const evidence = await findEvidence(db, taskId);
  return evidence.map(({ source, verdict }) => `${source} ${verdict}`).toSorted();
}
