/** The parts of a background run on a real database, with a minimal agent and an accelerated clock. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import type { Agent, Interaction } from "../../../src/gemini/research-agent.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import type { ResearchDeps } from "../../../src/runs/deps.ts";
import { createRunner } from "../../../src/runs/scheduling/runner.ts";
import { openStore, type Store } from "../../../src/store/store.ts";
import { allowWrites, copyTemplate, refuseWrites, sharedFor } from "./databases.ts";
import { silentLog as log } from "../log.ts";
import { commonDeps } from "./research-deps.ts";

/** Runs fifty times as fast as the system clock. */
const began = Date.now();
export const clock = {
  now: () => began + (Date.now() - began) * 50,
  monotonic: () => (Date.now() - began) * 50,
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 50, signal),
};

export const FINISHED: Interaction = {
  id: "v1_finished",
  status: "completed",
  rawStatus: "completed",
  report: "# The whole report",
  sources: [],
  citations: [],
  usage: { input: 10, output: 5, cached: 0, searches: 1 },
  thoughts: [],
  searches: [],
  earlierOutputs: [],
  pictures: [],
  searchSuggestions: [],
  failureCause: undefined,
  raw: { id: "v1_finished" },
};

export const WORKING: Interaction = { ...FINISHED, status: "working", rawStatus: "in_progress", report: "" };

export const request = {
  owner: "local",
  client: undefined,
  query: "How deep is the lake?",
  agent: "deep-research-preview-04-2026",
  enableNotifications: true,
  maxWaitMs: 3_600_000 * 24,
  forceNew: false,
  estimate: {},
};

export interface Stage {
  directory: string;
  store: Store;
  /** Reports that were backed up to files, and the notifications about them. */
  saved: string[];
  notified: string[];
  refuseWrites(): Promise<unknown>;
  allowWrites(): Promise<unknown>;
  deps(agent?: Partial<Agent>): ResearchDeps;
}

/** A test, or another owner that runs cleanups. */
interface TestOwner {
  onTestFinished(close: () => Promise<void>): void;
}

export async function openRunner({ onTestFinished }: TestOwner): Promise<Stage> {
  const directory = mkdtempSync(join(tmpdir(), "gemini-search-stage-"));
  const file = join(directory, "deep_research.db");
  const shared = await sharedFor(file);
  copyTemplate(directory);
  const store = await openStore({ file, shared, clock, log });
  const leaving = new AbortController();
  const saved: string[] = [];
  const notified: string[] = [];
  onTestFinished(async () => {
    leaving.abort();
    await systemClock.sleep(50);
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const deps = (agent: Partial<Agent> = {}): ResearchDeps => ({
    ...commonDeps({ db: store.db, processId: store.processId, clock, log, leaving: leaving.signal }),
    stateDir: directory,
    during: (work) => work,
    backUp: async ({ taskId }, report) => {
      saved.push(report);
      return `/somewhere/${taskId}.md`;
    },
    notify: async ({ body }) => notified.push(body),
    agent: {
      fingerprint: { key: "k", baseUrl: "" },
      start: async ({ checkBeforeSending }) => {
        const refusal = await checkBeforeSending();
        if (refusal !== undefined) return { kind: "withheld", error: refusal };
        return { kind: "accepted", interactionId: FINISHED.id };
      },
      poll: async () => ({ kind: "found", interaction: FINISHED }),
      cancel: async () => ({ kind: "found", interaction: FINISHED }),
      delete: async () => ({ kind: "deleted" }),
      stream: async () => {},
      ...agent,
    },
  });
  return {
    directory,
    store,
    saved,
    notified,
    ...(shared === undefined
      ? {
          refuseWrites: () => sql`pragma query_only = on`.execute(store.db),
          allowWrites: () => sql`pragma query_only = off`.execute(store.db),
        }
      : { refuseWrites: () => refuseWrites(shared.url), allowWrites: () => allowWrites(shared.url) }),
    deps,
  };
}

export const follow = (deps: ResearchDeps): void =>
  createRunner({ deps, pollIntervalMs: 100, maxRps: 50, deliver: async () => 0 }).start();
