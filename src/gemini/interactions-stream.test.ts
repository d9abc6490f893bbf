/** The progress stream of Google's agent: what it tells, where it goes on, and cuts that never throw. */

import { describe, expect, test } from "vitest";
import { never, openStage, type Stage, started } from "../../test/support/agent-stage.ts";
import type { LookFault } from "../../test/support/research.ts";
import type { AgentEvent } from "./agent.ts";

describe("the stream", () => {
  async function follow({ agent }: Stage, interactionId: string, lastEventId?: string): Promise<AgentEvent[]> {
    const events: AgentEvent[] = [];
    await agent.follow({ interactionId, lastEventId, signal: never, onEvent: (event) => events.push(event) });
    return events;
  }
  const idsOf = (events: AgentEvent[]): number[] => events.map(({ eventId }) => Number(eventId?.slice(3)));

  test("J2 J3 tells thoughts, searches, text and the end", async () => {
    const stage = await openStage({ speed: 10_000 });
    const events = await follow(stage, await started(stage));
    expect(new Set(events.map(({ kind }) => kind))).toEqual(new Set(["status", "thought", "search", "text", "done"]));
    expect(events.at(-1)?.kind).toBe("done");
  });

  test("J2 goes on after the last event that was seen", async () => {
    const stage = await openStage({ stream: [{ cut_ms: 50 }, {}] });
    const id = await started(stage);
    const first = await follow(stage, id);
    stage.gemini.skip(8 * 60_000);
    const rest = await follow(stage, id, first.at(-1)?.eventId);
    expect(first.at(-1)?.kind).not.toBe("done");
    expect(Math.min(...idsOf(rest))).toBeGreaterThan(Math.max(...idsOf(first)));
    expect(rest.at(-1)?.kind).toBe("done");
  });

  test.each(["end", "reset", "error-array", "error-event"] as const)(
    "P4 cut by `%s` ends without a throw",
    async (cut) => {
      const stage = await openStage({ stream_cut_ms: 50, stream_cut: cut });
      const events = await follow(stage, await started(stage));
      expect(events.length).toBeGreaterThan(0);
      expect(events.map(({ kind }) => kind)).not.toContain("done");
    },
  );

  test.each<LookFault>(["http-403", "http-404", "http-429", "http-503", "reset-before", "html-200", "malformed-json"])(
    "P4 with `%s` ends without a throw",
    async (fault) => {
      const stage = await openStage({ stream: [{ fault }] });
      await expect(follow(stage, await started(stage))).resolves.toBeInstanceOf(Array);
    },
  );

  test("A8 ends when we leave", async () => {
    const stage = await openStage();
    const controller = new AbortController();
    const interactionId = await started(stage);
    const onEvent = (): void => controller.abort();
    await stage.agent.follow({ interactionId, lastEventId: undefined, signal: controller.signal, onEvent });
  });
});
