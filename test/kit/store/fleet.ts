/** Several workers in one process on one PostgreSQL: the product's runner with a minimal agent. */

import { randomUUID } from "node:crypto";
import { onTestFinished } from "vitest";
import type { Agent, PollResult } from "../../../src/gemini/research-agent.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { thisProcess } from "../../../src/platform/process-identity.ts";
import { openBossEngine } from "../../../src/runs/engine/boss-engine.ts";
import type { Engine } from "../../../src/runs/engine/engine.ts";
import type { ResearchDeps } from "../../../src/runs/deps.ts";
import { createRunner, type Runner } from "../../../src/runs/scheduling/runner.ts";
import { hostHere } from "../../../src/store/dialect.ts";
import { pollKeyOf, registerProcess } from "../../../src/store/processes.ts";
import { openStore } from "../../../src/store/store.ts";
import { ask, sharedFor } from "./databases.ts";
import { openRunner, WORKING } from "./runner.ts";
import { insertRun } from "./store-rows.ts";
import { silentLog as log } from "../log.ts";

export interface WorkerOptions {
  poll?: (interactionId: string, signal: AbortSignal) => Promise<PollResult>;
  key?: string;
  intervalMs?: number;
  maxRps?: number;
}

export interface FleetWorker {
  deps: ResearchDeps;
  runner: Runner;
  queue: Engine;
  leave(): Promise<void>;
}

export async function openFleet() {
  const shared = await sharedFor(randomUUID(), 4);
  if (shared === undefined) throw new Error("These tests are for PostgreSQL.");
  const { url } = shared;
  const stage = await openRunner({ onTestFinished });
  const store = await openStore({ file: undefined, shared, clock: systemClock, log });
  onTestFinished(() => store.close());

  const open = async (key: string, makesPolls: boolean): Promise<Engine> => {
    const queue = await openBossEngine({ url, key: pollKeyOf({ key, baseUrl: "" }), makesPolls, log });
    onTestFinished(() => queue.close().catch(() => undefined));
    return queue;
  };

  const worker = async (options: WorkerOptions = {}): Promise<FleetWorker> => {
    const { key = "k", intervalMs = 500, maxRps = 100 } = options;
    const poll = options.poll ?? (async () => ({ kind: "found" as const, interaction: WORKING }));
    const queue = await open(key, true);
    const leaving = new AbortController();
    const processId = randomUUID();
    await registerProcess(store.db, { ...thisProcess(), processId, host: hostHere(store.db) }, Date.now());
    const agent: Agent = { ...stage.deps().agent, fingerprint: { key, baseUrl: "" }, poll };
    const deps = {
      ...stage.deps(),
      agent,
      db: store.db,
      clock: systemClock,
      queue,
      processId,
      leaving: leaving.signal,
    };
    const runner = createRunner({ deps, pollIntervalMs: intervalMs, maxRps, deliver: async () => 0 });
    runner.start();
    const leave = async (): Promise<void> => {
      leaving.abort();
      await queue.close();
    };
    onTestFinished(leave);
    return { deps, runner, queue, leave };
  };

  /** Inserts unfinished runs; by default without a job, as after a failure. */
  const insertRuns = async (count: number, more: { key?: string; owner?: string } = {}): Promise<string[]> => {
    const poll_key = pollKeyOf({ key: more.key ?? "k", baseUrl: "" });
    const ids = Array.from({ length: count }, () => randomUUID());
    for (const task_id of ids) {
      const row = { next_poll_at: 1, poll_key, owner: more.owner ?? "local", created_at: Date.now() };
      await insertRun(store.db, { task_id, deadline_at: Date.now() + 3_600_000, ...row });
    }
    return ids;
  };

  /** The runs with a scheduled or active poll. */
  const scheduled = async (): Promise<string[]> => {
    const rows = await ask<{ id: string }>(
      url,
      `select singleton_key as id from gemini_search_jobs.job where name like 'poll-%' and state <= 'active' order by 1`,
    );
    return rows.map(({ id }) => id);
  };

  /** Lets the next sweep make the repair that one process makes once a minute. */
  const repairNow = async (): Promise<void> => {
    await store.db.deleteFrom("leases").where("lease_id", "=", "repair").execute();
  };
  return { url, db: store.db, open, worker, insertRuns, scheduled, repairNow };
}
