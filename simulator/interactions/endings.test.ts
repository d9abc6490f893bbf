/** How a simulated Deep Research run ends, is cancelled, rejected, deleted and expires. */

import { describe, expect, test } from "vitest";
import { all, clientOf, openResearch, START, textOf, WHOLE_MS } from "../../test/kit/simulator/interactions-client.ts";

describe("an ending", () => {
  test.each([
    ["completed", "whole", "interaction.completed"],
    ["incomplete", "half", "interaction.completed"],
    ["budget_exceeded", "half", "interaction.completed"],
    ["failed", "none", "interaction.completed"],
    ["cancelled", "none", "interaction.completed"],
    ["requires_action", "none", "interaction.completed"],
    ["hibernating", "whole", "interaction.completed"],
  ])("`%s` leaves %s of the report", async (status, length, lastEvent) => {
    const { simulator, start, poll, stream } = await openResearch({ duration_ms: 0, usage_after_ms: 0 });
    const whole = (await poll((await start()).id)).output_text ?? "";
    simulator.setScenario({ name: "ending", interactions: { duration_ms: 0, status, usage_after_ms: 0 } });
    const ended = await poll((await start()).id);
    expect(ended.status).toBe(status);
    expect(ended.usage?.total_tokens).toBeGreaterThan(0);
    const part = (ended.output_text ?? "").length / whole.length;
    expect(part).toBeGreaterThanOrEqual({ whole: 1, half: 0.2 }[length] ?? 0);
    expect(part).toBeLessThanOrEqual({ whole: 1, half: 0.5 }[length] ?? 0);
    const events = await all(await stream(ended.id));
    expect(events.at(-1)).toMatchObject({ event_type: lastEvent, interaction: { status } });
  });

  test("by failure has its reason in the interaction, in its last step and in the stream", async () => {
    const errors = [{ code: "quota", message: "Too much." }];
    const { start, poll, stream } = await openResearch({ duration_ms: 0, status: "failed", errors });
    const { id } = await start();
    const failed = await poll(id);
    expect(failed.errors).toEqual(errors);
    expect(failed.steps.at(-1)).toEqual({ type: "model_output", error: { code: 13, message: "Too much." } });
    expect(await all(await stream(id))).toContainEqual(
      expect.objectContaining({ event_type: "error", error: errors[0] }),
    );
  });

  test.each(["in_progress", "queued"])("is never reached by a run that stays `%s`", async (status) => {
    const { simulator, start, poll } = await openResearch({ status, poll_shows: "all" });
    const { id, status: first } = await start();
    simulator.skip(1000 * WHOLE_MS);
    const stuck = await poll(id);
    expect([first, stuck.status, stuck.usage]).toEqual([status, status, undefined]);
    expect(stuck.steps.length).toBeGreaterThan(10);
  });

  test("without text is completed", async () => {
    const { start, poll } = await openResearch({ duration_ms: 0, text: "none" });
    const empty = await poll((await start()).id);
    expect(empty).toMatchObject({ status: "completed" });
    expect(empty.output_text).toBeUndefined();
    expect(empty.steps.at(-1)).toEqual({ type: "model_output", content: [] });
  });

  test("can have the report that a test sets", async () => {
    const report = "# Mine ünd yours [cite: 1] and [cite: 999]";
    const { start, poll } = await openResearch({ duration_ms: 0, report });
    const { text, annotations } = textOf(await poll((await start()).id));
    expect(text).toBe(report);
    expect(annotations).toMatchObject([{ start_index: 18, end_index: 27 }]);
  });

  test("in the old schema has text that the SDK does not see", async () => {
    const { start, poll, stream } = await openResearch({ duration_ms: 0, schema: "outputs" });
    const { id } = await start();
    const old = await poll(id);
    expect(old.steps).toEqual([]);
    expect(old.output_text).toBeUndefined();
    const text = {
      type: "text",
      annotations: expect.arrayContaining([expect.objectContaining({ source: expect.any(String) })]),
    };
    expect(old).toHaveProperty("outputs", expect.arrayContaining([expect.objectContaining(text)]));
    const types = new Set((await all(await stream(id))).map((event): string => event.event_type));
    expect(types).toContain("content.delta");
    expect(types).not.toContain("step.delta");
  });

  test("with a picture has two texts, of which the SDK's output_text is only the last", async () => {
    const { start, poll } = await openResearch({ duration_ms: 0, image: true, parts: 1 });
    const done = await poll((await start()).id);
    const last = done.steps.at(-1);
    const content = last?.type === "model_output" ? (last.content ?? []) : [];
    expect(content.map((one) => one.type)).toEqual(["text", "image", "text"]);
    expect(content[2]).toHaveProperty("text", done.output_text);
    for (const one of content) {
      if (one.type !== "text") continue;
      const [first] = one.annotations ?? [];
      const bytes = Buffer.from(one.text).subarray(first?.start_index, first?.end_index);
      expect(bytes.toString()).toMatch(/^\[cite: /);
    }
  });

  test("can precede its usage", async () => {
    const { simulator, start, poll, stream } = await openResearch({ usage_after_ms: 5000 });
    const { id } = await start();
    simulator.skip(WHOLE_MS);
    expect(await poll(id)).toMatchObject({ status: "completed" });
    expect((await poll(id)).usage).toBeUndefined();
    expect((await all(await stream(id))).at(-1)).not.toHaveProperty("interaction.usage");
    simulator.skip(5000);
    expect((await poll(id)).usage?.total_tokens).toBeGreaterThan(0);
  });

  test("is deleted after some time", async () => {
    const { simulator, start, poll } = await openResearch({ duration_ms: 0, expires_after_ms: 60_000 });
    const { id } = await start();
    expect((await poll(id)).status).toBe("completed");
    simulator.skip(60_000);
    await expect(poll(id)).rejects.toMatchObject({ status: 404, name: "NotFoundError" });
  });
});

describe("a cancel", () => {
  test("ends the run, keeps its thoughts, and answers the same when repeated", async () => {
    const { simulator, start, poll, cancel } = await openResearch();
    const { id } = await start();
    simulator.skip(WHOLE_MS / 2);
    expect(await cancel(id)).toMatchObject({ id, status: "cancelled" });
    simulator.skip(WHOLE_MS);
    expect(await cancel(id)).toMatchObject({ status: "cancelled" });
    const cancelled = await poll(id);
    expect(cancelled.status).toBe("cancelled");
    expect(cancelled.steps.length).toBeGreaterThan(5);
    expect(cancelled.output_text).toBeUndefined();
    expect(simulator.ledger.trafficOf(id).cancels).toHaveLength(2);
  });

  test("can take effect after its response", async () => {
    const { simulator, start, poll, cancel } = await openResearch({ cancel_lag_ms: 10_000 });
    const { id } = await start();
    expect((await cancel(id)).status).toBe("cancelled");
    expect((await poll(id)).status).toBe("in_progress");
    simulator.skip(10_000);
    expect((await poll(id)).status).toBe("cancelled");
  });

  test("comes too late for a report that finishes during its delay, or has finished", async () => {
    const { simulator, start, poll, cancel } = await openResearch({ cancel_lag_ms: 10_000 });
    const { id } = await start();
    simulator.skip(WHOLE_MS - 5000);
    await cancel(id);
    simulator.skip(60_000);
    expect(await poll(id)).toMatchObject({ status: "completed", output_text: expect.any(String) });
    await expect(cancel(id)).rejects.toMatchObject({ status: 400 });
  });

  test("can be ignored", async () => {
    const { simulator, start, poll, cancel } = await openResearch({ cancel_ignored: true });
    const { id } = await start();
    expect((await cancel(id)).status).toBe("in_progress");
    simulator.skip(WHOLE_MS);
    expect((await poll(id)).status).toBe("completed");
  });
});

test("a deleted interaction does not exist", async () => {
  const { simulator, start, poll, remove } = await openResearch();
  const { id } = await start();
  await remove(id);
  await expect(poll(id)).rejects.toMatchObject({ status: 404 });
  await expect(remove(id)).rejects.toMatchObject({ status: 404 });
  expect(simulator.ledger.acceptedStarts()).toHaveLength(1);
});

test.each([
  ["no background", { background: false }, 400],
  ["nothing stored", { store: false }, 400],
  ["an unknown agent", { agent: "deep-research-2031" }, 404],
  ["the agent that was shut down", { agent: "deep-research-pro-preview-12-2025" }, 404],
  ["no agent", { agent: undefined }, 400],
  ["no question", { input: " " }, 400],
  ["another agent's settings", { agent_config: { type: "dynamic" } }, 400],
  ["a function", { tools: [{ type: "function", name: "f" }] }, 400],
  ["a label in capitals", { labels: { attempt: "A" } }, 400],
  ["an unknown predecessor", { previous_interaction_id: "v1_x" }, 404],
  ["an unknown model", { agent: undefined, agent_config: undefined, model: "gemini-9" }, 404],
  ["an agent and a model", { model: "gemini-3.1-pro-preview" }, 400],
])("a start with %s is rejected and costs nothing", async (_, changes, status) => {
  const { simulator, start } = await openResearch();
  await expect(start(changes)).rejects.toMatchObject({ status });
  expect(simulator.ledger.acceptedStarts()).toEqual([]);
});

test("a start on top of an unfinished one is refused", async () => {
  const { simulator, start } = await openResearch();
  const { id } = await start();
  await expect(start({ previous_interaction_id: id })).rejects.toMatchObject({ status: 400 });
  simulator.skip(WHOLE_MS);
  await expect(start({ previous_interaction_id: id })).resolves.toMatchObject({ status: "in_progress" });
});

test("a model continues a finished run of the same key, until Google has forgotten it (V1)", async () => {
  const { simulator, start, poll } = await openResearch();
  const { id } = await start();
  const model = "gemini-3.1-pro-preview";
  const followup = { agent: undefined, agent_config: undefined, model, input: "Why?", previous_interaction_id: id };
  await expect(start(followup)).rejects.toMatchObject({ status: 400 });
  simulator.skip(WHOLE_MS);
  await expect(clientOf(simulator, "another-key").start(followup)).rejects.toMatchObject({ status: 403 });
  const { id: answer } = await start(followup);
  simulator.skip(WHOLE_MS);
  const answered = await poll(answer);
  expect(answered).toMatchObject({ status: "completed", model, previous_interaction_id: id });
  expect(answered.agent).toBeUndefined();
  const { text, annotations = [] } = textOf(answered);
  expect(text).toContain("“Why”");
  expect(annotations[0]).toMatchObject({ type: "url_citation" });
  // The model reads the report, and pays for it.
  const report = await poll(id);
  expect(answered.usage?.total_input_tokens).toBeGreaterThan((report.output_text ?? "").length / 5);
  simulator.setScenario({ name: "forgotten", interactions: { previous_forgotten: true } });
  await expect(start(followup)).rejects.toMatchObject({ status: 404 });
  expect(simulator.ledger.acceptedStarts()).toHaveLength(2);
});

test("a question may consist of parts", async () => {
  const { simulator, start } = await openResearch();
  await start({
    input: [
      { type: "text", text: "One?" },
      { type: "text", text: "Two?" },
    ],
  });
  await start({ input: [{ type: "user_input", content: [{ type: "text", text: "Three?" }] }] });
  expect(simulator.ledger.acceptedStarts().map((one) => one.query)).toEqual(["One?\n\nTwo?", "Three?"]);
});

test.each([403, 404] as const)("another key gets %d, whatever it requests", async (foreign_key) => {
  const { simulator, start } = await openResearch({ foreign_key });
  const { id } = await start();
  const other = clientOf(simulator, "another-key");
  for (const ask of [other.poll, other.stream, other.cancel, other.remove]) {
    await expect(ask(id)).rejects.toMatchObject({ status: foreign_key });
  }
  expect(START.agent).toBe(simulator.ledger.acceptedStarts()[0]?.agent);
});

test("a planning turn ends with a plan; only an explicit false starts the research (V2)", async () => {
  const { simulator, start, poll } = await openResearch();
  const config = (collaborative_planning?: boolean) => ({
    agent_config: { type: "deep-research", ...(collaborative_planning !== undefined && { collaborative_planning }) },
  });
  const ended = async (changes: object): Promise<{ id: string; text: string }> => {
    const { id } = await start(changes);
    simulator.skip(WHOLE_MS);
    const { output_text: text = "" } = await poll(id);
    return { id, text };
  };
  const first = await ended(config(true));
  expect(first.text).toMatch(/^Here is a research plan for \*\*Is the café/);
  const go = { input: "Go ahead", previous_interaction_id: first.id };
  expect((await ended({ ...go, ...config(true) })).text).toContain("5. Go ahead");
  expect((await ended({ ...go, ...config() })).text).toContain("5. Go ahead");
  const report = await ended({ ...go, ...config(false) });
  expect(report.text).not.toContain("research plan");
  expect(report.text).toContain("Is the café");
  simulator.skip(WHOLE_MS);
  const { usage: ofPlan } = await poll(first.id);
  const { usage: ofReport } = await poll(report.id);
  expect(ofPlan?.total_input_tokens).toBeLessThan((ofReport?.total_input_tokens ?? 0) / 2);
});
