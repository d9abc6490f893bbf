/** Unusual responses of Google, through the built server: each run ends correctly, and none stops another. */

import { describe, expect, test } from "vitest";
import { type Interactions, openResearch, SLOW, startRun, statusOf, untilStatus } from "../kit/server/research.ts";
import { waitFor } from "../kit/wait-for.ts";

const RESULTS = "get_research_results";

describe("an answer", () => {
  test("in two outputs is one report, title included (S1)", async (context) => {
    const scene = await openResearch(context);
    const server = await scene.server();
    const task_id = await startRun(server);
    await untilStatus(server, task_id, "completed");
    const { structured } = await server.call(RESULTS, { task_id });
    expect(structured["report"]).toMatch(/^# .+\n/);
    expect(structured["report"]).toContain("## Outlook");
    expect(structured["sources"].length).toBeGreaterThan(5);
  });

  test.for<[string, Interactions]>([
    ["has a field that is nested thousands of levels deep", { get: [{ extra_depth: 20_000 }] }],
    ["has no annotations", { annotations: false }],
    ["has fractional counts", { usage: { total_input_tokens: 1234.5 } }],
    [
      "has counts beyond what a database can add",
      { usage: { total_input_tokens: 2 ** 53, total_output_tokens: 2 ** 53 } },
    ],
    ["has counts below zero", { usage: { total_input_tokens: -75_000_000 } }],
    ["has counts beyond all bounds", { usage: { total_input_tokens: 1e300, total_output_tokens: 1e308 } }],
    ["has counts that are no numbers", { usage: { total_input_tokens: "many", total_output_tokens: null } }],
    ["has counts that are lists", { usage: { total_input_tokens: [], grounding_tool_count: { count: 1e300 } } }],
    [
      "has a count of searches beyond all bounds",
      { usage: { grounding_tool_count: [{ type: "google_search", count: 1e300 }] } },
    ],
  ])("that %s is a completed run with its report and sources (S1, P6)", async ([, interactions], context) => {
    const scene = await openResearch(context, { ...interactions, usage_after_ms: 0 });
    const server = await scene.server();
    const [task_id, other] = [await startRun(server, "First question"), await startRun(server, "Second question")];
    const ended = await untilStatus(server, task_id, "completed");
    await untilStatus(server, other, "completed");
    for (const count of Object.values(ended["tokens_used"] ?? {})) {
      expect(Number.isSafeInteger(count) && Number(count) >= 0).toBe(true);
    }
    expect(ended["cost_so_far"] ?? 0).toBeGreaterThanOrEqual(0);
    const { structured } = await server.call(RESULTS, { task_id });
    expect(structured["report"].length).toBeGreaterThan(1_000);
    expect(structured["sources"].length).toBeGreaterThan(5);
    expect((await server.call("list_research", {})).structured["runs"]).toHaveLength(2);
  });

  test("about another interaction is not stored as this run's (S1)", async (context) => {
    const scene = await openResearch(context, { duration_ms: 0, get: [{ as_id: "v1_foreign" }] });
    const server = await scene.server();
    const task_id = await startRun(server);
    const [run] = scene.gemini.ledger.acceptedStarts();
    await waitFor(() => expect(scene.gemini.ledger.trafficOf(run?.id ?? "").polls.length).toBeGreaterThan(2));
    expect(await statusOf(server, task_id)).toMatchObject({ status: "running_async" });
    scene.play({ duration_ms: 0 });
    await untilStatus(server, task_id, "completed");
  });

  test.for([
    ["too_many_requests", "the API key's quota was used up"],
    ["deadline_exceeded", "it took longer than Google allows"],
    ["safety", "blocked by a safety filter"],
  ])("that failed with `%s` becomes a sentence of ours (S4)", async ([code = "", words = ""], context) => {
    const errors = [{ code, message: "Upstream words <b>nobody</b> should read" }];
    const scene = await openResearch(context, { duration_ms: 0, status: "failed", errors });
    const server = await scene.server();
    const { error } = await untilStatus(server, await startRun(server), "failed");
    expect(error).toMatchObject({ code: "RESEARCH_FAILED", message: expect.stringContaining(words) });
    expect(error.message).not.toContain("Upstream");
  });

  test.for(["accept-then-404", "accept-then-500"] as const)(
    "to a cancel that is %s does not count as its failure (L1)",
    async (fault, context) => {
      const scene = await openResearch(context, { ...SLOW, cancel: [{ fault }] });
      const server = await scene.server();
      const task_id = await startRun(server);
      const { structured } = await server.call("cancel_research", { task_id });
      expect(structured).toMatchObject({ success: true, status: "cancelled", confirmed: true });
    },
  );
});
