/**
 * `cancel_research` through the front door: every kind of run, from any process, with and without Google's
 * confirmation.
 */

import { describe, expect, test } from "vitest";
import { missingFromText } from "../kit/server/answer-leaves.ts";
import {
  openResearch,
  QUERY,
  type ResearchScene,
  SLOW,
  startRun,
  statusOf,
  untilStatus,
} from "../kit/server/research.ts";
import { openScene } from "../kit/server/scene.ts";
import type { RunningServer, ToolResult } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

const UNCONFIRMED =
  "The run is cancelled here. Google has not confirmed it; if its report still arrives, it is charged and kept.";

const cancel = (server: RunningServer, task_id: string, more: object = {}): Promise<ToolResult> =>
  server.call("cancel_research", { task_id, ...more });

const results = (server: RunningServer, task_id: string): Promise<ToolResult> =>
  server.call("get_research_results", { task_id });

/** The requests that the simulated Google received for its n-th run. */
function trafficOf({ gemini }: ResearchScene, n = 0) {
  return gemini.ledger.trafficOf(gemini.ledger.acceptedStarts()[n]?.id ?? "");
}

function savePartial(scene: ResearchScene, task_id: string): void {
  scene.sql(
    `insert into research_results (task_id, report_markdown, sources_json, citations_json, metadata_json, partial, saved_at)
     values (?, 'As far as it came.', '[]', '[]', '{}', 1, 0)`,
    task_id,
  );
}

test("a cancel stops a run of another process, here and at Google, in exactly this shape (L1, L2, R5)", async (context) => {
  const scene = await openResearch(context, { ...SLOW, usage_after_ms: 60_000 });
  const [starter, canceller] = [await scene.server(), await scene.server()];
  const task_id = await startRun(starter);
  const first = await cancel(canceller, task_id);
  expect(first.isError).toBe(false);
  expect(first.structured).toEqual({
    success: true,
    task_id,
    status: "cancelled",
    confirmed: true,
    partial_results_saved: false,
    progress_at_cancellation: expect.any(Number),
    message: "The run is cancelled.",
  });
  expect(missingFromText(first.text, first.structured)).toEqual([]);
  expect(trafficOf(scene).cancels.length).toBeGreaterThan(0);
  expect(await statusOf(starter, task_id)).toMatchObject({ status: "cancelled", current_action: "Cancelled" });
  const { isError, structured } = await results(starter, task_id);
  expect(isError).toBe(true);
  expect(structured).toMatchObject({ error: { code: "RESEARCH_NOT_COMPLETED" }, status: "cancelled" });

  const { cancels, polls } = trafficOf(scene);
  expect((await cancel(starter, task_id)).structured).toEqual(first.structured);
  expect(trafficOf(scene)).toMatchObject({ cancels, polls });
});

const DISCARDED = "This run was cancelled without keeping what it had found.";

test("a cancel keeps the received text, or nothing on request (L1)", async (context) => {
  const scene = await openResearch(context, SLOW);
  const server = await scene.server();
  for (const save_partial of [true, false]) {
    const task_id = await startRun(server, `Question ${save_partial}`);
    savePartial(scene, task_id);
    const { structured } = await cancel(server, task_id, { save_partial });
    expect(structured).toMatchObject({ status: "cancelled", partial_results_saved: save_partial });
    const stored = (await results(server, task_id)).structured;
    expect(stored).toMatchObject(
      save_partial
        ? {
            success: true,
            partial: true,
            status: "cancelled",
            report: "As far as it came.",
            note: "The run was cancelled before its report was complete.",
          }
        : { success: false, error: { code: "RESEARCH_NOT_COMPLETED", message: DISCARDED } },
    );
    const saved = await server.call("save_research_to_markdown", { task_id, output_dir: scene.configDir });
    expect(saved.isError).toBe(!save_partial);
    expect(saved.structured["error"]?.message).toBe(save_partial ? undefined : DISCARDED);
  }
});

test("a completed, failed or unknown run cannot be cancelled (L2, A6)", async (context) => {
  const scene = await openResearch(context, { duration_ms: 0, create: [{}, { life: { status: "failed" } }] });
  const server = await scene.server();
  const [done, failed] = [await startRun(server, "First question"), await startRun(server, "Second question")];
  await untilStatus(server, done, "completed");
  await untilStatus(server, failed, "failed");
  const completed = await cancel(server, done);
  expect(completed.isError).toBe(true);
  expect(completed.structured).toEqual({
    success: false,
    error: {
      code: "RESEARCH_ALREADY_COMPLETED",
      message: "This run is completed; there is nothing to cancel.",
      suggestion: expect.stringContaining("get_research_results"),
    },
    task_id: done,
    status: "completed",
    progress: 100,
  });
  expect((await cancel(server, failed)).structured["error"].code).toBe("RESEARCH_FAILED");
  expect((await cancel(server, crypto.randomUUID())).structured["error"].code).toBe("TASK_NOT_FOUND");
  expect((await cancel(server, "none")).structured["error"].code).toBe("INVALID_TASK_ID");
});

test("a report that was finished before the cancel is kept, and the answer says so (L2)", async (context) => {
  const scene = await openResearch(context, SLOW);
  const first = await scene.server();
  const task_id = await startRun(first);
  await first.close();
  // Finished at Google, and not polled here.
  scene.gemini.skip(8 * 60_000);
  scene.sql("update research_tasks set next_poll_at = ?", Date.now() + 600_000);
  const server = await scene.server();
  const { isError, structured } = await cancel(server, task_id);
  expect(isError).toBe(false);
  expect(structured).toMatchObject({
    status: "completed",
    message: "The research was finished before it could be cancelled; its report is kept.",
  });
  expect((await results(server, task_id)).structured["report"]).toContain("## Executive summary");
});

describe.concurrent("without Google's confirmation", () => {
  test("a cancel that takes Google a moment is waited for (L1)", async (context) => {
    const scene = await openResearch(context, { ...SLOW, cancel_lag_ms: 1_500 });
    const server = await scene.server();
    expect((await cancel(server, await startRun(server))).structured).toMatchObject({
      status: "cancelled",
      confirmed: true,
    });
  });

  test("a cancel that takes longer is confirmed later, automatically (L1)", async (context) => {
    const scene = await openResearch(context, { ...SLOW, cancel_lag_ms: 120_000 });
    const server = await scene.server();
    const task_id = await startRun(server);
    const { structured } = await cancel(server, task_id);
    expect(structured).toMatchObject({ status: "cancelled", confirmed: false, message: UNCONFIRMED });
    const until = (await statusOf(server, task_id))["elapsed_minutes"];
    scene.gemini.skip(120_000);
    await waitFor(async () => expect((await cancel(server, task_id)).structured).toMatchObject({ confirmed: true }));
    const after = await statusOf(server, task_id);
    expect(after).toMatchObject({ status: "cancelled", elapsed_minutes: until });
    expect(after).not.toHaveProperty("error");
    const { polls } = trafficOf(scene);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(trafficOf(scene).polls).toEqual(polls);
  });

  test("a cancel that Google ignores ends in a paid report, which is kept with a note (L1)", async (context) => {
    const scene = await openResearch(context, { ...SLOW, cancel_ignored: true });
    const server = await scene.server();
    const task_id = await startRun(server);
    expect((await cancel(server, task_id, { save_partial: false })).structured).toMatchObject({ confirmed: false });
    scene.gemini.skip(8 * 60_000);
    await untilStatus(server, task_id, "completed");
    const { structured } = await results(server, task_id);
    expect(structured).toMatchObject({
      report: expect.stringContaining("## Executive summary"),
      note: "It was cancelled, but Google finished it anyway. The report was charged and is kept.",
    });
    expect(structured).not.toHaveProperty("partial");
  });

  test("a cancel without a key takes effect here, and reaches Google once there is a key (L1)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const first = await scene.server();
    const task_id = await startRun(first);
    await first.close();
    const keyless = await scene.server({ env: { GEMINI_API_KEY: "" } });
    expect((await cancel(keyless, task_id)).structured).toMatchObject({ status: "cancelled", confirmed: false });
    expect(trafficOf(scene).cancels).toEqual([]);
    await keyless.close();
    scene.sql("update research_tasks set next_poll_at = 0");
    const { code } = await scene.command(["worker", "--until-idle"]);
    expect(code).toBe(0);
    expect(trafficOf(scene).cancels.length).toBeGreaterThan(0);
    expect(scene.sql("select status, cancel_confirmed from research_tasks")).toEqual([
      { status: "cancelled", cancel_confirmed: 1 },
    ]);
  });

  test("an unknown start is cancelled here, and the answer says that Google cannot be informed (L1, I10)", async (context) => {
    const scene = await openResearch(context, { create: [{ fault: "accept-then-reset" }] });
    const server = await scene.server();
    const { task_id } = (await server.call("start_deep_research", { query: QUERY })).structured;
    const { structured } = await cancel(server, task_id);
    expect(structured).toMatchObject({
      status: "cancelled",
      confirmed: false,
      message: expect.stringContaining("it cannot be stopped from here and may be charged"),
    });
  });

  test("a start that Google has not accepted yet is cancelled there as soon as it is (L1)", async (context) => {
    const scene = await openResearch(context, { ...SLOW, create: [{ latency_ms: 3_000 }] });
    const server = await scene.server();
    // Opens what the first call of a process opens, so that the next are quick.
    await server.call("list_research", {});
    const started = server.call("start_deep_research", { query: QUERY });
    const { task_id } = await waitFor(
      async () => {
        const { runs } = (await server.call("list_research", { status: "pending" })).structured;
        expect(runs).toHaveLength(1);
        return runs[0];
      },
      { interval: 20 },
    );
    expect((await cancel(server, task_id)).structured).toMatchObject({ status: "cancelled" });
    await started;
    // On a busy machine after the call of cancel has ended.
    await waitFor(() =>
      expect(scene.sql("select cancel_confirmed from research_tasks")).toEqual([{ cancel_confirmed: 1 }]),
    );
    expect(trafficOf(scene).cancels.length).toBeGreaterThan(0);
  });
});

describe("from another process", () => {
  test("the command line cancels with no server open, and Google confirms (L1)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const server = await scene.server();
    const task_id = await startRun(server);
    await server.close();
    const { code, stdout } = await scene.command(["cancel", task_id, "--yes", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: "cancelled", confirmed: true });
  });

  test.for([
    ["search", "search"],
    ["deep_search", "verify"],
  ] as const)("a %s is stopped within 5 s (L1)", async ([tool, task], context) => {
    const scene = await openScene(context, { name: "hangs", tasks: { [task]: [{ fault: "hang" }] } });
    const [worker, canceller] = [await scene.server(), await scene.server()];
    const call = worker.call(tool, { query: QUERY });
    await waitFor(() => expect(scene.gemini.ledger.countByKind()[task]).toBe(1));
    const { runs } = (await canceller.call("list_research", { status: "running" })).structured;
    const task_id: string = runs[0].task_id;
    const { structured } = await cancel(canceller, task_id);
    const hasRound = tool === "deep_search";
    expect(structured).toMatchObject({ status: "cancelled", confirmed: true, partial_results_saved: hasRound });
    expect((await call).structured).toMatchObject({ success: false, error: { code: "CANCELLED" }, task_id });
    expect((await results(canceller, task_id)).isError).toBe(!hasRound);
  });
});
