/** A deep search whose caller or process ends in round 2: finished rounds are kept, and nothing is left running. */

import { join } from "node:path";
import { sqlOn } from "../kit/store/databases.ts";
import { announcedRun } from "../kit/server/server.ts";
import { describe, expect, test } from "vitest";
import { isAlive } from "../kit/server/processes.ts";
import { openScene, type Scene } from "../kit/server/scene.ts";
import type { CallOptions, RunningServer, ToolResult } from "../kit/server/server.ts";
import { storedRun } from "../kit/store/stored-run.ts";
import { waitFor } from "../kit/wait-for.ts";

const QUERY = "How do heat pumps perform in cold climates?";

const SOON = { interval: 10 };

const STUCK_IN_ROUND_2 = { name: "stuck-in-round-2", tasks: { verify: [{ round: 2, fault: "hang" as const }] } };

interface InRound2 {
  server: RunningServer;
  taskId: string;
  /** Resolves to undefined when the call was lost. */
  call: Promise<ToolResult | undefined>;
}

async function reachRound2(scene: Scene, options: CallOptions = {}): Promise<InRound2> {
  const server = await scene.server();
  const messages: string[] = [];
  const onProgress = (message: string): void => void messages.push(message);
  const call = server.call("deep_search", { query: QUERY }, { ...options, onProgress }).catch(() => undefined);
  await waitFor(() => expect(scene.gemini.ledger.count("verify")).toBe(1), SOON);
  return { server, taskId: await announcedRun(server.call, messages), call };
}

/** The finished run as a later client sees it. */
async function readLater(server: RunningServer, taskId: string): Promise<Record<string, unknown>> {
  return waitFor(async () => {
    const { isError, structured } = await server.call("get_research_results", { task_id: taskId });
    expect(isError).toBe(false);
    return structured;
  }, SOON);
}

const round1 = (status: string) => ({
  success: true,
  partial: true,
  status,
  query: QUERY,
  report: expect.stringMatching(/^# How do heat pumps [\s\S]*## Evidence/),
  verified: false,
  metadata: { source_count: 17, model: "gemini-3.8-flash" },
});

function ledgerOf(configDir: string): { micros: number; reserved_micros: number }[] {
  const file = join(configDir, "deep_research.db");
  return sqlOn({ file, url: undefined }, "select micros, reserved_micros from ledger", []);
}

describe.concurrent("a deep search in its second round", () => {
  test("whose server is killed keeps round 1 readable, and is marked interrupted by the next server (G8, P2)", async (context) => {
    const scene = await openScene(context, STUCK_IN_ROUND_2);
    const { server, taskId, call } = await reachRound2(scene);
    process.kill(server.pid, "SIGKILL");
    expect(await call).toBeUndefined();
    expect(storedRun(scene.configDir, taskId)).toMatchObject({ status: "running" });

    const next = await scene.server();
    const read = await readLater(next, taskId);
    expect(read).toMatchObject(round1("failed"));
    expect(read["metadata"]).toMatchObject({ usage_final: false, cost_usd: expect.any(Number) });
    expect(storedRun(scene.configDir, taskId)?.["tokens_output"]).toBeGreaterThan(50);
    expect(storedRun(scene.configDir, taskId)).toMatchObject({ status: "failed", error_code: "INTERRUPTED" });
    expect(next.stderr()).toMatch(/^\[INFO\] 1 search was interrupted/m);
    const { structured } = await next.call("list_research", { status: "failed" });
    const failed = { kind: "deep_search", status: "failed", error_code: "INTERRUPTED" };
    expect(structured["runs"]).toMatchObject([{ task_id: taskId, ...failed }]);
    expect(read["note"]).toContain("It can be retried from the next round on.");
    // Nothing is repeated automatically.
    expect(scene.gemini.ledger.count()).toBe(2);
  });

  test("whose server is killed is interrupted in a window that was open before, and can be continued there (P2, Q1)", async (context) => {
    const scene = await openScene(context, STUCK_IN_ROUND_2);
    const other = await scene.server();
    const { server, taskId, call } = await reachRound2(scene);
    const status = () => other.call("check_research_status", { task_id: taskId });
    expect((await status()).structured["status"]).toBe("running");
    process.kill(server.pid, "SIGKILL");
    await waitFor(() => expect(isAlive(server.pid)).toBe(false), SOON);
    expect(await call).toBeUndefined();

    expect((await status()).structured).toMatchObject({ status: "failed", error: { code: "INTERRUPTED" } });
    const resumed = await other.call("resume_research", { task_id: taskId });
    expect(resumed.structured).toMatchObject({ success: true, status: "running" });
    expect(resumed.structured["task_id"]).not.toBe(taskId);
  });

  test("is not continued above a hard budget, and no run of it is left (Q1, T28)", async (context) => {
    const scene = await openScene(context, STUCK_IN_ROUND_2);
    const { server, taskId, call } = await reachRound2(scene);
    process.kill(server.pid, "SIGKILL");
    await call;
    const next = await scene.server({ env: { BUDGET_DAY_USD: "0.01/0.01" } });
    await readLater(next, taskId);
    const { structured } = await next.call("resume_research", { task_id: taskId });
    expect(structured).toMatchObject({ success: false, error: { code: "BUDGET_EXCEEDED" } });
    expect((await next.call("list_research", {})).structured["runs"]).toHaveLength(1);
    expect(scene.gemini.ledger.count()).toBe(2);
  });

  test("of a schedule is continued within what is left of its budget, as a run of it (Q1, I17, I18)", async (context) => {
    const scene = await openScene(context, STUCK_IN_ROUND_2);
    const { server, taskId, call } = await reachRound2(scene);
    process.kill(server.pid, "SIGKILL");
    await call;
    const next = await scene.server();
    await readLater(next, taskId);
    const sql = (text: string, ...values: (string | number)[]) =>
      sqlOn({ file: join(scene.configDir, "deep_research.db"), url: undefined }, text, values);
    const rows = ledgerOf(scene.configDir);
    const used = rows.reduce((sum, { micros }) => sum + micros, 0);
    const oneMore = Math.max(...rows.map(({ reserved_micros }) => reserved_micros));
    sql(
      `insert into schedules (schedule_id, owner, operation, input_json, rule_json, budget_micros, created_at, updated_at)
       values ('5c4ed01e', 'local', 'deep_search', '{}', '{}', ?, 0, 0)`,
      used + Math.floor(oneMore / 2),
    );
    sql("update research_tasks set schedule_id = '5c4ed01e'");
    sql("update ledger set schedule_id = '5c4ed01e'");
    scene.gemini.setScenario("never-verified");
    const resume = async () => (await next.call("resume_research", { task_id: taskId })).structured;
    expect(await resume()).toMatchObject({ error: { code: "BUDGET_EXCEEDED" } });
    expect((await next.call("list_research", {})).structured["runs"]).toHaveLength(1);

    // Room for one more round, of which the prompt may be longer.
    sql("update schedules set budget_micros = ?", used + oneMore + 5_000);
    const { task_id } = await resume();
    await waitFor(async () => {
      const { structured } = await next.call("check_research_status", { task_id });
      expect(structured["status"]).toBe("completed");
    }, SOON);
    expect((await next.call("get_research_results", { task_id })).structured).toMatchObject({
      note: expect.stringMatching(/^It ended after round 2: The budget of the schedule had \$0\.\d\d left\./),
    });
    expect(sql("select distinct schedule_id from ledger")).toEqual([{ schedule_id: "5c4ed01e" }]);
  });

  test("is continued within the limit of one run, which counts what it has used before (Q1, I13)", async (context) => {
    const scene = await openScene(context, STUCK_IN_ROUND_2);
    const { server, taskId, call } = await reachRound2(scene);
    process.kill(server.pid, "SIGKILL");
    await call;
    const rows = ledgerOf(scene.configDir);
    const used = rows.reduce((sum, { micros }) => sum + micros, 0);
    const oneMore = Math.max(...rows.map(({ reserved_micros }) => reserved_micros));
    const limitedTo = (micros: number) => ({ RESEARCH_CONFIRM_ABOVE_USD: `0/${(micros / 1_000_000).toFixed(3)}` });
    scene.gemini.setScenario("never-verified");

    const tight = await scene.server({ env: limitedTo(used + oneMore / 2) });
    await readLater(tight, taskId);
    expect((await tight.call("resume_research", { task_id: taskId })).structured["error"]).toMatchObject({
      code: "BUDGET_EXCEEDED",
      details: { used_usd: expect.closeTo(used / 1_000_000) },
    });
    // Room for one more round, of which the prompt may be longer.
    const wide = await scene.server({ env: limitedTo(used + oneMore + 5_000) });
    const resumed = await wide.call("resume_research", { task_id: taskId });
    const { task_id } = resumed.structured;
    await waitFor(async () => {
      const { structured } = await wide.call("check_research_status", { task_id });
      expect(structured["status"]).toBe("completed");
    }, SOON);
    const { structured: read } = await wide.call("get_research_results", { task_id });
    expect(read).toMatchObject({
      note: expect.stringMatching(/^It ended after round 2: The limit of a run is \$0\.\d\d\. \$0\.\d\d of it is used/),
    });
  });

  test("whose server is killed is listed as failed within seconds in a window that was open before (P2)", async (context) => {
    const scene = await openScene(context, STUCK_IN_ROUND_2);
    const other = await scene.server();
    await waitFor(() => expect(other.stderr()).toContain("Cleaned up 0"), SOON);
    const { server, taskId } = await reachRound2(scene);
    process.kill(server.pid, "SIGKILL");
    await waitFor(async () => {
      const { structured } = await other.call("list_research", { status: "failed" });
      expect(structured["runs"]).toMatchObject([{ task_id: taskId, status: "failed" }]);
    });
  });

  test("that its client cancels stops the request to Google and keeps round 1 (G8)", async (context) => {
    const scene = await openScene(context, STUCK_IN_ROUND_2);
    const controller = new AbortController();
    const { server, taskId, call } = await reachRound2(scene, { signal: controller.signal });
    controller.abort();
    expect(await call).toBeUndefined();
    expect(await readLater(server, taskId)).toMatchObject(round1("cancelled"));
    await waitFor(() => expect(scene.gemini.ledger.entries()[1]?.outcome).toBe("aborted"), SOON);
    expect(server.stderr()).not.toContain("Deep search round 3");
    expect(storedRun(scene.configDir, taskId)).toMatchObject({ status: "cancelled", error_code: "CANCELLED" });
  });

  test("ends with its server at the end of stdin, and keeps round 1 readable (G8, A8)", async (context) => {
    const scene = await openScene(context, STUCK_IN_ROUND_2);
    const { server, taskId, call } = await reachRound2(scene);
    const closing = server.close();
    await waitFor(() => expect(isAlive(server.pid)).toBe(false), SOON);
    await Promise.all([closing, call]);
    expect(storedRun(scene.configDir, taskId)).toMatchObject({ status: "failed", error_code: "INTERRUPTED" });
    expect(await readLater(await scene.server(), taskId)).toMatchObject(round1("failed"));
  });

  test("is left alone by another server that starts meanwhile, which reports its progress (P2, K2)", async (context) => {
    const scene = await openScene(context, STUCK_IN_ROUND_2);
    const { taskId } = await reachRound2(scene);
    const other = await scene.server();
    await waitFor(() => expect(other.stderr()).toContain("Cleaned up 0"), SOON);
    const { isError, structured } = await other.call("get_research_results", { task_id: taskId });
    expect(isError).toBe(true);
    expect(structured).toEqual({
      success: false,
      error: {
        code: "RESEARCH_NOT_COMPLETED",
        message: "This run is still in progress.",
        suggestion: expect.any(String),
        details: { current_action: "Round 2 of at most 5: verifying" },
      },
      task_id: taskId,
      status: "running",
      progress: 20,
    });
  });
});
