/**
 * One trial of a client, transport and scenario with the real programs, judged by the model, the wire and Google's
 * ledger.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { ScenarioInput } from "../../simulator/scenario.ts";
import { DEMO_REPORT, DEMO_SOURCES } from "../../simulator/demo/report.ts";
import type { Client } from "./client.ts";
import { CONVERSATION } from "./conversation.ts";
import { judge, type Verdict } from "./judge.ts";
import { BLOCKING, COME_BACK, QUICK, RESEARCH } from "./script.ts";
import { type Session, startSession } from "./session.ts";
import { startTerminalSession } from "./terminal-session.ts";
import { openWorld, type Transport, type World } from "./world.ts";

export const SCENARIOS = [
  "research",
  "long-report",
  "unknown-client",
  "blocking",
  "client-killed",
  "interactive",
  "conversation",
] as const;

export interface Trial {
  client: Client;
  transport: Transport;
  scenario: (typeof SCENARIOS)[number];
  /** Duration of the blocking call. */
  callSeconds: number;
  /** The report of the research run. */
  report: string;
}

/** Longer than `start_deep_research` waits, so that the client must check the status several times. */
const RESEARCH_MS = 45_000;
/** Google has accepted the start, and the client does not know its task_id yet. */
const KILL_AFTER_MS = 2_000;
const ROUNDS = 2;

function simulated({ scenario, callSeconds, report }: Trial): ScenarioInput {
  if (scenario === "interactive") return { name: "lab" };
  if (scenario === "conversation") {
    const report = { report: DEMO_REPORT, sources: DEMO_SOURCES, parts: 1 };
    return { name: "lab", interactions: { duration_ms: RESEARCH_MS, english: true, usage_after_ms: 0, ...report } };
  }
  if (scenario !== "blocking") return { name: "lab", interactions: { duration_ms: RESEARCH_MS, report } };
  const latency_ms = Math.round((callSeconds * 1_000) / ROUNDS);
  return { name: "lab", tasks: { deep_search: [{ latency_ms }], verify: [{ answer: "verified", latency_ms }] } };
}

/** The first client dies during its start; the second one is judged. */
async function playClientKilled(client: Client, world: World): Promise<Session> {
  const first = await startSession(client, world, RESEARCH);
  const accepted = (): boolean => world.gemini.ledger.acceptedStarts().length > 0;
  const over = new AbortController();
  void first.ended.then(() => over.abort());
  while (!accepted() && !over.signal.aborted) await sleep(100);
  await sleep(KILL_AFTER_MS);
  first.kill();
  await first.ended;
  await first.model.close();
  await world.sweep();
  return startSession(client, world, COME_BACK);
}

async function play({ client, scenario }: Trial, world: World): Promise<Session> {
  if (scenario === "client-killed") return playClientKilled(client, world);
  if (scenario === "interactive") return startTerminalSession(client, world, QUICK);
  if (scenario === "conversation") return startSession(client, world, CONVERSATION);
  return startSession(client, world, scenario === "blocking" ? BLOCKING : RESEARCH);
}

export async function runTrial(trial: Trial): Promise<Verdict> {
  const settings: Record<string, string> = trial.scenario === "unknown-client" ? { LAB_ANONYMOUS: "1" } : {};
  const world = await openWorld(trial.client, trial.transport, { scenario: simulated(trial), settings });
  try {
    const session = await play(trial, world);
    const end = await session.ended;
    session.kill();
    const left = await world.sweep();
    await session.model.close();
    return judge({ trial, world, session, end, left });
  } finally {
    await world.close();
  }
}
