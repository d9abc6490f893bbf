/**
 * The environment in which processes are killed: a config directory, the simulator with its ledger, and a counting
 * notifier.
 */

import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { startSimulator, type Simulator } from "../../../simulator/server.ts";
import type { ScenarioInput } from "../../../simulator/scenario.ts";
import type { User } from "../judge/decisions.ts";
import { KNOWN_RUN, type KnownRun, recordCall, userOf } from "../judge/recorded-calls.ts";
import { startProcess, type ProductProcess, type ProcessOptions } from "./process.ts";
import { COMPILE_CACHE, isolatedEnvironment, ROOT, temporaryDirectory, TEST_KEY } from "../server/server.ts";

export interface KillWorld {
  gemini: Simulator;
  configDir: string;
  reportsDir: string;
  env: Record<string, string>;
  random: () => number;
  /** Task ids that a client received; none may be lost. */
  returned: Set<string>;
  /** Runs that were returned as accepted by Google; none may become an unknown start. */
  accepted: Set<string>;
  /** What the user decided in all processes. */
  user: User;
  kills: Map<string, number>;
  /** Starts that a hard budget refused, and the highest one of all processes; 0: they have none. */
  refused: number;
  hardUsd: number;
  /** Process ids, as the operating system assigns them, of the killed processes. */
  killed: Set<number>;
  begin(options?: Partial<Omit<ProcessOptions, "build">>): ProductProcess;
  /** Queries the database directly. */
  query<Row>(sql: string, ...parameters: (string | number)[]): Row[];
  /** One line for each notification that reached the desktop. */
  notified(): string[];
  close(): Promise<void>;
}

export interface KillWorldOptions {
  seed?: number;
  /** The number of starts with their own scenario step; the last step repeats. */
  starts?: number;
  scenario?: ScenarioInput;
  /** The program that processes run: as shipped, or with failpoints. */
  build?: "dist" | "dist-failpoints";
  env?: Record<string, string>;
}

export async function openKillWorld(options: KillWorldOptions = {}): Promise<KillWorld> {
  const { seed = 1, starts = 2_000, scenario } = options;
  const random = seeded(seed);
  const gemini = await startSimulator({ scenario: scenario ?? randomScenario(starts, random) });
  const folder = temporaryDirectory();
  const [configDir, reportsDir, bin] = [join(folder, "config"), join(folder, "reports"), join(folder, "bin")];
  for (const directory of [configDir, reportsDir, bin]) mkdirSync(directory);
  const notifications = join(folder, "notifications.txt");
  installNotifier(join(bin, "notify-send"), notifications);
  const env = {
    ...isolatedEnvironment(configDir),
    PATH: `${bin}:${process.env["PATH"] ?? ""}`,
    // There is no bus at this address; the notifier only checks that a desktop is configured.
    DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(folder, "bus")}`,
    SEARCH_BACKEND: "api",
    GOOGLE_GEMINI_BASE_URL: gemini.url,
    GEMINI_API_KEY: TEST_KEY,
    RESEARCH_SYNC_WINDOW_MS: "0",
    RESEARCH_POLL_INTERVAL_MS: "100",
    RESEARCH_MAX_RPS: "100",
    RESEARCH_REPORTS_DIR: reportsDir,
    GEMINI_SEARCH_TOOLS: "all",
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    ...options.env,
  };
  const build = join(ROOT, options.build ?? "dist-failpoints", "main.js");
  const alive = new Set<ProductProcess>();
  const killed = new Set<number>();
  const user = userOf(gemini);
  const query = <Row>(sql: string, ...parameters: (string | number)[]): Row[] => {
    const database = new DatabaseSync(join(configDir, "deep_research.db"), { timeout: 5_000 });
    try {
      return database.prepare(sql).all(...parameters) as Row[];
    } finally {
      database.close();
    }
  };
  const knownRun = (taskId: string): KnownRun | undefined => query<KnownRun>(KNOWN_RUN, taskId)[0];
  return {
    gemini,
    configDir,
    reportsDir,
    env,
    random,
    returned: new Set(),
    accepted: new Set(),
    user,
    kills: new Map(),
    refused: 0,
    hardUsd: 0,
    killed,
    begin: (options = {}) => {
      const started = startProcess({ ...options, build, env: { ...env, ...options.env } });
      const child: ProductProcess = {
        ...started,
        call: (name, input) => recordCall({ user, gemini, knownRun }, { name, input }, () => started.call(name, input)),
      };
      alive.add(child);
      void child.ended.then((end) => {
        alive.delete(child);
        if (end.killed) killed.add(child.pid);
      });
      return child;
    },
    query,
    notified: () => readLines(notifications),
    close: async () => {
      for (const child of alive) child.kill();
      await Promise.all([...alive].map((child) => child.ended));
      await gemini.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Writes title and body of `notify-send --app-name=… -- title body` as one line. */
export function installNotifier(path: string, file: string): void {
  writeFileSync(path, `#!/bin/sh\nprintf '%s | %s\\n' "$3" "$4" >> '${file}'\n`);
  chmodSync(path, 0o755);
}

export function readLines(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}

/**
 * Most runs take up to 0.7 s; some take longer, so that they can be cancelled, and some fail. Responses are slow enough
 * for kills to hit them.
 */
function randomScenario(starts: number, random: () => number): ScenarioInput {
  const upTo = (max: number): number => Math.round(random() * max);
  // The first run completes, because saving needs a report.
  const create = Array.from({ length: starts }, (_, n) => ({
    latency_ms: random() < 0.5 ? 0 : upTo(150),
    life: {
      duration_ms: (random() < 0.2 ? 2_500 : upTo(700)) * 1_000,
      ...(n > 0 && random() < 0.1 ? { status: "failed" } : {}),
    },
  }));
  const get = [{ latency_ms: 5 }, { latency_ms: 60 }, {}];
  return { name: "kills", interactions: { speed: 1_000, create, get } };
}

/** Pseudo-random numbers (mulberry32): the same seed gives the same kills, as far as the scheduler allows. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
