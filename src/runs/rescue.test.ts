import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Agent, Interaction } from "../gemini/agent.ts";
import { systemClock } from "../platform/clock.ts";
import { createLog } from "../platform/log.ts";
import { openStore, type Store } from "../store/store.ts";
import type { ResearchDeps } from "./research.ts";
import { findResult } from "./result-store.ts";
import { findRun } from "./run-store.ts";
import { createRunner } from "./runner.ts";
import { startResearch } from "./start.ts";

/** Fifty times as fast as ours. */
const began = Date.now();
const clock = {
  now: () => began + (Date.now() - began) * 50,
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 50, signal),
};

const FINISHED: Interaction = {
  id: "v1_finished",
  status: "completed",
  rawStatus: "completed",
  report: "# The whole report",
  sources: [],
  citations: [],
  usage: { input: 10, output: 5, cached: 0, searches: 1 },
  thoughts: [],
  searches: [],
  images: 0,
  agent: "deep-research-preview-04-2026",
  raw: { id: "v1_finished" },
};

let directory: string;
let store: Store;
let leaving: AbortController;
let saved: string[];
let told: string[];

const refuseWrites = (): Promise<unknown> => sql`pragma query_only = on`.execute(store.db);
const allowWrites = (): Promise<unknown> => sql`pragma query_only = off`.execute(store.db);

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "gemini-search-rescue-"));
  leaving = new AbortController();
  saved = [];
  told = [];
  const log = createLog({ from: "ERROR", format: "text", redact: (text) => text, write: () => {} });
  store = await openStore({ file: join(directory, "deep_research.db"), clock, log });
});

afterEach(async () => {
  leaving.abort();
  await systemClock.sleep(50);
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

function researchWith(agent: Partial<Agent>): ResearchDeps {
  return {
    db: store.db,
    processId: store.processId,
    clock,
    log: createLog({ from: "ERROR", format: "text", redact: (text) => text, write: () => {} }),
    stateDir: directory,
    costOf: () => 1,
    during: (work) => work,
    leaving: leaving.signal,
    unsaved: new Map(),
    backUp: async ({ taskId }, report) => {
      saved.push(report);
      return `/somewhere/${taskId}.md`;
    },
    tell: async ({ body }) => told.push(body),
    agent: {
      fingerprint: { key: "k", baseUrl: "" },
      begin: async () => ({ kind: "accepted", interactionId: FINISHED.id }),
      look: async () => ({ kind: "found", interaction: FINISHED }),
      cancel: async () => ({ kind: "found", interaction: FINISHED }),
      follow: async () => {},
      ...agent,
    },
  };
}

const request = {
  owner: "local",
  client: undefined,
  query: "How deep is the lake?",
  agent: "deep-research-preview-04-2026",
  enableNotifications: false,
  maxWaitMs: 3_600_000 * 24,
  forceNew: false,
  estimate: {},
};

const follow = (deps: ResearchDeps): void =>
  createRunner({ deps, pollIntervalMs: 100, maxRps: 50, deliver: async () => 0 }).start();

test("P5: an id that the database refuses is kept aside, its report saved and told, and the run ends as it should", async () => {
  const deps = researchWith({
    begin: async () => {
      await refuseWrites();
      return { kind: "accepted", interactionId: FINISHED.id };
    },
  });
  const started = await startResearch(deps, request);
  if (started.kind === "started") await started.sending;
  expect(readFileSync(join(directory, "orphans.jsonl"), "utf8")).toContain(FINISHED.id);
  follow(deps);
  await vi.waitFor(() => expect(saved).toEqual(["# The whole report"]), 5_000);
  expect(told).toEqual([`${started.taskId.slice(0, 8)}: saved to /somewhere/${started.taskId}.md`]);
  expect((await findRun(store.db, "local", started.taskId)).status).toBe("pending");
  await allowWrites();
  await vi.waitFor(
    async () => expect((await findRun(store.db, "local", started.taskId)).status).toBe("completed"),
    5_000,
  );
  expect((await findResult(store.db, started.taskId))?.report).toBe("# The whole report");
  expect(existsSync(join(directory, "orphans.jsonl"))).toBe(false);
  expect(saved).toHaveLength(1);
});

test("P5: a run that was followed when the disk filled up is saved once and recorded later", async () => {
  let ready = false;
  const working: Interaction = { ...FINISHED, status: "working", rawStatus: "in_progress", report: "" };
  const deps = researchWith({
    look: async () => ({ kind: "found", interaction: ready ? FINISHED : working }),
  });
  const started = await startResearch(deps, request);
  if (started.kind === "started") await started.sending;
  follow(deps);
  await refuseWrites();
  ready = true;
  await vi.waitFor(() => expect(saved).toEqual(["# The whole report"]), 5_000);
  await allowWrites();
  await vi.waitFor(
    async () => expect((await findRun(store.db, "local", started.taskId)).status).toBe("completed"),
    5_000,
  );
  expect(saved).toHaveLength(1);
});
