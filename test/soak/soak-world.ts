/** The processes of the soak on one database: `serve`, a stdio server and a worker, with their resource use. */

import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { installStandin } from "../../simulator/gemini-cli/standin-cli.ts";
import { startHttpServer } from "../kit/server/http-server.ts";
import { childrenOf, openFiles, residentMemory } from "../kit/server/processes.ts";
import { openKillWorld } from "../kit/kills/world.ts";
import type { CallTool } from "./load.ts";

export const MEMBERS = ["serve", "stdio", "worker"] as const;
export type Member = (typeof MEMBERS)[number];

export interface Reading {
  operations: number;
  /** Megabytes. */
  rss: number;
  /** Memory in use after a full garbage collection, in megabytes. */
  heap: number;
  fds: number;
  /** Zombies that were already zombies at the previous reading; one that has just exited is reaped in a moment. */
  zombies: number;
  children: number;
}

export interface SoakWorld {
  callers: CallTool[];
  read(member: Member, operations: number): Promise<Reading>;
  /** Megabytes. */
  walSize(): number;
  integrity(): string;
  stderr(): string;
  /** Ends all processes in order and returns their exit codes. */
  shutDown(): Promise<(number | null)[]>;
  close(): Promise<void>;
}

/** On SIGUSR2 the process collects garbage and writes its memory use to a file. Children do not inherit this. */
const MEASURE = `--expose-gc --import=data:text/javascript,${encodeURIComponent(
  'import { renameSync, writeFileSync } from "node:fs"; const file = `${process.env.MEASURES}/${process.pid}`; process.on("SIGUSR2", () => { gc(); gc(); const { heapUsed, external } = process.memoryUsage(); writeFileSync(`${file}.new`, String(heapUsed + external)); renameSync(`${file}.new`, file); });',
)}`;

const MINUTE = 60_000;

export async function openSoakWorld({ seed }: { seed: number }): Promise<SoakWorld> {
  const create = Array.from({ length: 50 }, (_, n) => ({
    life: { duration_ms: (1 + (n % 10)) * MINUTE, ...(n % 10 === 3 ? { status: "failed" } : {}) },
  }));
  // Each step is used once, in order; the last one repeats, with a duration of five minutes.
  const scenario = { name: "soak", interactions: { speed: 100, duration_ms: 5 * MINUTE, create: [...create, {}] } };
  const world = await openKillWorld({ seed, build: "dist", scenario });
  const folder = join(world.configDir, "..");
  const measures = join(folder, "measures");
  mkdirSync(measures);
  installStandin(join(folder, "bin"));
  writeFileSync(join(folder, "standin.json"), JSON.stringify({}));
  const measured = { NODE_OPTIONS: MEASURE, MEASURES: measures };
  const standin = { SEARCH_BACKEND: "cli", GEMINI_STANDIN_SCENARIO: join(folder, "standin.json") };
  const server = world.begin({ env: { ...measured, ...standin } });
  const worker = world.begin({ args: ["worker"], env: measured });
  const serve = await startHttpServer({
    configDir: world.configDir,
    env: { ...world.env, ...measured, MCP_RATE_LIMIT_PER_MINUTE: "0" },
  });
  const pids = { serve: serve.pid, stdio: server.pid, worker: worker.pid };
  const dead: Record<Member, number[]> = { serve: [], stdio: [], worker: [] };
  const database = join(world.configDir, "deep_research.db");
  return {
    callers: [server.call, httpCaller(serve)],
    read: async (member, operations) => {
      const pid = pids[member];
      const heap = await heapOf(pid, join(measures, String(pid)));
      const { living, zombies } = childrenOf(pid);
      const unreaped = zombies.filter((child) => dead[member].includes(child)).length;
      dead[member] = zombies;
      const memory = { rss: residentMemory(pid), heap };
      return { operations, ...memory, fds: openFiles(pid), zombies: unreaped, children: living.length };
    },
    walSize: () => sizeOf(`${database}-wal`) / 2 ** 20,
    integrity: () => world.query<{ integrity_check: string }>("pragma integrity_check")[0]?.integrity_check ?? "",
    stderr: () => server.stderr() + worker.stderr() + serve.stderr(),
    shutDown: async () => {
      server.closeStdin();
      worker.signal("SIGTERM");
      await serve.close();
      return [(await server.ended).code, (await worker.ended).code, await serve.exited];
    },
    close: async () => {
      await serve.close();
      await world.close();
    },
  };
}

/** A new client for every hundred calls, so that sessions are opened and closed. */
const CALLS_PER_CLIENT = 100;

function httpCaller(serve: Awaited<ReturnType<typeof startHttpServer>>): CallTool {
  let calls = 0;
  let open = serve.connect("modern");
  return async (tool, input) => {
    calls += 1;
    if (calls % CALLS_PER_CLIENT === 0) {
      const earlier = open;
      open = serve.connect(calls % (2 * CALLS_PER_CLIENT) === 0 ? "modern" : "legacy");
      await open;
      // Calls of other lanes may still use it.
      setTimeout(() => void earlier.then((client) => client.close()), 10_000).unref();
    }
    return (await (await open).call(tool, input)).structured;
  };
}

async function heapOf(pid: number, file: string): Promise<number> {
  rmSync(file, { force: true });
  process.kill(pid, "SIGUSR2");
  for (;;) {
    try {
      return Number(readFileSync(file, "utf8")) / 2 ** 20;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
