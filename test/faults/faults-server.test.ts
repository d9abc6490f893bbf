/** Some cells of the fault matrix through the built server. */

import { describe, expect, test } from "vitest";
import { peakMemory } from "../kit/server/processes.ts";
import { openResearch, QUERY, SLOW, startRun, statusOf, untilStatus } from "../kit/server/research.ts";
import { waitFor } from "../kit/wait-for.ts";

describe.concurrent("the fault matrix on the built server", () => {
  test("redirect × create: not followed, START_UNKNOWN after one request (I8, T9)", async (context) => {
    const scene = await openResearch(context, { create: [{ fault: "redirect" }] });
    const { structured } = await (await scene.server()).call("start_deep_research", { query: QUERY });
    expect(structured).toMatchObject({
      status: "start_unknown",
      error: {
        code: "START_UNKNOWN",
        message: "Google answered with HTTP 307. It is not known whether the research was started.",
      },
    });
    expect([scene.posts(), scene.accepted()]).toEqual([1, 0]);
  });

  test("gzip bomb × get: a gigabyte in a megabyte is not unpacked, and the run completes (P3, T16)", async (context) => {
    const scene = await openResearch(context, { get: [{ fault: "gzip-bomb" }, {}] });
    const server = await scene.server({ isMeasured: true });
    await untilStatus(server, await startRun(server), "completed", 40_000);
    expect(scene.gemini.ledger.interactionRequests()).toMatchObject({ "get gzip-bomb": 1 });
    // Only Linux reports the peak memory of a process.
    expect(process.platform === "linux" ? peakMemory(server.pid) : 0).toBeLessThan(400);
  });

  test("HTML login page × get: reported in a sentence of ours while it lasts (P3, T18)", async (context) => {
    const scene = await openResearch(context, { ...SLOW, get: [{ fault: "html-200" }] });
    const server = await scene.server();
    const taskId = await startRun(server);
    await waitFor(
      async () =>
        expect((await statusOf(server, taskId))["current_action"]).toBe("Google's answer cannot be read; trying again"),
      { timeout: 15_000 },
    );
  });

  test("503 × cancel: unconfirmed first, confirmed when Google answers (L1)", async (context) => {
    const scene = await openResearch(context, { ...SLOW, cancel: [{ fault: "http-503" }] });
    const server = await scene.server();
    const task_id = await startRun(server);
    const { structured } = await server.call("cancel_research", { task_id });
    expect(structured).toMatchObject({ status: "cancelled", confirmed: false });
    scene.play(SLOW);
    const confirmed = "select cancel_confirmed as confirmed from research_tasks where task_id = ?";
    await waitFor(() => expect(scene.sql(confirmed, task_id)).toEqual([{ confirmed: 1 }]));
    expect(scene.posts()).toBe(1);
  });
});
