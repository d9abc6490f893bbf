/** The adapter to Google's Interactions API: each start sends one request even after failures, and failures are classified. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  accepted,
  agentAt,
  KEY,
  never,
  openAgent,
  posts,
  start,
  started,
} from "../../../test/kit/simulator/agent-stage.ts";
import type { CreateFault, PollFault } from "../../../test/kit/server/research.ts";
import { DEFAULT_AGENT, type PollResult, type StartOutcome } from "../research-agent.ts";
import { createInteractionsAgent } from "./agent.ts";
import { UNRESOLVABLE_HOST } from "../../../test/kit/services/unresolvable-host.ts";
import { silentLog as log } from "../../../test/kit/log.ts";

describe("a start", () => {
  test("is one request with agent, labels and background, and returns Google's id (I8)", async () => {
    const stage = await openAgent();
    const interactionId = await started(stage);
    expect(stage.gemini.ledger.acceptedStarts()).toMatchObject([
      { id: interactionId, agent: DEFAULT_AGENT, labels: { run: "r-1", attempt: "a-1" }, answered: "delivered" },
    ]);
    expect(posts(stage)).toBe(1);
  });

  test.each<[CreateFault, StartOutcome["kind"], number, object]>([
    ["http-400", "refused", 0, { error: { code: "EXECUTION_ERROR" } }],
    ["http-401", "refused", 0, { error: { code: "GEMINI_UNAVAILABLE", message: "Google rejected the API key." } }],
    ["http-403", "refused", 0, { error: { code: "GEMINI_UNAVAILABLE" } }],
    ["http-404", "refused", 0, { error: { code: "EXECUTION_ERROR" } }],
    ["http-413", "refused", 0, { error: { code: "EXECUTION_ERROR" } }],
    ["http-429", "rate_limited", 0, { retryAfterMs: undefined }],
    ["http-429-retry-after", "rate_limited", 0, { retryAfterMs: 1_000 }],
    ["http-408", "unknown", 0, { why: "Google's service is overloaded or failing (HTTP 408)." }],
    ["http-409", "unknown", 0, { why: "Google answered with HTTP 409." }],
    ["http-500", "unknown", 0, {}],
    ["http-502", "unknown", 0, { why: "Google's service is overloaded or failing (HTTP 502)." }],
    ["http-503", "unknown", 0, { why: "Google's service is overloaded or failing (HTTP 503)." }],
    ["http-503-front-end", "refused", 0, { error: { code: "GEMINI_UNAVAILABLE" } }],
    ["http-402", "refused", 0, { error: { reason: "billing", retryable: false } }],
    ["prepaid-429", "refused", 0, { error: { reason: "billing", retryable: false } }],
    ["http-416", "unknown", 0, { why: "Google answered with HTTP 416." }],
    ["http-499", "unknown", 0, { why: "Google answered with HTTP 499." }],
    ["http-503-gateway", "unknown", 0, { why: "Google's service is overloaded or failing (HTTP 503)." }],
    ["http-421", "unknown", 0, { why: "Google answered with HTTP 421." }],
    ["http-201", "accepted", 1, {}],
    ["http-202", "accepted", 1, {}],
    ["http-504", "unknown", 0, {}],
    ["reset-before", "unknown", 0, { why: "The connection broke after the request was sent." }],
    ["html-200", "unknown", 0, {}],
    ["empty-200", "unknown", 0, {}],
    ["wrong-json", "unknown", 0, { why: "Google's answer could not be read." }],
    ["accept-then-reset", "unknown", 1, {}],
    ["accept-then-500", "unknown", 1, {}],
    ["accept-then-malformed", "unknown", 1, {}],
    ["accept-then-html", "unknown", 1, {}],
    ["invalid-json", "unknown", 1, {}],
    ["reset-mid-body", "accepted", 1, {}],
    ["malformed-json", "accepted", 1, {}],
    ["short-body", "accepted", 1, {}],
    ["short-gzip", "accepted", 1, {}],
    ["slow-drip", "accepted", 1, {}],
  ])(
    "with `%s` is %s after exactly one request, of which Google accepted %i (I8)",
    async (fault, kind, taken, facts) => {
      const stage = await openAgent({ create: [{ fault }] });
      expect(await start(stage.agent)).toMatchObject({ kind, ...facts });
      expect([posts(stage), accepted(stage)]).toEqual([1, taken]);
      expect(stage.logged.join("\n")).not.toContain(KEY);
    },
  );

  test("that must wait fractions of a second waits whole milliseconds (P4)", async () => {
    const stage = await openAgent({
      error_form: "google",
      create: [{ fault: "http-429", retry_after: "34.074824224" }],
    });
    expect(await start(stage.agent)).toMatchObject({ kind: "rate_limited", retryAfterMs: 34_075 });
  });

  test("that hangs after it was accepted is unknown when it times out, and is not sent again (I8)", async () => {
    const stage = await openAgent({ create: [{ fault: "accept-then-hang" }] });
    const controller = new AbortController();
    const begun = start(stage.agent, controller.signal);
    await expect.poll(() => accepted(stage)).toBe(1);
    controller.abort();
    expect(await begun).toMatchObject({ kind: "unknown" });
    expect([posts(stage), accepted(stage)]).toEqual([1, 1]);
  });

  test("to a closed port or an unknown host was never sent (I8)", async () => {
    const { gemini } = await openAgent();
    await gemini.close();
    expect(await start(agentAt(gemini.url).agent)).toMatchObject({
      kind: "not_sent",
      error: {
        code: "GEMINI_UNAVAILABLE",
        message: `The connection to ${new URL(gemini.url).host} was refused.`,
      },
    });
    expect(await start(agentAt(`http://${UNRESOLVABLE_HOST}`).agent)).toMatchObject({
      kind: "not_sent",
      error: { message: "Can't reach Google. Are you online?" },
    });
  });

  test("to a server without TLS was never sent (I8)", async () => {
    const { gemini } = await openAgent();
    // A plain HTTP server breaks the TLS handshake, so the request itself is never written.
    expect(await start(agentAt(gemini.url.replace("http:", "https:")).agent)).toMatchObject({ kind: "not_sent" });
    expect(gemini.ledger.count()).toBe(0);
  });

  test("that is redirected does not follow, and its outcome is unknown (I8)", async () => {
    const stage = await openAgent();
    let seen = 0;
    const gateway = createServer((request, response) => {
      seen += 1;
      request.resume().once("end", () => response.writeHead(307, { location: stage.gemini.url + request.url }).end());
    });
    await new Promise<void>((resolve) => gateway.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void gateway.close());
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a listening TCP server has no other kind of address
    const { agent } = agentAt(`http://127.0.0.1:${(gateway.address() as AddressInfo).port}`);
    expect(await start(agent)).toEqual({ kind: "unknown", why: "Google answered with HTTP 307." });
    expect([seen, posts(stage)]).toEqual([1, 0]);
  });

  test("without a key is refused, and nothing is ever sent (I6)", async () => {
    const { gemini } = await openAgent();
    const { agent } = agentAt(gemini.url, { apiKey: undefined });
    expect(await start(agent)).toMatchObject({
      kind: "refused",
      error: { code: "GEMINI_UNAVAILABLE", reason: "auth" },
    });
    expect(await agent.poll("v1_abc", never)).toEqual({ kind: "forbidden" });
    expect(await agent.cancel("v1_abc", never)).toEqual({ kind: "forbidden" });
    await agent.stream({ interactionId: "v1_abc", lastEventId: undefined, signal: never, onEvent: () => {} });
    expect(gemini.ledger.interactionRequests()).toEqual({});
    expect(agent.fingerprint.key).toBeUndefined();
  });

  test("with settings that Google's SDK rejects was never sent (I6)", async () => {
    const agent = createInteractionsAgent({ apiKey: undefined, vertex: true, baseUrl: undefined, log });
    expect(await start(agent)).toMatchObject({
      kind: "refused",
      error: { code: "GEMINI_UNAVAILABLE", reason: "config" },
    });
    expect(await agent.poll("v1_abc", never)).toMatchObject({ kind: "unreachable" });
  });

  test.each([
    ["7", 7_000],
    ["99999", 15 * 60_000],
    ["-1", 0],
    ["soon", undefined],
    [new Date(Date.now() + 600_000).toUTCString(), expect.closeTo(600_000, -5)],
    ["Wed, 21 Oct 2015 07:28:00 GMT", 0],
  ])("answered with Retry-After %s waits %s ms (I8)", async (retry_after, retryAfterMs) => {
    const { agent } = await openAgent({ create: [{ fault: "http-429", retry_after }] });
    expect(await start(agent)).toMatchObject({ kind: "rate_limited", retryAfterMs });
  });
});

describe("a poll or a cancel", () => {
  test.each<[PollFault, PollResult["kind"]]>([
    ["http-401", "forbidden"],
    ["http-403", "forbidden"],
    ["http-404", "missing"],
    ["http-429", "rate_limited"],
    ["http-429-retry-after", "rate_limited"],
    ["http-400", "rejected"],
    ["http-408", "unreachable"],
    ["http-500", "unreachable"],
    ["http-502", "unreachable"],
    ["http-503", "unreachable"],
    ["reset-before", "unreachable"],
    ["reset-mid-body", "unreachable"],
    ["short-body", "unreachable"],
    ["short-gzip", "unreachable"],
    ["html-200", "unreachable"],
    ["empty-200", "unreachable"],
    ["malformed-json", "unreachable"],
    ["wrong-json", "unreachable"],
  ])("with `%s` is %s, once (P3, P4)", async (fault, kind) => {
    const stage = await openAgent({ get: [{ fault }, {}], cancel: [{ fault }, {}] });
    const id = await started(stage);
    expect(await stage.agent.poll(id, never)).toMatchObject({ kind });
    expect(await stage.agent.cancel(id, never)).toMatchObject({ kind });
    const { polls, cancels } = stage.gemini.ledger.trafficOf(id);
    expect([polls.length, cancels.length]).toEqual([1, 1]);
    expect(await stage.agent.poll(id, never)).toMatchObject({ kind: "found", interaction: { id } });
  });

  test("that finds a finished interaction returns its report, sources, citations, usage and steps (K1)", async () => {
    const stage = await openAgent({ duration_ms: 0, usage_after_ms: 0 });
    const result = await stage.agent.poll(await started(stage), never);
    expect(result).toMatchObject({
      kind: "found",
      interaction: { status: "completed", pictures: [] },
    });
    if (result.kind !== "found") throw new Error("The interaction was not found.");
    const { report, citations, sources, usage, searches, thoughts } = result.interaction;
    expect(citations.length).toBeGreaterThan(20);
    for (const { start, end } of citations) {
      expect(report.slice(start, end)).toMatch(/^\[cite: \d+(?:, \d+)*\]$/);
    }
    expect(Math.max(...citations.map(({ sourceIndex }) => sourceIndex))).toBe(sources.length - 1);
    expect(usage).toMatchObject({ searches: searches.length });
    expect(thoughts.length).toBeGreaterThan(5);
  });

  test("of an unreachable server, or one that is aborted, is unreachable (P4)", async () => {
    const stage = await openAgent({ get: [{ fault: "hang" }] });
    const id = await started(stage);
    const controller = new AbortController();
    const polling = stage.agent.poll(id, controller.signal);
    await expect.poll(() => stage.gemini.ledger.trafficOf(id).polls).toHaveLength(1);
    controller.abort();
    expect(await polling).toMatchObject({ kind: "unreachable" });
    expect(await stage.agent.poll(id, AbortSignal.abort())).toMatchObject({ kind: "unreachable" });
    await stage.gemini.close();
    expect(await stage.agent.poll(id, never)).toMatchObject({ kind: "unreachable" });
  });

  test("returns what Google answers; a cancel of a finished interaction is refused (L1)", async () => {
    const stage = await openAgent({ create: [{}, { life: { duration_ms: 0 } }] });
    expect(await stage.agent.cancel(await started(stage), never)).toMatchObject({
      kind: "found",
      interaction: { status: "cancelled" },
    });
    expect(await stage.agent.cancel(await started(stage), never)).toMatchObject({ kind: "rejected" });
  });
});
