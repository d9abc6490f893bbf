/** Google has finished a research, but the database refuses its report: it is told, readable and saved all the same. */

import { readFileSync, rmSync } from "node:fs";
import { expect, test } from "vitest";
import { openResearch, QUERY, startRun, statusOf, untilStatus } from "../kit/server/research.ts";
import { temporaryDirectory } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

const REFUSE = `create trigger refuse before update of status on research_tasks when new.status = 'completed'
  begin select raise(abort, 'refused'); end`;

test("a report that the database refuses: status and cost tell it, and it is saved from its backup (P5, J2, N3)", async (context) => {
  const scene = await openResearch(context);
  const directory = temporaryDirectory();
  context.onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const server = await scene.server();
  await server.call("list_research", {});
  scene.sql(REFUSE);
  const taskId = await startRun(server, QUERY);
  const status = await waitFor(async () => {
    const now = await statusOf(server, taskId);
    expect(now["backup_file"]).toBeDefined();
    return now;
  });
  const backup = String(status["backup_file"]);
  expect(status).toMatchObject({
    status: "running_async",
    current_action: "The research has ended, but its report is not stored yet",
    cost_so_far: expect.any(Number),
    estimated_completion_minutes: 0,
    error: { code: "SQLITE_ERROR", message: expect.stringContaining(backup) },
  });
  expect(status["cost_so_far"]).toBeGreaterThan(0.1);
  const waited = performance.now();
  await server.call("check_research_status", { task_id: taskId, wait_seconds: 50 });
  expect(performance.now() - waited).toBeLessThan(50_000);

  const saved = await server.call("save_research_to_markdown", { task_id: taskId, output_dir: directory });
  expect(saved.structured).toMatchObject({ success: true, task_id: taskId });
  expect(readFileSync(saved.structured["file_path"], "utf8")).toBe(readFileSync(backup, "utf8"));
  const asSources = { task_id: taskId, output_dir: directory, format: "bibtex" };
  expect((await server.call("save_research_to_markdown", asSources)).structured["error"]).toMatchObject({
    code: "SQLITE_ERROR",
    details: { backup_file: backup },
  });

  scene.sql("drop trigger refuse");
  await untilStatus(server, taskId, "completed");
  const { structured } = await server.call("get_research_results", { task_id: taskId });
  expect(structured).toMatchObject({ success: true, metadata: { cost_usd: status["cost_so_far"] } });
});
