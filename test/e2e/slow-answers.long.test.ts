/** Answers that Google takes longer for than a client waits. */

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { openResearch, QUERY, untilStatus } from "../kit/server/research.ts";
import { openScene } from "../kit/server/scene.ts";
import { openTasks, settled } from "../kit/server/tasks.ts";

const UUID_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe.concurrent("a slow answer", () => {
  test("of a search that takes longer than 20 s is a task (U1)", async (context) => {
    const scene = await openScene(context, { name: "slow", tasks: { search: [{ latency_ms: 22_000 }] } });
    const tasks = openTasks(await scene.server({ era: "modern" }));
    const began = performance.now();
    const execution = await tasks.session.callTool("search", { query: QUERY });
    expect(execution.kind).toBe("task");
    expect(performance.now() - began).toBeGreaterThan(19_900);
    expect(await settled(execution)).toMatchObject({ isError: false, structured: { success: true } });
  });

  test("of a start comes within 30 s, and the research continues (I3, I5, R6)", async (context) => {
    const scene = await openResearch(context, { create: [{ latency_ms: 26_000 }] });
    const server = await scene.server({ env: { RESEARCH_SYNC_WINDOW_MS: "20000" } });
    // Waiting for a locked database is part of the 30 s.
    await scene.command(["list"]);
    const other = new DatabaseSync(join(scene.configDir, "deep_research.db"), { timeout: 5_000 });
    other.exec("begin immediate");
    setTimeout(() => other.close(), 3_500);
    const began = Date.now();
    const { structured } = await server.call("start_deep_research", { query: QUERY });
    const took = Date.now() - began;
    expect(structured["task_id"]).toMatch(UUID_4);
    expect(structured["message"]).toContain("Google has not accepted the start yet");
    expect(took).toBeGreaterThan(25_000);
    expect(took).toBeLessThan(30_000);
    await untilStatus(server, structured["task_id"], "completed");
    expect([scene.posts(), scene.accepted()]).toEqual([1, 1]);
  });
});
