/** The progress stream of Google's agent: its events, resuming, and interruptions, which never throw. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { never, openAgent, type Stage, started } from "../../../test/kit/simulator/agent-stage.ts";
import type { PollFault } from "../../../test/kit/server/research.ts";
import type { AgentEvent } from "../research-agent.ts";
import { createInteractionsAgent, LIMITS } from "./agent.ts";
import { silentLog as log } from "../../../test/kit/log.ts";

describe("the stream", () => {
  async function streamEvents({ agent }: Stage, interactionId: string, lastEventId?: string): Promise<AgentEvent[]> {
    const events: AgentEvent[] = [];
    await agent.stream({ interactionId, lastEventId, signal: never, onEvent: (event) => events.push(event) });
    return events;
  }

  test("reports thoughts, searches, pages, text and the end (J2, J3)", async () => {
    const stage = await openAgent({ speed: 10_000 });
    const events = await streamEvents(stage, await started(stage));
    const kinds = new Set(events.map(({ kind }) => kind));
    expect(kinds).toEqual(new Set(["status", "thought", "search", "page", "text", "done"]));
    const pages = events.flatMap((event) => (event.kind === "page" ? [event] : []));
    expect(new Set(pages.map(({ use }) => use))).toEqual(new Set(["opened", "cited"]));
    expect(events.at(-1)?.kind).toBe("done");
  });

  test("resumes after the last received event (J2)", async () => {
    const stage = await openAgent({ event_ids: "all", stream: [{ cut_ms: 50, cut: "end" }, {}] });
    const id = await started(stage);
    const first = await streamEvents(stage, id);
    stage.gemini.skip(8 * 60_000);
    const rest = await streamEvents(stage, id, first.at(-1)?.eventId);
    expect(first.at(-1)?.kind).not.toBe("done");
    const seen = new Set(first.map(({ eventId }) => eventId));
    expect(rest.filter(({ eventId }) => seen.has(eventId))).toEqual([]);
    expect(rest.at(-1)?.kind).toBe("done");
  });

  test.each(["end", "reset", "unavailable", "error-array", "error-event"] as const)(
    "cut by `%s` ends without a throw (P4)",
    async (cut) => {
      const stage = await openAgent({ stream_cut_ms: 50, stream_cut: cut });
      const events = await streamEvents(stage, await started(stage));
      // A reset also discards what the client has not read yet.
      expect(events.length).toBeGreaterThan(cut === "reset" ? -1 : 0);
      expect(events.map(({ kind }) => kind)).not.toContain("done");
    },
  );

  test.each<PollFault>(["http-403", "http-404", "http-429", "http-503", "reset-before", "html-200", "malformed-json"])(
    "with `%s` ends without a throw (P4)",
    async (fault) => {
      const stage = await openAgent({ stream: [{ fault }] });
      expect(await streamEvents(stage, await started(stage))).toEqual([]);
    },
  );

  test("ends when the process shuts down (A8)", async () => {
    const stage = await openAgent();
    const controller = new AbortController();
    const interactionId = await started(stage);
    const received: AgentEvent[] = [];
    const onEvent = (event: AgentEvent): void => {
      received.push(event);
      controller.abort();
    };
    await stage.agent.stream({ interactionId, lastEventId: undefined, signal: controller.signal, onEvent });
    expect(received).toHaveLength(1);
  });

  /** A server that sends these bytes to every client and leaves the stream open. */
  async function openStream(...chunks: string[]): Promise<AgentEvent[]> {
    const server = createServer((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const chunk of chunks) response.write(chunk);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const limits = { ...LIMITS, streamIdleMs: 300 };
    const agent = createInteractionsAgent({
      apiKey: "k",
      vertex: false,
      baseUrl: `http://127.0.0.1:${port}`,
      log,
      limits,
    });
    const events: AgentEvent[] = [];
    await agent.stream({
      interactionId: "v1_a",
      lastEventId: undefined,
      signal: never,
      onEvent: (event) => events.push(event),
    });
    return events;
  }

  const frame = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;
  const thought = (type: string, text: string): string =>
    frame({ event_type: "step.delta", index: 0, delta: { type, content: { type: "text", text } } });

  test("that is silent is ended by us (S3)", { timeout: 20_000 }, async () => {
    const events = await openStream(thought("thought_summary", "One"), thought("thought_summary", "Two"));
    expect(events.map(({ kind }) => kind)).toEqual(["thought", "thought"]);
  });

  test.each([
    '{\n  "error": {\n    "code": 503,',
    '[{"error":{"code":504}}]',
    '{"error":{"message":"","code":"unavailable"}}\n\n',
  ])(
    "that carries the bare error body %j is ended, after its earlier events (S3)",
    { timeout: 20_000 },
    async (body) => {
      for (const chunks of [[thought("thought", "One") + body], [thought("thought", "One"), body]]) {
        const events = await openStream(...chunks);
        expect(events).toEqual([
          expect.objectContaining({ kind: "thought", text: "One" }),
          { kind: "error", eventId: undefined },
        ]);
      }
    },
  );

  test("accepts thoughts as named by the SDK and by Google's documentation (S3)", async () => {
    const plain = frame({ event_type: "step.delta", delta: { type: "thought", text: "Three" } });
    const events = await openStream(thought("thought", "One"), thought("thought_summary", "Two"), plain);
    expect(events.map((event) => (event.kind === "thought" ? event.text : ""))).toEqual(["One", "Two", "Three"]);
  });

  test("reports by an error event that it cannot be resumed (S3)", async () => {
    const events = await openStream(frame({ event_type: "error", error: { code: "deadline_exceeded", message: "" } }));
    expect(events).toEqual([{ kind: "error", eventId: undefined }]);
  });
});
