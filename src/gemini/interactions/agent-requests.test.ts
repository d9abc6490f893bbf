/** What the adapter sends to Google for each kind of start, and how it classifies the answers to free requests. */

import { describe, expect, onTestFinished, test, vi } from "vitest";
import { agentAt, KEY, never, openAgent, started } from "../../../test/kit/simulator/agent-stage.ts";
import { createTestLog } from "../../../test/kit/log.ts";
import { createLog } from "../../platform/log.ts";
import { DEFAULT_AGENT, type StartRequest } from "../research-agent.ts";
import type { SendOnce } from "../paid-start/send-once.ts";
import { tableFormat } from "./request-body.ts";
import { createInteractionsAgent, LIMITS } from "./agent.ts";

const REQUEST: StartRequest = {
  query: "How deep is the lake?",
  agent: DEFAULT_AGENT,
  labels: { run: "r-1", attempt: "a-1" },
  checkBeforeSending: async () => undefined,
  signal: never,
};

const jsonHeaders = { "content-type": "application/json" };

describe("the body of a start", () => {
  async function bodyOf(variant: StartRequest["variant"]): Promise<unknown> {
    const bodies: string[] = [];
    const sendOnce: SendOnce = async ({ body }) => {
      bodies.push(body.toString());
      const text = JSON.stringify({ id: "v1_a", status: "in_progress" });
      return { status: 200, headers: new Headers(jsonHeaders), text };
    };
    const { agent } = agentAt("https://google.test", { sendOnce });
    expect(await agent.start({ ...REQUEST, variant })).toEqual({ kind: "accepted", interactionId: "v1_a" });
    expect(bodies).toHaveLength(1);
    return JSON.parse(bodies[0] ?? "");
  }

  const common = { background: true, store: true, labels: REQUEST.labels };
  const config = { type: "deep-research", thinking_summaries: "auto", visualization: "off" };
  const model = "a-model";
  const thinking = { generation_config: { thinking_summaries: "auto" } };
  const previous = { previous_interaction_id: "v1_before" };

  test.each<[string, StartRequest["variant"], object]>([
    ["a plain research", undefined, { input: REQUEST.query, agent: DEFAULT_AGENT, agent_config: config }],
    [
      "one with pictures, that asks for a plan first",
      { visualization: "auto", collaborativePlanning: true },
      {
        input: REQUEST.query,
        agent: DEFAULT_AGENT,
        agent_config: { ...config, visualization: "auto", collaborative_planning: true },
      },
    ],
    [
      "the approval of a plan",
      { input: "Start.", previousInteractionId: "v1_before", collaborativePlanning: false },
      {
        input: "Start.",
        agent: DEFAULT_AGENT,
        agent_config: { ...config, collaborative_planning: false },
        ...previous,
      },
    ],
    [
      "a follow-up by a model, which may search",
      { model, previousInteractionId: "v1_before" },
      {
        input: REQUEST.query,
        model,
        tools: [{ type: "google_search" }, { type: "url_context" }],
        ...thinking,
        ...previous,
      },
    ],
    [
      "a table, which is made of the report alone",
      { model, input: "The report.", columns: ["Depth"] },
      { input: "The report.", model, response_format: tableFormat(["Depth"]), ...thinking },
    ],
  ])("of %s is exactly what Google documents (I6, V1, V2, V5)", async (_start, variant, body) => {
    expect(await bodyOf(variant)).toEqual({ ...common, ...body });
  });
});

/** An agent whose network answers every request so, with the lines of its log. */
function answering(status: number, body: string, { headers = {}, limits = LIMITS } = {}) {
  const lines: string[] = [];
  const urls: string[] = [];
  const agent = createInteractionsAgent({
    apiKey: KEY,
    vertex: false,
    baseUrl: "https://google.test",
    log: createTestLog((line) => lines.push(line)),
    limits,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      urls.push(`${request.method} ${new URL(request.url).pathname}`);
      return new Response(body, { status, headers: { ...jsonHeaders, ...headers } });
    },
  });
  return { agent, lines, urls };
}

const errorBody = (code: number, message: string, details: object[] = []): string =>
  JSON.stringify({ error: { code, message, details } });

describe("a poll", () => {
  test.each([
    [410, "gone", { kind: "rejected" }],
    [422, "wrong", { kind: "rejected" }],
    [409, "conflict", { kind: "unreachable" }],
    [400, "API key not valid. Please pass a valid API key.", { kind: "forbidden" }],
  ])("answered with %i (%s) is %j (P3, P4)", async (status, message, result) => {
    const { agent, urls } = answering(status, errorBody(status, message));
    expect(await agent.poll("v1_a", never)).toMatchObject(result);
    expect(urls).toEqual([expect.stringMatching(/^GET .*\/v1_a$/)]);
  });

  test.each([
    ["the header", "", { "retry-after": "4" }, 4_000],
    ["Google's RetryInfo", errorBody(429, "busy", [{ retryDelay: "2.5s" }]), {}, 2_500],
    ["nothing", errorBody(429, "busy"), {}, undefined],
  ])("answered with 429 waits as %s says (P4)", async (_where, body, headers, retryAfterMs) => {
    const result = await answering(429, body, { headers }).agent.poll("v1_a", never);
    expect(result).toEqual({ kind: "rate_limited", retryAfterMs });
  });

  test("whose answer exceeds the limit is too long, not unreachable (S3)", async () => {
    const body = JSON.stringify({ id: "v1_a", status: "completed", filler: "x".repeat(2_000) });
    const { agent } = answering(200, body, { limits: { ...LIMITS, responseBytes: 1_000 } });
    expect(await agent.poll("v1_a", never)).toEqual({ kind: "too_long" });
    expect(await answering(200, body).agent.poll("v1_a", never)).toMatchObject({ kind: "found" });
  });

  test("answered with another interaction is not this one (P3)", async () => {
    const { agent } = answering(200, JSON.stringify({ id: "v1_other", status: "completed" }));
    expect(await agent.poll("v1_a", never)).toMatchObject({
      kind: "unreachable",
      error: { message: "Something other than Google answered." },
    });
  });
});

describe("a deletion at Google", () => {
  test("is one request; what is gone counts as missing, and all else is refused with a reason (T-2)", async () => {
    const stage = await openAgent({ duration_ms: 0 });
    const id = await started(stage);
    expect(await stage.agent.delete(id, never)).toEqual({ kind: "deleted" });
    expect(await stage.agent.delete(id, never)).toEqual({ kind: "missing" });
    for (const [status, message] of [
      [403, "Google does not allow this key to use the model."],
      [500, "Google's service is overloaded or failing (HTTP 500)."],
    ] as const) {
      const { agent, urls } = answering(status, errorBody(status, "no"));
      expect(await agent.delete("v1_a", never)).toMatchObject({ kind: "refused", error: { message } });
      expect(urls).toEqual([expect.stringMatching(/^DELETE .*\/v1_a$/)]);
    }
  });

  test("without a key is refused, and nothing is sent (I6)", async () => {
    const { gemini } = await openAgent();
    const { agent } = agentAt(gemini.url, { apiKey: undefined });
    expect(await agent.delete("v1_a", never)).toMatchObject({
      kind: "refused",
      error: { message: "No Gemini API key is set.", suggestion: expect.stringContaining("paid plan") },
    });
    expect(gemini.ledger.count()).toBe(0);
  });
});

test("Google's own words about a failed start are logged with its run, and never shown (A2, T18)", async () => {
  const logged: { message: string; task_id?: string }[] = [];
  const write = (line: string): void => void logged.push(JSON.parse(line));
  const log = createLog({ from: "DEBUG", format: "json", redact: (text) => text, write });
  const sendOnce: SendOnce = async () => ({
    status: 404,
    headers: new Headers(jsonHeaders),
    text: errorBody(404, "upstream words"),
  });
  const agent = createInteractionsAgent({
    apiKey: KEY,
    vertex: false,
    baseUrl: "https://google.test",
    log,
    sendOnce,
  });
  const task_id = "1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b";
  for (const labels of [{ run: task_id }, {}]) {
    const outcome = await agent.start({ ...REQUEST, agent: "an-agent", labels });
    expect(outcome).toMatchObject({
      kind: "refused",
      error: { message: "Google does not recognise the model an-agent." },
    });
    expect(JSON.stringify(outcome)).not.toContain("upstream words");
  }
  expect(logged.map((line) => [line.message.includes("upstream words"), line.task_id])).toEqual([
    [true, task_id],
    [true, undefined],
  ]);
});

describe("a progress stream", () => {
  const stream = (agent: ReturnType<typeof answering>["agent"]) =>
    agent.stream({ interactionId: "v1_a", lastEventId: undefined, signal: never, onEvent: () => {} });
  const events = { headers: { "content-type": "text/event-stream" } };

  test("names in the log why it ended early, and nothing when it did not (J2)", async () => {
    const broken = answering(200, '{"error":{"code":503}}', events);
    await stream(broken.agent);
    expect(broken.lines).toEqual([
      expect.stringContaining("The progress stream ended: an error body arrived instead of an event."),
    ]);
    const whole = answering(200, "", events);
    await stream(whole.agent);
    expect(whole.lines).toEqual([]);
  });

  test("that stays open is ended after 20 minutes, or after a minute without data (S3)", async () => {
    const silent = (streamIdleMs: number) => {
      const lines: string[] = [];
      let isOpen = false;
      const agent = createInteractionsAgent({
        apiKey: KEY,
        vertex: false,
        baseUrl: "https://google.test",
        log: createTestLog((line) => lines.push(line)),
        limits: { ...LIMITS, streamIdleMs },
        fetch: async (_input, init) => {
          isOpen = true;
          const body = new ReadableStream({
            start: (controller) =>
              init?.signal?.addEventListener("abort", () => controller.error(new Error("It was aborted."))),
          });
          return new Response(body, events);
        },
      });
      return { agent, lines, isOpen: () => isOpen };
    };
    // Loads the SDK before the clock is faked.
    await answering(404, "{}").agent.poll("v1_a", never);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    for (const [idleMs, limitMs, why] of [
      [LIMITS.streamIdleMs, 60_000, "no data for a minute."],
      [30 * 60_000, 20 * 60_000, "It was aborted."],
    ] as const) {
      const { agent, lines, isOpen } = silent(idleMs);
      let isOver = false;
      const over = stream(agent).then(() => (isOver = true));
      while (!isOpen()) await new Promise(setImmediate);
      await vi.advanceTimersByTimeAsync(limitMs - 1);
      expect([limitMs, isOver]).toEqual([limitMs, false]);
      await vi.advanceTimersByTimeAsync(1);
      await over;
      expect(lines).toEqual([expect.stringContaining(`The progress stream ended: ${why}`)]);
    }
  });
});
