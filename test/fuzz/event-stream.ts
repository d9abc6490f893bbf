/** Fuzz target: reading Google's event stream never throws and reports nothing that was not sent (P4, J2, J3). */

import type { AgentEvent } from "../../src/gemini/research-agent.ts";
import { createInteractionsAgent } from "../../src/gemini/interactions/agent.ts";
import { createRandom } from "../corpus/random.ts";
import { closedDeps } from "./closed-deps.ts";
import { type FuzzTarget, must, mustBeUnpolluted } from "./target.ts";

const KINDS = ["status", "error", "thought", "search", "page", "text", "done"];

const event = (id: number, data: object): string => `event: message\nid: e${id}\ndata: ${JSON.stringify(data)}\n\n`;

export const eventStream: FuzzTarget = {
  name: "event stream",
  seeds: [
    [
      event(1, {
        event_type: "interaction.created",
        event_id: "e1",
        interaction: { id: "v1_a", status: "in_progress" },
      }),
      event(2, {
        event_type: "step.delta",
        event_id: "e2",
        delta: { type: "thought_summary", content: { text: "Hm" } },
      }),
      event(3, {
        event_type: "step.start",
        event_id: "e3",
        step: { type: "google_search_call", arguments: { queries: ["q", 1] } },
      }),
      event(4, {
        event_type: "step.delta",
        event_id: "e4",
        delta: { type: "url_context_result", result: [{ url: "https://a.example/", status: "success" }, 1] },
      }),
      event(5, { event_type: "step.delta", event_id: "e5", delta: { type: "text", text: "Report" } }),
      event(6, {
        event_type: "step.delta",
        event_id: "e6",
        delta: { type: "text_annotation_delta", annotations: [{ type: "url_citation", url: 1, title: null }] },
      }),
      event(7, { event_type: "interaction.completed", event_id: "e7" }),
    ].join(""),
    event(1, { event_type: "interaction.status_update", event_id: "e1", status: { toString: 1 } }),
    'data: [{"error":{"code":503,"message":"cut"}}]\r\n\r\n:comment\nretry: 1\ndata: a\ndata: b\n\ndata: [DONE]\n\n',
  ],
  words: [
    "\n\n",
    "\r\n",
    "\r",
    "data: ",
    "data:[DONE]\n\n",
    "event: error\n",
    ": ping\n\n",
    "id: \u0000\n",
    "retry: 9999999\n",
    'data: {"event_type":"step.delta","delta":{"type":"text","text":"x"}}\n\n',
    '"queries":[{"__proto__":1}]',
    '"status":null',
    "\uFEFF",
  ],
  open: () => {
    let body = "";
    const agent = createInteractionsAgent({
      apiKey: "fuzz-key-123456",
      vertex: false,
      baseUrl: "http://127.0.0.1:9",
      log: closedDeps.log,
      fetch: async () => new Response(pieces(body), { headers: { "content-type": "text/event-stream" } }),
    });
    return {
      check: async (input) => {
        body = input;
        const events: AgentEvent[] = [];
        const { signal } = new AbortController();
        await agent.stream({
          interactionId: "v1_a",
          lastEventId: undefined,
          signal,
          onEvent: (one) => events.push(one),
        });
        mustBeUnpolluted();
        for (const { kind, eventId } of events) {
          must(KINDS.includes(kind), "an event has a known kind.");
          must(eventId === undefined || typeof eventId === "string", "J2: an event's id is a text.");
        }
        return (
          events
            .slice(0, 5)
            .map(({ kind }) => kind)
            .join() || "nothing"
        );
      },
      close: () => {},
    };
  },
};

/** Splits the text at arbitrary bytes, also within a character. */
function pieces(text: string): ReadableStream<Uint8Array> {
  const bytes = Buffer.from(text);
  const random = createRandom(bytes.length);
  let at = 0;
  return new ReadableStream({
    pull: (controller) => {
      const end = at + random.between(1, Math.max(20, bytes.length / 3));
      if (at < bytes.length) controller.enqueue(bytes.subarray(at, end));
      else controller.close();
      at = end;
    },
  });
}
