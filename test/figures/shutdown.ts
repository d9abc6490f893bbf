/** A8: servers that are shut down at a random moment, in every way, and clients that disconnect during a call. */

import { setTimeout as sleep } from "node:timers/promises";
import type { HttpClient, RunningHttpServer } from "../kit/server/http-server.ts";
import { startHttpServer } from "../kit/server/http-server.ts";
import { judge } from "../kit/judge/kills-judge.ts";
import type { ProductProcess } from "../kit/kills/process.ts";
import { drain, fresh, prepare, save, start, startAndCancel } from "../kit/kills/kills.ts";
import { type KillWorld, openKillWorld, seeded } from "../kit/kills/world.ts";
import { inLanes, inTurn } from "./lanes.ts";

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
export const WAYS = [...SIGNALS, "the end of stdin", "EPIPE"] as const;
type Way = (typeof WAYS)[number];

/** A8: the time limits without pending work, and with a paid request in flight. */
const MAX_SHUTDOWN_MS = { idle: 1_500, waiting: 3_500 };
/** A process that has not exited by then is killed, so that the others can be judged. */
const MAX_EXIT_MS = 10_000;

export interface ShutdownVerdict {
  shutdowns: number;
  /** Milliseconds, by whether a paid request was in flight. */
  took: { idle: number[]; waiting: number[] };
  late: string[];
  /** All other violations: exit codes, leftovers, money, reports. */
  broken: string[];
  counts: Record<string, number>;
}

const emptyVerdict = (): ShutdownVerdict => ({
  shutdowns: 0,
  took: { idle: [], waiting: [] },
  late: [],
  broken: [],
  counts: {},
});

const openWorld = (seed: number): Promise<KillWorld> => {
  const random = seeded(seed);
  // Some responses arrive at once, some within the 2.5 s that a process waits while it shuts down, some later.
  const latency = (): number => Math.round(random() * inTurn([0, 150, 150, 2_000, 4_000], Math.floor(random() * 5)));
  const create = Array.from({ length: 3_000 }, () => ({
    latency_ms: latency(),
    life: { duration_ms: Math.round(random() * 2_500) * 1_000 },
  }));
  const interactions = { speed: 1_000, create: [{ life: { duration_ms: 0 } }, ...create] };
  return openKillWorld({ seed, build: "dist", scenario: { name: "shutdown", interactions } });
};

async function judged(world: KillWorld, verdict: ShutdownVerdict): Promise<ShutdownVerdict> {
  await drain(world);
  const { broken, counts } = judge(world);
  const unfinished = world.query("select 1 from research_tasks where status in ('running', 'pending')").length;
  if (unfinished > 0) verdict.broken.push(`${unfinished} runs are left unfinished.`);
  return { ...verdict, broken: [...verdict.broken, ...broken], counts };
}

export interface ShutdownOptions {
  times: number;
  lanes: number;
  seed: number;
}

export async function shutDownStdio({ times, lanes, seed }: ShutdownOptions): Promise<ShutdownVerdict> {
  const world = await openWorld(seed);
  const verdict = emptyVerdict();
  try {
    await prepare(world);
    await inLanes(times, lanes, (n) => runAndShutDown(world, inTurn(WAYS, n), verdict));
    return await judged(world, verdict);
  } finally {
    await world.close();
  }
}

async function runAndShutDown(world: KillWorld, way: Way, verdict: ShutdownVerdict): Promise<void> {
  const child = world.begin();
  // Before that, Node.js does not handle signals yet.
  await child.ready;
  const starting = new Set<Promise<unknown>>();
  const paid = (call: Promise<unknown>): void => {
    starting.add(call);
    void call.finally(() => starting.delete(call));
  };
  const actions = [
    () => paid(start(world, child, fresh("shutdown"))),
    () => paid(startAndCancel(world, child)),
    () => void save(world, child),
    () => void child.call("list_research", {}),
    () => void child.call("search", { query: fresh("a search") }),
  ];
  for (const action of actions.toSorted(() => world.random() - 0.5).slice(0, 1 + Math.floor(world.random() * 4)))
    action();
  await sleep(world.random() * 1_200);
  const kind = starting.size > 0 ? "waiting" : "idle";
  const from = performance.now();
  shutDown(child, way);
  note(verdict, { way, kind, took: await endOf(child, verdict, way, from) });
}

function shutDown(child: ProductProcess, way: Way): void {
  if (way === "the end of stdin") child.closeStdin();
  else if (way === "EPIPE") {
    child.stopReading();
    // A broken pipe is detected on the next write.
    void child.call("list_research", {});
  } else child.signal(way);
}

async function endOf(child: ProductProcess, verdict: ShutdownVerdict, way: Way, from: number): Promise<number> {
  const timer = setTimeout(child.kill, MAX_EXIT_MS);
  const { code } = await child.ended;
  clearTimeout(timer);
  if (code !== 0) verdict.broken.push(`${way} ended a server with ${code}: ${child.stderr().slice(-300)}`);
  return performance.now() - from;
}

function note(verdict: ShutdownVerdict, one: { way: string; kind: "idle" | "waiting"; took: number }): void {
  const { way, kind, took } = one;
  verdict.shutdowns += 1;
  verdict.took[kind].push(took);
  if (took > MAX_SHUTDOWN_MS[kind]) verdict.late.push(`${way} (${kind}) took ${Math.round(took)} ms`);
}

const serveIn = (world: KillWorld): Promise<RunningHttpServer> =>
  startHttpServer({ configDir: world.configDir, env: { ...world.env, MCP_RATE_LIMIT_PER_MINUTE: "0" } });

export async function shutDownServe({ times, lanes, seed }: ShutdownOptions): Promise<ShutdownVerdict> {
  const world = await openWorld(seed);
  const verdict = emptyVerdict();
  try {
    await inLanes(times, lanes, async (n) => {
      const server = await serveIn(world);
      const clients = [await server.connect("modern"), await server.connect("legacy")];
      const starting = new Set<Promise<unknown>>();
      for (const client of clients) begin(world, client, starting);
      await sleep(world.random() * 1_200);
      const kind = starting.size > 0 ? "waiting" : "idle";
      const from = performance.now();
      process.kill(server.pid, inTurn(SIGNALS, n));
      const code = await server.exited;
      note(verdict, { way: inTurn(SIGNALS, n), kind, took: performance.now() - from });
      if (code !== 0) verdict.broken.push(`serve ended with ${code}: ${server.stderr().slice(-300)}`);
      await server.close();
    });
    return await judged(world, verdict);
  } finally {
    await world.close();
  }
}

/** Starts a call whose response may never be received. */
function begin({ random, user }: KillWorld, client: HttpClient, starting: Set<Promise<unknown>>): void {
  const isPaid = random() < 0.6;
  const query = fresh("clients");
  if (isPaid) user.ask(query);
  const call = client
    .call(isPaid ? "start_deep_research" : "search", { query })
    .catch(() => undefined)
    .finally(() => starting.delete(call));
  if (isPaid) starting.add(call);
}

/** Clients disconnect during a call while the server keeps running; paid runs continue. */
export async function disconnectClients({ times, lanes, seed }: ShutdownOptions): Promise<ShutdownVerdict> {
  const world = await openWorld(seed);
  const verdict = emptyVerdict();
  try {
    const server = await serveIn(world);
    await inLanes(times, lanes, async (n) => {
      const client = await server.connect(n % 2 === 0 ? "modern" : "legacy");
      begin(world, client, new Set());
      await sleep(world.random() * 300);
      await client.close();
      verdict.shutdowns += 1;
    });
    // Searches of disconnected clients have ended and starts have been answered before the judge runs.
    while (world.query("select 1 from research_tasks where status in ('running', 'pending')").length > 0)
      await sleep(50);
    await server.close();
    return await judged(world, verdict);
  } finally {
    await world.close();
  }
}
