/** Deep Research through the real Google SDK: polls and streams during a run. */

import { describe, expect, test } from "vitest";
import { PRESET_NAMES } from "../presets.ts";
import {
  all,
  eventIds,
  openResearch,
  START,
  textOf,
  WHOLE_MS,
  type Resource,
  type StreamEvent,
} from "../../test/kit/simulator/interactions-client.ts";

const typesOf = ({ steps }: Resource): Set<string> => new Set(steps.map((step) => step.type));

const queriesIn = ({ steps }: Resource): string[] =>
  steps.flatMap((step) => (step.type === "google_search_call" ? (step.arguments.queries ?? []) : []));

describe("a poll", () => {
  test("returns a run that has just begun, then its thoughts and searches, then its report and usage", async () => {
    const { simulator, start, poll } = await openResearch({ poll_shows: "all" });
    const { id, status, agent, created } = await start();
    expect(id).toMatch(/^v1_[\w-]{40}$/);
    expect({ status, agent }).toEqual({ status: "in_progress", agent: START.agent });

    simulator.skip(WHOLE_MS / 4);
    const early = await poll(id);
    simulator.skip(WHOLE_MS / 2);
    const late = await poll(id);
    expect([early.status, late.status]).toEqual(["in_progress", "in_progress"]);
    expect(late.steps.slice(0, early.steps.length)).toEqual(early.steps);
    expect(queriesIn(late).length).toBeGreaterThan(queriesIn(early).length);
    expect(early.output_text ?? late.output_text ?? late.usage).toBeUndefined();

    simulator.skip(WHOLE_MS / 4);
    const done = await poll(id);
    expect(done).toMatchObject({ id, object: "interaction", status: "completed", labels: START.labels });
    expect(typesOf(done)).toContain("url_context_result");
    expect(done.output_text?.endsWith(textOf(done).text)).toBe(true);
    // Google does not update it, so it does not show progress.
    expect(done.updated).toBe(created);
    expect(done.steps[0]).toEqual({
      type: "user_input",
      content: [{ type: "text", text: START.input }],
    });
  });

  test("returns only the head of an unfinished run, or the question with it (S7)", async () => {
    const { simulator, start, poll } = await openResearch({ create: [{}, { life: { poll_shows: "input" } }] });
    const [{ id }, { id: other }] = [await start(), await start()];
    simulator.skip(WHOLE_MS / 2);
    const { sdkHttpResponse: _, ...head } = await poll(id);
    expect(Object.keys(head).toSorted()).toEqual(
      ["agent", "created", "id", "labels", "object", "status", "steps", "updated"].toSorted(),
    );
    expect(head.steps).toEqual([]);
    expect((await poll(other)).steps.map(({ type }) => type)).toEqual(["user_input"]);
  });

  test("returns a report in two outputs with a thought between them (S7)", async () => {
    const { start, poll } = await openResearch({ duration_ms: 0 });
    const done = await poll((await start()).id);
    expect(done.steps.slice(-3).map(({ type }) => type)).toEqual(["model_output", "thought", "model_output"]);
    expect(done.output_text?.startsWith("# ")).toBe(true);
    expect(textOf(done).text.startsWith("\n\n## ")).toBe(true);
  });

  test("returns a usage that adds up and counts the searches", async () => {
    const { start, poll } = await openResearch({ duration_ms: 0, usage_after_ms: 0 });
    const done = await poll((await start()).id);
    const usage = done.usage ?? {};
    const parts = [usage.total_input_tokens, usage.total_output_tokens, usage.total_thought_tokens];
    const sum = [...parts, usage.total_tool_use_tokens].reduce<number>((total, one) => total + (one ?? 0), 0);
    expect(usage.total_tokens).toBe(sum);
    expect(usage.total_cached_tokens).toBe(0);
    const searches = queriesIn(done).length;
    expect(usage.grounding_tool_count).toEqual([{ type: "google_search", count: searches }]);
    expect(searches).toBeGreaterThanOrEqual(12);
    expect(searches).toBeLessThanOrEqual(80);
  });

  test("returns the usage of Max as large as it was recorded, some of it cached", async () => {
    const { start, poll } = await openResearch({ duration_ms: 0, usage_after_ms: 0 });
    const agent = "deep-research-max-preview-04-2026";
    const shares = [];
    for (let n = 0; n < 20; n += 1) {
      const { usage = {} } = await poll((await start({ agent, input: `Question ${n}` })).id);
      const { total_input_tokens: input = 0, total_cached_tokens: cached = 0 } = usage;
      expect(input).toBeGreaterThanOrEqual(505_000);
      expect(input).toBeLessThan(3_100_000);
      shares.push(cached / input);
    }
    expect(Math.min(...shares)).toBe(0);
    expect(Math.max(...shares)).toBeCloseTo(0.24, 2);
  });

  test("returns citations whose bytes cover their mark and whose address is in the source list", async () => {
    const { start, poll } = await openResearch({ duration_ms: 0, parts: 1 });
    const { text, annotations = [] } = textOf(await poll((await start()).id));
    const bytes = Buffer.from(text);
    const sources = new Map([...text.matchAll(/^(\d+)\. \[[\w.-]+\]\((https:\S+)\)$/gm)].map(([, n, url]) => [url, n]));
    expect(text.endsWith(`${[...sources.keys()].at(-1)})`)).toBe(true);
    const marks: string[] = [];
    for (const one of annotations) {
      if (one.type !== "url_citation") throw new Error("Only pages are cited.");
      const mark = bytes.subarray(one.start_index, one.end_index).toString();
      expect(mark).toMatch(/^\[cite: \d+(?:, \d+)*\]$/);
      expect(mark.match(/\d+/g)).toContain(sources.get(one.url ?? ""));
      expect(one).toMatchObject({ title: null });
      marks.push(mark);
    }
    // A mark may have several sources; string indices would differ from byte offsets.
    expect(new Set(annotations.map((one) => sources.get("url" in one ? one.url : "")))).toEqual(
      new Set(sources.values()),
    );
    expect(marks.some((mark) => mark.includes(","))).toBe(true);
    expect(bytes.length).toBeGreaterThan(text.length);
  });

  test("returns the same report for the same question, another one for another", async () => {
    const { start, poll } = await openResearch({ duration_ms: 0 });
    const reports = [START.input, START.input, "Tea"].map(async (input) =>
      textOf(await poll((await start({ input })).id)),
    );
    const [first, second, third] = await Promise.all(reports);
    expect(second).toEqual(first);
    expect(third?.text).not.toBe(first?.text);
  });

  test("returns only the report if thoughts were not requested", async () => {
    const { start, poll } = await openResearch({ duration_ms: 0 });
    const { id } = await start({ agent_config: { type: "deep-research" } });
    expect([...typesOf(await poll(id))]).toEqual(["user_input", "model_output"]);
  });

  test("returns a run that goes faster than time", async () => {
    const { start, poll } = await openResearch({ speed: 1000 });
    const began = performance.now();
    const { id } = await start();
    expect((await poll(id)).status).toBe("in_progress");
    await expect.poll(async () => (await poll(id)).status, { interval: 10, timeout: 5000 }).toBe("completed");
    expect(performance.now() - began).toBeGreaterThan(WHOLE_MS / 1000);
  });
});

describe("a stream", () => {
  const textIn = (events: readonly StreamEvent[]): string =>
    events.map((one) => (one.event_type === "step.delta" && one.delta.type === "text" ? one.delta.text : "")).join("");

  test("starts with the id, contains the whole report with its citations, and ends without steps or usage", async () => {
    const { poll, startStreaming } = await openResearch({ duration_ms: 0, usage_after_ms: 0 });
    const events = await all(await startStreaming());
    const [created] = events;
    if (created?.event_type !== "interaction.created") throw new Error("The first event must contain the id.");
    const done = await poll(created.interaction.id);
    expect(textIn(events)).toBe(done.output_text);
    const citations = events.flatMap((one) =>
      one.event_type === "step.delta" && one.delta.type === "text_annotation_delta"
        ? (one.delta.annotations ?? [])
        : [],
    );
    const annotated = done.steps.flatMap((step) => (step.type === "model_output" ? (step.content ?? []) : []));
    expect(citations).toEqual(annotated.flatMap((one) => (one.type === "text" ? (one.annotations ?? []) : [])));
    const last = events.at(-1);
    expect(last).toMatchObject({ event_type: "interaction.completed", interaction: { id: done.id } });
    expect(last).not.toHaveProperty("interaction.usage");
    expect(last).not.toHaveProperty("interaction.steps");
    const deltas = new Set(events.map((one) => (one.event_type === "step.delta" ? one.delta.type : "")));
    expect([...deltas]).toEqual(expect.arrayContaining(["thought_summary", "google_search_call", "thought_signature"]));
  });

  test("has no thoughts and searches unless they were requested", async () => {
    const { startStreaming } = await openResearch({ duration_ms: 0 });
    const events = await all(await startStreaming({ agent_config: { type: "deep-research" } }));
    const types = events.map((one) => (one.event_type === "step.start" ? one.step.type : ""));
    expect(types.filter((type) => type !== "")).toEqual(["model_output", "model_output"]);
  });

  test("has an opaque id in every fifth event, or none at all (S7)", async () => {
    const { start, stream } = await openResearch({ duration_ms: 0, create: [{}, { life: { event_ids: "none" } }] });
    const ids = eventIds(await all(await stream((await start()).id)));
    expect(ids.every((id, index) => (index % 5 === 4 ? /^v1_[\w-]{32}$/.test(id ?? "") : id === undefined))).toBe(true);
    expect(new Set(eventIds(await all(await stream((await start()).id))))).toEqual(new Set([undefined]));
  });

  test("sends events when they occur, and can be resumed after any event", async () => {
    const { simulator, start, stream } = await openResearch({ event_ids: "all" });
    const { id } = await start();
    const seen: StreamEvent[] = [];
    for await (const event of await stream(id)) {
      seen.push(event);
      if (seen.length === 2) simulator.skip(WHOLE_MS / 2);
      if (seen.length === 30) break;
    }
    const rest = all(await stream(id, seen.at(-1)?.event_id));
    simulator.skip(WHOLE_MS / 2);
    const whole = await all(await stream(id));
    expect([...seen, ...(await rest)]).toEqual(whole);
    expect(new Set(eventIds(whole)).size).toBe(whole.length);
    expect(await all(await stream(id, whole.at(-1)?.event_id))).toEqual([]);
    await expect(stream(id, "ev_9999")).rejects.toMatchObject({ status: 400 });
  });

  test.each(["end", "unavailable", "error-array", "error-event", "reset"] as const)(
    "is interrupted by `%s` and can be resumed",
    async (cut) => {
      const { simulator, start, stream } = await openResearch({
        event_ids: "all",
        stream: [{ cut_ms: WHOLE_MS / 2, cut }, {}],
      });
      const { id } = await start();
      const seen: StreamEvent[] = [];
      const reading = (async () => {
        for await (const event of await stream(id)) seen.push(event);
      })();
      await expect.poll(() => seen.length).toBe(2);
      simulator.skip(WHOLE_MS);
      const ending = await reading.catch((error: unknown) => String(error));
      expect(ending).toBe(cut === "reset" ? "TypeError: terminated" : undefined);
      const errors = seen.filter((event) => event.event_type === "error").map(({ error }) => error?.code);
      expect(errors).toEqual(cut === "error-event" ? ["deadline_exceeded"] : []);
      seen.splice(seen.length - errors.length);
      const rest = await all(await stream(id, seen.at(-1)?.event_id));
      expect(eventIds([...seen, ...rest])).toEqual(eventIds(await all(await stream(id))));
      expect(rest.at(-1)?.event_type).toBe("interaction.completed");
    },
  );

  test("ends with a cancel, and keeps the events it has sent", async () => {
    const { simulator, start, stream, cancel } = await openResearch();
    const { id } = await start();
    simulator.skip(WHOLE_MS * 0.9);
    const before = eventIds(
      await all(
        await stream(id).then(async (opened) => {
          await cancel(id);
          return opened;
        }),
      ),
    );
    const whole = await all(await stream(id));
    expect(eventIds(whole)).toEqual(before);
    expect(whole.at(-1)).toMatchObject({ interaction: { status: "cancelled" } });
    expect(textIn(whole)).not.toBe("");
  });
});

test.each(PRESET_NAMES.filter((name) => name.startsWith("research-stream")))(
  "%s can be read to the end",
  async (name) => {
    const { simulator, start, stream } = await openResearch();
    simulator.setScenario(name);
    const fromId = (): string | undefined => seen.findLast((event) => event.event_id !== undefined)?.event_id;
    const { id } = await start();
    const seen: StreamEvent[] = [];
    const read = async (): Promise<void> => {
      // Events after the last id are sent again.
      seen.splice(seen.findLastIndex((event) => event.event_id !== undefined) + 1);
      for await (const event of await stream(id, fromId())) seen.push(event);
    };
    let streams = 0;
    while (seen.at(-1)?.event_type !== "interaction.completed") {
      streams += 1;
      await read().catch((error: unknown) => {
        if (!(error instanceof TypeError)) throw error;
      });
    }
    // The number depends on the machine's speed, but at least one interruption must occur.
    expect(streams).toBeGreaterThan(1);
    expect(eventIds(seen)).toEqual(eventIds(await all(await stream(id))));
  },
);
