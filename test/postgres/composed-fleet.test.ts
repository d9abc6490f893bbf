/**
 * The processes of compose.yaml, without containers: they work together, survive a killed worker, and exit completely.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readComposition } from "../../scripts/compose-file.ts";
import { startFleet } from "../../scripts/fleet.ts";
import { scenarioSchema } from "../../simulator/scenario.ts";
import { emptyDatabase } from "../kit/store/databases.ts";
import { connectHttp } from "../kit/server/http-server.ts";
import { childrenOf, isAlive } from "../kit/server/processes.ts";
import { ROOT } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

/** Eight minutes of research in some seconds, long enough to kill a worker meanwhile. */
const scenario = scenarioSchema.parse({ name: "research", interactions: { speed: 100 } });
const environment = { RESEARCH_SYNC_WINDOW_MS: "0", RESEARCH_POLL_INTERVAL_MS: "100", RESEARCH_MAX_RPS: "100" };

test("the composed processes finish a research although a worker is killed, and all of them exit (P7, P2)", async (context) => {
  const database = await emptyDatabase();
  const fleet = await startFleet({ replicas: { server: 2 }, database, scenario, environment });
  context.onTestFinished(() => fleet.stop());
  const { processes, token } = fleet;
  const workers = processes.filter(({ service }) => service === "worker");
  expect(workers).toHaveLength(readComposition().services["worker"]?.deploy.replicas ?? 0);
  const [one, other] = await Promise.all(
    processes.flatMap(({ url }) => (url === undefined ? [] : [connectHttp(url, "modern", token)])),
  );
  const started = await one?.call("start_deep_research", { query: "How deep is the lake?" });
  const task_id: unknown = started?.structured["task_id"];
  await workers[0]?.end("SIGKILL");
  await waitFor(
    async () => {
      const status = await other?.call("check_research_status", { task_id });
      expect(status?.structured["status"]).toBe("completed");
    },
    { timeout: 50_000, interval: 250 },
  );
  const results = await other?.call("get_research_results", { task_id });
  expect(results?.structured).toMatchObject({ success: true, report: expect.stringContaining("#") });
  await Promise.all([one?.close(), other?.close()]);
  await fleet.stop();
  expect(processes.filter(({ pid }) => isAlive(pid))).toEqual([]);
  for (const { stderr } of processes) expect(stderr()).not.toContain(new URL(database).password);
});

test("Ctrl-C ends the command with its servers, its workers and its database", async (context) => {
  // Skips where PostgreSQL is not installed.
  await emptyDatabase();
  const script = spawn(process.execPath, [join(ROOT, "scripts/fleet.ts"), "--servers", "1", "--workers", "1"], {
    env: { PATH: process.env["PATH"] ?? "" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  context.onTestFinished(() => void script.kill("SIGKILL"));
  let output = "";
  script.stderr.on("data", (text: Buffer) => (output += text.toString()));
  await new Promise<void>((resolve, reject) => {
    script.stdout.on("data", (text: Buffer) => {
      output += text.toString();
      if (output.includes("Ctrl-C ends all processes.")) resolve();
    });
    script.once("exit", (code) => reject(new Error(`The command exited with ${code}:\n${output}`)));
  });
  expect(output).toMatch(/^server {2}pid \d+ {2}http:\/\/127\.0\.0\.1:\d+\/mcp$/m);
  expect(output).toMatch(/^worker {2}pid \d+$/m);
  const { living } = childrenOf(script.pid ?? 0);
  expect(living.length).toBeGreaterThanOrEqual(3);
  script.kill("SIGINT");
  const [code] = await once(script, "exit");
  expect(code).toBe(0);
  expect(living.filter(isAlive)).toEqual([]);
});
