/** The adapter to Google's agent in front of the simulator, with its log and counts of sent and accepted starts. */

import { onTestFinished } from "vitest";
import { type Agent, DEFAULT_AGENT, type StartOutcome, type StartRequest } from "../../../src/gemini/research-agent.ts";
import { createInteractionsAgent } from "../../../src/gemini/interactions/agent.ts";
import type { SendOnce } from "../../../src/gemini/paid-start/send-once.ts";
import { startSimulator, type Simulator } from "../../../simulator/server.ts";
import type { Interactions } from "../server/research.ts";
import { createTestLog } from "../log.ts";

export const KEY = "adapter-test-key-777";
export const never = new AbortController().signal;

export interface Stage {
  gemini: Simulator;
  agent: Agent;
  logged: string[];
}

export function agentAt(
  baseUrl: string,
  options: { apiKey?: string | undefined; sendOnce?: SendOnce; environment?: Record<string, string> } = {},
): { agent: Agent; logged: string[] } {
  const logged: string[] = [];
  const log = createTestLog((line) => logged.push(line));
  return { agent: createInteractionsAgent({ apiKey: KEY, vertex: false, baseUrl, log, ...options }), logged };
}

export async function openAgent(interactions: Interactions = {}): Promise<Stage> {
  const gemini = await startSimulator({ scenario: { name: "adapter", interactions } });
  onTestFinished(() => gemini.close());
  return { gemini, ...agentAt(gemini.url) };
}

export const start = (
  agent: Agent,
  signal: AbortSignal = never,
  checkBeforeSending: StartRequest["checkBeforeSending"] = async () => undefined,
): Promise<StartOutcome> =>
  agent.start({
    query: "Is the café “old”? 日本",
    agent: DEFAULT_AGENT,
    labels: { run: "r-1", attempt: "a-1" },
    checkBeforeSending,
    signal,
  });

export async function started(stage: Stage): Promise<string> {
  const begun = await start(stage.agent);
  if (begun.kind !== "accepted") throw new Error(`The start was ${begun.kind}.`);
  return begun.interactionId;
}

export const posts = ({ gemini }: Stage): number =>
  gemini.ledger.entries().filter(({ method }) => method === "POST").length;
export const accepted = ({ gemini }: Stage): number => gemini.ledger.acceptedStarts().length;
