/** A client of the simulated Deep Research through Google's SDK, for tests of the simulator itself. */

import { GoogleGenAI } from "@google/genai";
import { onTestFinished } from "vitest";
import type { ScenarioInput } from "../../../simulator/scenario.ts";
import { startSimulator, type Simulator } from "../../../simulator/server.ts";

/** The SDK would retry a start up to four times. */
const ONCE = { maxRetries: 0 };

const MINUTE_MS = 60_000;
export const WHOLE_MS = 8 * MINUTE_MS;

export const KEY = "secret-test-key";

/** Contains every kind of character for which byte and string offsets differ. */
export const START = {
  agent: "deep-research-preview-04-2026",
  input: "Is the café “old”? 日本 📈",
  background: true,
  agent_config: { type: "deep-research", thinking_summaries: "auto" },
  labels: { attempt: "a-1" },
} as const;

type Google = GoogleGenAI["interactions"];
export type Resource = Awaited<ReturnType<Google["cancel"]>>;
type Content = NonNullable<Extract<Resource["steps"][number], { type: "model_output" }>["content"]>[number];
type EventStream = Extract<Awaited<ReturnType<Google["create"]>>, AsyncIterable<unknown>>;
export type StreamEvent = EventStream extends AsyncIterable<infer Event> ? Event : never;

export interface Research {
  simulator: Simulator;
  start(changes?: object): Promise<Resource>;
  startStreaming(changes?: object): Promise<EventStream>;
  poll(id: string, params?: { include_input?: boolean }): Promise<Resource>;
  stream(id: string, lastEventId?: string): Promise<EventStream>;
  cancel(id: string): Promise<Resource>;
  remove(id: string): Promise<unknown>;
}

export function clientOf(simulator: Simulator, apiKey = KEY): Research {
  const google = new GoogleGenAI({ apiKey, apiVersion: "v1beta", httpOptions: { baseUrl: simulator.url } })
    .interactions;
  return {
    simulator,
    start: (changes) => google.create({ ...START, ...changes }, ONCE),
    startStreaming: (changes) => google.create({ ...START, ...changes, stream: true }, ONCE),
    poll: (id, params) => google.get(id, { ...params, stream: false }, ONCE),
    stream: (id, last_event_id) =>
      google.get(id, { stream: true, ...(last_event_id !== undefined && { last_event_id }) }, ONCE),
    cancel: (id) => google.cancel(id, {}, ONCE),
    remove: (id) => google.delete(id, {}, ONCE),
  };
}

export async function openResearch(interactions: ScenarioInput["interactions"] = {}): Promise<Research> {
  const simulator = await startSimulator({ scenario: { name: "test", interactions } });
  onTestFinished(() => simulator.close());
  return clientOf(simulator);
}

export async function all<Item>(stream: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

export const eventIds = (events: readonly StreamEvent[]): (string | undefined)[] =>
  events.map((event) => event.event_id);

/** The first text of the last step. */
export function textOf({ steps }: Resource): Extract<Content, { type: "text" }> {
  const last = steps.at(-1);
  const text = last?.type === "model_output" ? last.content?.[0] : undefined;
  if (text?.type !== "text") throw new Error("There is no text.");
  return text;
}
