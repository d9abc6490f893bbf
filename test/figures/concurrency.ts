/** Several processes on one database: joint starts, the shared poll interval, and take-over of runs. */

import { setTimeout as sleep } from "node:timers/promises";
import { judge } from "../kit/judge/kills-judge.ts";
import { drain } from "../kit/kills/kills.ts";
import type { ProductProcess } from "../kit/kills/process.ts";
import { type KillWorld, openKillWorld } from "../kit/kills/world.ts";
import { inTurn } from "./lanes.ts";

const STARTS_AT_ONCE = 100;
const NEVER_ENDING = { name: "concurrency", interactions: { speed: 1 } };

export interface TwinVerdict {
  rounds: number;
  /** Paid starts; one per round is expected. */
  paid: number;
  /** Answers without a run, or with another run than the first answer of the round. */
  mismatched: number;
  refused: string[];
}

/** Sends the same question a hundred times at once, spread over the processes. */
export async function startTwins(options: { rounds: number; processes: number; seed: number }): Promise<TwinVerdict> {
  const world = await openKillWorld({ seed: options.seed, build: "dist", scenario: NEVER_ENDING });
  try {
    const servers = await openServers(world, options.processes);
    const verdict: TwinVerdict = { rounds: options.rounds, paid: 0, mismatched: 0, refused: [] };
    for (let round = 0; round < options.rounds; round += 1) {
      const query = `Question ${round} that all processes ask`;
      const answers = await Promise.all(
        Array.from({ length: STARTS_AT_ONCE }, (_, n) => inTurn(servers, n).call("start_deep_research", { query })),
      );
      const first = answers[0]?.task_id;
      verdict.mismatched += answers.filter(
        (answer) => answer?.task_id === undefined || answer.task_id !== first,
      ).length;
      verdict.refused.push(...answers.filter((answer) => answer?.success !== true).map((one) => JSON.stringify(one)));
    }
    verdict.paid = world.gemini.ledger.acceptedStarts().length;
    return verdict;
  } finally {
    await world.close();
  }
}

export interface DecisionVerdict {
  rounds: number;
  /** Paid requests; a plan and a research per round are expected. */
  paid: number;
  cancelled: number;
  broken: string[];
}

/**
 * In each round all processes ask for the same plan at once, approve it at once and cancel the research at once, by the
 * id that the start returned. A judge compares the user's decisions with Google's ledger.
 */
export async function decideTogether(options: {
  rounds: number;
  processes: number;
  seed: number;
}): Promise<DecisionVerdict> {
  const create = Array.from({ length: options.rounds }, () => [
    { life: { duration_ms: 0 } },
    { life: { status: "in_progress" } },
  ]).flat();
  const scenario = { name: "decisions", interactions: { speed: 1_000, usage_after_ms: 0, create } };
  const world = await openKillWorld({ seed: options.seed, build: "dist", scenario });
  try {
    const servers = await openServers(world, options.processes);
    const callAtOnce = (name: string, input: Record<string, unknown>) =>
      Promise.all(Array.from({ length: STARTS_AT_ONCE }, (_, n) => inTurn(servers, n).call(name, input)));
    for (let round = 0; round < options.rounds; round += 1) {
      const [first] = await callAtOnce("start_deep_research", { query: `Plan ${round} of all`, plan: true });
      const task_id = first?.task_id ?? "";
      world.returned.add(task_id);
      const waits = "select task_id from research_tasks where task_id = ? and part = 'plan' and status = 'completed'";
      while (world.query(waits, task_id).length === 0) await sleep(20);
      await callAtOnce("resume_research", { task_id, approve: true, plan_turn: 1 });
      await callAtOnce("cancel_research", { task_id });
    }
    for (const server of servers) server.closeStdin();
    await Promise.all(servers.map(({ ended }) => ended));
    await drain(world);
    const { broken } = judge(world);
    const starts = world.gemini.ledger.acceptedStarts();
    const cancelled = starts.filter(({ id }) => world.gemini.ledger.trafficOf(id).cancels.length > 0).length;
    return { rounds: options.rounds, paid: starts.length, cancelled, broken };
  } finally {
    await world.close();
  }
}

async function openServers(world: KillWorld, processes: number): Promise<ProductProcess[]> {
  const servers = Array.from({ length: processes }, () => world.begin());
  await Promise.all(servers.map((server) => server.ready));
  return servers;
}

export interface PaceVerdict {
  runs: number;
  polls: number;
  calls: number;
  /** Polls of the most polled run, relative to the maximum that the interval allows. */
  maxOverAllowed: number;
  /** Polls of all runs, relative to one per interval. */
  share: number;
  /** The shortest time between two polls of one run, in milliseconds. */
  shortestGap: number;
  /** Failed calls and log warnings about a busy database. */
  busy: string[];
}

export interface PaceOptions {
  runs: number;
  processes: number;
  intervalMs: number;
  ms: number;
  seed: number;
}

/** All processes claim due runs and answer status calls for the given time. */
export async function pollTogether(options: PaceOptions): Promise<PaceVerdict> {
  const { runs, processes, intervalMs, ms, seed } = options;
  const world = await openKillWorld({
    seed,
    build: "dist",
    scenario: NEVER_ENDING,
    env: { RESEARCH_POLL_INTERVAL_MS: String(intervalMs) },
  });
  try {
    const servers = await openServers(world, processes);
    const ids: string[] = [];
    for (let n = 0; n < runs; n += 1) {
      const answer = await inTurn(servers, n).call("start_deep_research", { query: `Question ${n} for all` });
      ids.push(answer?.task_id ?? "");
    }
    const from = Date.now();
    const busy: string[] = [];
    let calls = 0;
    const ask = async (server: ProductProcess, index: number): Promise<void> => {
      for (let n = index; Date.now() - from < ms; n += 1) {
        const tool = n % 5 === 0 ? "list_research" : "check_research_status";
        const answer = await server.call(tool, tool === "list_research" ? {} : { task_id: inTurn(ids, n) });
        calls += 1;
        if (answer?.success !== true) busy.push(JSON.stringify(answer));
        await sleep(50);
      }
    };
    await Promise.all(servers.map(ask));
    const until = Date.now();
    for (const server of servers) busy.push(...server.stderr().split("\n").filter(isComplaint));
    return { ...judgePace(world, { from, until, intervalMs }), runs, calls, busy };
  } finally {
    await world.close();
  }
}

const isComplaint = (line: string): boolean => /\[(?:WARN|ERROR)\]/.test(line);

/** The jitter of the interval, in both directions. */
const SPREAD = 0.1;

function judgePace(world: KillWorld, { from, until, intervalMs }: { from: number; until: number; intervalMs: number }) {
  const allowed = 1 + (until - from) / (intervalMs * (1 - SPREAD));
  const perRun = world.gemini.ledger
    .acceptedStarts()
    .map(({ id }) => world.gemini.ledger.trafficOf(id).polls.filter((at) => at >= from && at <= until));
  const polls = perRun.reduce((sum, { length }) => sum + length, 0);
  const gaps = perRun.flatMap((times) => times.slice(1).map((at, n) => at - (times[n] ?? at)));
  return {
    polls,
    maxOverAllowed: Math.max(...perRun.map(({ length }) => length / allowed)),
    share: polls / ((perRun.length * (until - from)) / intervalMs),
    shortestGap: Math.min(...gaps),
  };
}

/** Returns the milliseconds from the death of a process that had claimed a run to the next poll by another. */
export async function takeOver({ times, seed }: { times: number; seed: number }): Promise<number[]> {
  const world = await openKillWorld({ seed, scenario: NEVER_ENDING });
  const took: number[] = [];
  try {
    const successor = world.begin();
    // A process without runs to poll does not take over runs of dead processes.
    await successor.call("start_deep_research", { query: "What does the successor do?" });
    for (let n = 0; n < times; n += 1) {
      const owner = world.begin({ failpoint: "after-claim:1" });
      const answer = owner.call("start_deep_research", { query: `Question ${n} of the dead owner` });
      await owner.ended;
      const diedAt = Date.now();
      await answer;
      const orphans = world.gemini.ledger.acceptedStarts().map(({ id }) => id);
      const isPolled = (id: string): boolean => world.gemini.ledger.trafficOf(id).polls.some((at) => at > diedAt);
      while (!orphans.every(isPolled)) await sleep(20);
      took.push(Date.now() - diedAt);
    }
    return took;
  } finally {
    await world.close();
  }
}
