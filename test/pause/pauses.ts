/** Suspends real processes for longer than any lease while others continue. */

import { setTimeout as sleep } from "node:timers/promises";
import type { ScenarioInput } from "../../simulator/scenario.ts";
import { drain } from "../kit/kills/kills.ts";
import { judge, type Verdict } from "../kit/judge/kills-judge.ts";
import type { ProductProcess } from "../kit/kills/process.ts";
import { resumeProcess, suspendProcess } from "../kit/kills/suspend.ts";
import { type ClockWorld, openClockWorld } from "./clock-world.ts";

/** Longer than the longest lease, of 150 s; the clocks of the running processes are set forward by it. */
const PAUSE_MS = 200_000;
const PAUSES_PER_PROCESS = 5;

export interface PausePlan {
  pauses: number;
  seed: number;
  /** Number of processes that are suspended concurrently. */
  lanes: number;
}

export async function playPauses({ pauses, seed, lanes }: PausePlan): Promise<Verdict> {
  const here = await openClockWorld({ seed, scenario: slowScenario(pauses * 2) });
  let left = pauses;
  const hits: Hits = { busy: 0, taken: 0 };
  try {
    await prepare(here);
    const worker = here.begin({ args: ["worker"] });
    const lane = async (): Promise<void> => {
      while (left > 0) {
        const some = Math.min(PAUSES_PER_PROCESS, left);
        left -= some;
        await pauseRepeatedly(here, some, hits);
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    await end(worker);
    await drain(here);
    const { broken, counts } = judge(here);
    return { broken, counts: { ...counts, pauses, ...hits } };
  } finally {
    await here.close();
  }
}

/** Responses and polls take long enough to be interrupted. */
function slowScenario(starts: number): ScenarioInput {
  const create = Array.from({ length: starts }, (_, n) => ({
    latency_ms: [0, 300, 700][n % 3] ?? 0,
    life: { duration_ms: [0, 500_000, 1_500_000][n % 5] ?? 200_000 },
  }));
  const get = [{ latency_ms: 300 }, { latency_ms: 10 }];
  return { name: "pauses", interactions: { speed: 1_000, create, get } };
}

/** The tables must exist before a process can be suspended between two writes. */
async function prepare(here: ClockWorld): Promise<void> {
  const child = here.begin();
  await start(here, child);
  await end(child);
}

let questions = 0;

async function start(here: ClockWorld, child: ProductProcess): Promise<void> {
  const query = `What sleeps for ${(questions += 1)} hours?`;
  const answer = await child.call("start_deep_research", { query, max_wait_hours: 24 });
  if (answer?.task_id === undefined) return;
  here.returned.add(answer.task_id);
  // A pause can exceed the time limit of the call, which then returns before Google's response (I3), and the id may
  // arrive too late.
  const [run] = here.query<{ interaction_id: string | null }>(
    "select interaction_id from research_tasks where task_id = ?",
    answer.task_id,
  );
  if (answer.success && typeof run?.interaction_id === "string") here.accepted.add(answer.task_id);
}

interface Hits {
  /** Suspensions during a paid request or a poll. */
  busy: number;
  /** How many of those were taken over by another process before the suspension ended. */
  taken: number;
}

async function pauseRepeatedly(here: ClockWorld, pauses: number, hits: Hits): Promise<void> {
  const child = here.begin();
  const answers: Promise<void>[] = [];
  for (let n = 0; n < pauses; n += 1) {
    answers.push(start(here, child), start(here, child));
    // The first response shows that the process is running.
    await (n === 0 ? Promise.race(answers) : sleep(here.random() * 600));
    await suspendProcess(here, child);
    const isBusy = holdsLease(here, child);
    here.jump(PAUSE_MS);
    const isTaken = await isTakenOver(here, child);
    if (isBusy) hits.busy += 1;
    if (isBusy && isTaken) hits.taken += 1;
    resumeProcess(child);
  }
  await Promise.all(answers);
  await end(child);
}

/** Other processes sweep every five seconds. Some suspensions end earlier, after the lease has expired unnoticed. */
async function isTakenOver(here: ClockWorld, child: ProductProcess): Promise<boolean> {
  const end = Date.now() + (here.random() < 0.3 ? 100 : 7_000);
  do await sleep(50);
  while (holdsLease(here, child) && Date.now() < end);
  return !holdsLease(here, child);
}

const holdsLease = (here: ClockWorld, { pid }: ProductProcess): boolean =>
  here.query(
    "select 1 from research_tasks join processes on process_id = lease_owner where lease_until is not null and pid = ?",
    pid,
  ).length > 0;

/** Returns the milliseconds from the death of a process during a poll until another process polls its run. */
export async function measureTakeOvers({ times, seed }: { times: number; seed: number }): Promise<number[]> {
  const interactions = { speed: 1_000, duration_ms: 0, get: [{ latency_ms: 20_000 }, {}] };
  const here = await openClockWorld({ seed, scenario: { name: "take-over", interactions } });
  const measured: number[] = [];
  try {
    await prepare(here);
    here.begin({ args: ["worker"] });
    while (measured.length < times) {
      const child = here.begin();
      const before = here.gemini.ledger.acceptedStarts().length;
      await start(here, child);
      const id = here.gemini.ledger.acceptedStarts()[before]?.id ?? "";
      const polls = (): number => here.gemini.ledger.trafficOf(id).polls.length;
      while (polls() === 0) await sleep(10);
      await sleep(here.random() * 5_000);
      const isOwner = holdsLease(here, child);
      await end(child);
      const killedAt = Date.now();
      if (!isOwner) continue;
      while (polls() < 2) await sleep(5);
      measured.push(Date.now() - killedAt);
    }
    return measured;
  } finally {
    await here.close();
  }
}

async function end(child: ProductProcess): Promise<void> {
  child.kill();
  await child.ended;
}
