/** Failures that the simulator cannot cause: a fake network below the SDK produces them, and one request is sent. */

import { describe, expect, onTestFinished, test, vi } from "vitest";
import { agentAt, never, start } from "../../../test/kit/simulator/agent-stage.ts";
import { AppError } from "../../errors.ts";
import { DEFAULT_AGENT } from "../research-agent.ts";
import { createInteractionsAgent } from "./agent.ts";
import { NotSent, type SendOnce, Withheld } from "../paid-start/send-once.ts";
import { waitFor } from "../../../test/kit/wait-for.ts";
import { silentLog as log } from "../../../test/kit/log.ts";

/** Replaces the network and records what was sent. */
function networkThat(answer: (signal: AbortSignal | null | undefined) => Promise<Response>) {
  const sent: { url: string; method: string; redirect: string; body: string }[] = [];
  const paid: SendOnce = async ({ url, method, body, signal, checkBeforeSending }) => {
    const refusal = await checkBeforeSending();
    if (refusal !== undefined) throw new Withheld(refusal);
    sent.push({ url: url.href, method, redirect: "manual", body: body.toString() });
    const response = await answer(signal);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  vi.stubGlobal("fetch", async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init);
    const { url, method, redirect } = request;
    sent.push({ url, method, redirect, body: await request.clone().text() });
    return answer(init?.signal ?? request.signal);
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  return { ...agentAt("https://google.test", { sendOnce: paid }), sent };
}

const failing = (cause: unknown) =>
  networkThat(async () => {
    throw new TypeError("fetch failed", { cause });
  });
const answering = (
  status: number,
  { body = "{}", headers = {} }: { body?: string; headers?: Record<string, string> } = {},
) =>
  networkThat(async () => new Response(body, { status, headers: { "content-type": "application/json", ...headers } }));

/** The connection of a paid request fails, before or after the request was written. */
const unsent = (cause: unknown) =>
  networkThat(async () => {
    throw new NotSent(cause, "google.test");
  });

const UNAVAILABLE = JSON.stringify({
  error: { code: 503, message: "The service is currently unavailable.", status: "UNAVAILABLE" },
});

describe("a start", () => {
  test.each([
    ["ENOTFOUND", "Can't reach Google. Are you online?"],
    ["EAI_AGAIN", "Can't reach Google. Are you online?"],
    ["ECONNREFUSED", "The connection to google.test was refused."],
    ["ETIMEDOUT", "The connection to google.test timed out."],
    ["CERT_HAS_EXPIRED", "its certificate or protocol was not accepted (TLS)."],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "its certificate or protocol was not accepted (TLS)."],
    ["SELF_SIGNED_CERT_IN_CHAIN", "its certificate or protocol was not accepted (TLS)."],
    ["EPIPE", "The connection to google.test failed."],
  ])("whose connection fails with %s was not sent, and names the reason and the host (I6)", async (code, message) => {
    const { agent, sent } = unsent({ code });
    expect(await start(agent)).toMatchObject({
      kind: "not_sent",
      error: { code: "GEMINI_UNAVAILABLE", message: expect.stringContaining(message) },
    });
    expect(sent).toHaveLength(1);
  });

  test.each(["ECONNRESET", "EPIPE", "ETIMEDOUT", "ECONNREFUSED", "ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC"])(
    "that fails with %s after it was written may have been accepted (I8)",
    async (code) => {
      const { agent, sent } = failing({ code });
      expect(await start(agent)).toEqual({
        kind: "unknown",
        why: "The connection broke after the request was sent.",
      });
      expect(sent).toHaveLength(1);
    },
  );

  test.each([
    [204, "unknown"],
    [300, "unknown"],
    [400, "refused"],
    [402, "refused"],
    [422, "refused"],
    [413, "refused"],
    [421, "unknown"],
    [499, "unknown"],
    [503, "unknown"],
  ] as const)("that is answered with %i is %s (I8)", async (status, kind) => {
    const { agent, sent } = networkThat(async () => new Response(status === 204 ? null : "{}", { status }));
    expect(await start(agent)).toMatchObject({ kind });
    expect(sent).toHaveLength(1);
  });

  test("requests a stored background run, and follows no redirect (I6, I8)", async () => {
    const { agent, sent } = answering(200, { body: JSON.stringify({ id: "v1_a", status: "in_progress" }) });
    expect(await start(agent)).toEqual({ kind: "accepted", interactionId: "v1_a" });
    expect(sent).toMatchObject([{ method: "POST", redirect: "manual" }]);
    expect(JSON.parse(sent[0]?.body ?? "")).toMatchObject({
      agent: DEFAULT_AGENT,
      input: "Is the café “old”? 日本",
      background: true,
      store: true,
      agent_config: { type: "deep-research", thinking_summaries: "auto", visualization: "off" },
      labels: { run: "r-1", attempt: "a-1" },
    });
  });

  test.each([
    [200, "{}", "Google's answer could not be read."],
    [200, "<html>", "Google's answer could not be read."],
    [299, "<html>", "Google's answer could not be read."],
    [300, "{}", "Google answered with HTTP 300."],
    [503, "{}", "Google's service is overloaded or failing (HTTP 503)."],
    [503, '{"error":{"code":503,"status":"INTERNAL"}}', "Google's service is overloaded or failing (HTTP 503)."],
    [503, "<html>UNAVAILABLE</html>", "Google's service is overloaded or failing (HTTP 503)."],
    [502, UNAVAILABLE, "Google's service is overloaded or failing (HTTP 502)."],
    [500, UNAVAILABLE, "Google's service is overloaded or failing (HTTP 500)."],
  ])("that is answered with %i and %s names why its outcome is unknown (I10)", async (status, body, why) => {
    expect(await start(answering(status, { body }).agent)).toEqual({ kind: "unknown", why });
  });

  test.each([UNAVAILABLE, `[${UNAVAILABLE}]`])(
    "that Google itself answers with 503 UNAVAILABLE was refused and not charged (I6)",
    async (body) => {
      const { agent, sent } = answering(503, { body });
      expect(await start(agent)).toMatchObject({
        kind: "refused",
        error: {
          code: "GEMINI_UNAVAILABLE",
          message: "Google's service is overloaded or failing (HTTP 503).",
        },
      });
      expect(sent).toHaveLength(1);
    },
  );

  test.each([200, 201, 202, 203, 299])("answered with %i and an interaction id is accepted (I8)", async (status) => {
    const { agent, sent } = answering(status, { body: JSON.stringify({ id: "v1_a", status: "in_progress" }) });
    expect(await start(agent)).toEqual({ kind: "accepted", interactionId: "v1_a" });
    expect(sent).toHaveLength(1);
  });

  test("that the last check withholds is not sent (I8)", async () => {
    const { agent, sent } = answering(200);
    const error = new AppError({ code: "CANCELLED", message: "It was cancelled." });
    expect(await start(agent, never, async () => error)).toEqual({ kind: "withheld", error });
    expect(sent).toEqual([]);
  });

  test("without a key, or with settings that the SDK rejects, says what to do and is not sent (I6)", async () => {
    const { sent } = answering(200);
    const { agent, logged } = agentAt("https://google.test", { apiKey: undefined });
    expect(await start(agent)).toMatchObject({
      kind: "refused",
      error: { message: "No Gemini API key is set.", suggestion: expect.stringContaining("from a paid plan") },
    });
    expect(await agent.poll("v1_a", never)).toEqual({ kind: "forbidden" });
    await agent.stream({ interactionId: "v1_a", lastEventId: undefined, signal: never, onEvent: () => {} });
    expect([sent, logged]).toEqual([[], []]);
    const vertex = createInteractionsAgent({ apiKey: undefined, vertex: true, baseUrl: undefined, log });
    expect(vertex.fingerprint).toEqual({ key: undefined, baseUrl: "" });
    expect(await start(vertex)).toMatchObject({
      kind: "refused",
      error: {
        code: "GEMINI_UNAVAILABLE",
        message: "Google's client cannot be set up with these settings.",
        suggestion:
          "For Vertex AI, set GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION; otherwise unset GOOGLE_GENAI_USE_VERTEXAI.",
        reason: "config",
      },
    });
  });
});

describe("a poll", () => {
  test("that finds the interaction returns it (J1)", async () => {
    const { agent } = answering(200, { body: JSON.stringify({ id: "v1_a", status: "in_progress" }) });
    expect(await agent.poll("v1_a", never)).toMatchObject({
      kind: "found",
      interaction: { id: "v1_a", status: "working" },
    });
  });

  test.each([
    [404, { kind: "missing" }],
    [401, { kind: "forbidden" }],
    [403, { kind: "forbidden" }],
    [429, { kind: "rate_limited", retryAfterMs: 4_000 }],
    [500, { kind: "unreachable", error: { reason: "overloaded" } }],
    [400, { kind: "rejected" }],
  ])("that is answered with %i is one request and %j (P3, P4)", async (status, result) => {
    const { agent, sent } = answering(status, { headers: { "retry-after": "4" } });
    expect(await agent.poll("v1_a", never)).toMatchObject(result);
    expect(sent).toMatchObject([{ method: "GET", url: expect.stringContaining("v1_a") }]);
    expect(await agent.cancel("v1_a", never)).toMatchObject(result);
    expect(sent).toMatchObject([{}, { method: "POST", url: expect.stringContaining("v1_a") }]);
  });

  test("without an interaction in the answer, or without a network, is unreachable (P4)", async () => {
    expect(await answering(200, { body: "[]" }).agent.poll("v1_a", never)).toMatchObject({
      kind: "unreachable",
      error: { message: "Something other than Google answered." },
    });
    expect(await failing({ code: "ENOTFOUND" }).agent.poll("v1_a", never)).toMatchObject({
      kind: "unreachable",
      error: { message: "Can't reach Google. Are you online?" },
    });
  });
});

describe("a request that is never answered", () => {
  const silent = () =>
    networkThat(
      (signal) =>
        new Promise((_resolve, reject) => {
          const stop = (): void => reject(new DOMException("This operation was aborted", "AbortError"));
          if (signal?.aborted === true) stop();
          signal?.addEventListener("abort", stop);
        }),
    );

  test("ends at once when the process shuts down (P4)", async () => {
    const { agent, sent } = silent();
    const controller = new AbortController();
    const polling = agent.poll("v1_a", controller.signal);
    await waitFor(() => expect(sent).toHaveLength(1));
    controller.abort();
    expect(await polling).toMatchObject({ kind: "unreachable" });
  });

  test.each([
    ["start", 120_000],
    ["poll", 45_000],
    ["cancel", 10_000],
  ] as const)("as a %s ends after %i ms, not before, and is not sent again (I8, P4)", async (what, limit) => {
    const { agent, sent } = silent();
    // Loads the SDK before the clock is faked.
    await agent.poll("v1_a", AbortSignal.abort());
    sent.length = 0;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    let ended: unknown;
    const request = what === "start" ? start(agent) : agent[what]("v1_a", never);
    const watched = request.then((outcome) => (ended = outcome));
    while (sent.length === 0) await new Promise(setImmediate);
    await vi.advanceTimersByTimeAsync(limit - 1);
    expect(ended).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    await watched;
    expect(ended).toMatchObject({ kind: what === "start" ? "unknown" : "unreachable" });
    expect(sent).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});

test("a stream that breaks is logged, and has no other effect (J2)", async () => {
  const { agent, logged } = failing({ code: "ECONNRESET" });
  await agent.stream({ interactionId: "v1_a", lastEventId: undefined, signal: never, onEvent: () => {} });
  expect(logged).toEqual([expect.stringContaining("The progress stream ended: ")]);
});

test("a key is recognised by its fingerprint, which does not reveal it (Q1)", () => {
  const of = (apiKey: string | undefined) => agentAt("https://google.test", { apiKey }).agent.fingerprint;
  expect(of("one")).toEqual({ key: "7692c3ad3540bb80", baseUrl: "https://google.test" });
  expect(of("two").key).not.toBe(of("one").key);
  expect(of(undefined).key).toBeUndefined();
});
