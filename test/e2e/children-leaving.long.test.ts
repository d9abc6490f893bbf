/** A server that shuts down during a Gemini CLI call exits in time and leaves no process behind. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, type TestContext } from "vitest";
import type { StandinScenario } from "../../simulator/gemini-cli/standin-cli.ts";
import { type CliScene, openCliScene, roomsIn, SOON } from "../kit/simulator/cli-scene.ts";
import { isAlive } from "../kit/server/processes.ts";
import { announcedRun, BIN, type CallOptions, type RunningServer, type ToolResult } from "../kit/server/server.ts";
import { storedRun } from "../kit/store/stored-run.ts";
import { waitFor } from "../kit/wait-for.ts";
import { onBusyMachine } from "../kit/clock/time-limits.ts";

const QUERY = "What is new in heat pumps?";

/** A8: with nothing to wait for, and with a child that uses its second of grace. */
const LEAVES_WITHIN_MS = { polite: 1_500, stubborn: 3_500 };

const CHILDREN: Record<keyof typeof LEAVES_WITHIN_MS, StandinScenario> = {
  polite: { hang: true },
  stubborn: { hang: true, ignoreSigterm: true, forkMs: 600_000 },
};

/** Distinguishes a process that exited on its own from one that a signal ended. The child does not inherit it. */
const RECORD_EXIT = `--import=data:text/javascript,${encodeURIComponent(
  'import { writeFileSync } from "node:fs"; process.on("exit", (code) => writeFileSync(`${process.env.EXIT_RECORDS}/${process.pid}`, String(code)));',
)}`;

interface InCall {
  scene: CliScene;
  server: RunningServer;
  taskId: string;
  /** Resolves to undefined when the call was lost. */
  call: Promise<ToolResult | undefined>;
  /** Undefined while the server runs, and if it was killed. */
  exitCode: () => string | undefined;
}

/** A server with one running child. */
async function reachChild(context: TestContext, scenario: StandinScenario, options: CallOptions = {}): Promise<InCall> {
  const scene = openCliScene(context, scenario);
  const server = await scene.server({ env: { NODE_OPTIONS: RECORD_EXIT, EXIT_RECORDS: scene.folder } });
  const file = join(scene.folder, String(server.pid));
  const messages: string[] = [];
  const onProgress = (message: string): void => void messages.push(message);
  const call = server.call("search", { query: QUERY }, { ...options, onProgress }).catch(() => undefined);
  await waitFor(() => expect(scene.children()).toHaveLength(1), SOON);
  return {
    scene,
    server,
    taskId: await announcedRun(server.call, messages),
    call,
    exitCode: () => (existsSync(file) ? readFileSync(file, "utf8") : undefined),
  };
}

async function millisecondsToLeave(server: RunningServer, leave: (server: RunningServer) => void): Promise<number> {
  const started = performance.now();
  leave(server);
  await waitFor(() => expect(isAlive(server.pid)).toBe(false), SOON);
  return performance.now() - started;
}

/** What a later client sees. */
async function expectInterrupted({ scene, taskId }: InCall): Promise<void> {
  const later = await scene.server();
  const { structured } = await later.call("list_research", {});
  expect(structured["runs"]).toMatchObject([{ task_id: taskId, status: "failed" }]);
  expect((await later.call("get_research_results", { task_id: taskId })).structured).toMatchObject({
    error: { code: "RESEARCH_FAILED", details: { reason: "INTERRUPTED" } },
    status: "failed",
  });
}

const WAYS_TO_LEAVE: [string, (server: RunningServer) => void][] = [
  ["the end of stdin", (server) => void server.close()],
  ...(["SIGTERM", "SIGINT", "SIGHUP"] as const).map((signal): [string, (server: RunningServer) => void] => [
    signal,
    ({ pid }) => void process.kill(pid, signal),
  ]),
];

const KINDS = ["polite", "stubborn"] as const;

describe.each(KINDS)("with a %s child", (kind) => {
  test.for(WAYS_TO_LEAVE)("%s ends the server with exit code 0 and in time (A8, P2)", async ([, leave], context) => {
    const state = await reachChild(context, CHILDREN[kind]);
    const { scene, server, taskId, call, exitCode } = state;
    expect(await millisecondsToLeave(server, leave)).toBeLessThan(onBusyMachine(LEAVES_WITHIN_MS[kind]));
    expect(exitCode()).toBe("0");
    await scene.expectNothingLeft();
    await call;
    // Written by the server that exited, not by the next one.
    expect(storedRun(scene.configDir, taskId)).toMatchObject({ status: "failed", error_code: "INTERRUPTED" });
    await expectInterrupted(state);
    expect(scene.children(), "nothing is asked again").toHaveLength(1);
  });
});

describe.concurrent("a server and its children", () => {
  test.for(KINDS)(
    "a cancel by the client ends a %s child and keeps the server running (C5, L1)",
    async (kind, context) => {
      const controller = new AbortController();
      const { scene, server, taskId, call } = await reachChild(context, CHILDREN[kind], { signal: controller.signal });
      controller.abort();
      expect(await call).toBeUndefined();
      // The child that ignores signals has 5 s before it is killed.
      await waitFor(() => expect(storedRun(scene.configDir, taskId)?.["status"]).not.toBe("running"), {
        timeout: onBusyMachine(8_000),
        interval: 20,
      });
      await scene.expectNothingLeft();
      scene.script({});
      expect((await server.call("search", { query: QUERY })).structured).toMatchObject({ success: true });
      const { structured } = await (await scene.server()).call("list_research", { status: "cancelled" });
      expect(structured["runs"]).toMatchObject([{ task_id: taskId, status: "cancelled" }]);
      expect(storedRun(scene.configDir, taskId)).toMatchObject({ error_code: "CANCELLED" });
    },
  );

  test("a shutdown shortens the 5 s that a cancelled child still has (A8, C5)", async (context) => {
    const controller = new AbortController();
    const state = await reachChild(context, CHILDREN.stubborn, { signal: controller.signal });
    const { scene, server, taskId, call, exitCode } = state;
    controller.abort();
    await call;
    await server.call("list_research", {});
    const took = await millisecondsToLeave(server, ({ pid }) => void process.kill(pid, "SIGTERM"));
    expect(took).toBeLessThan(onBusyMachine(LEAVES_WITHIN_MS.stubborn));
    expect(exitCode()).toBe("0");
    await scene.expectNothingLeft();
    expect(["cancelled", "failed"]).toContain(storedRun(scene.configDir, taskId)?.["status"]);
  });

  test("a second signal does not shorten the shutdown that the first began (A8)", async (context) => {
    const { scene, server, exitCode } = await reachChild(context, CHILDREN.stubborn);
    process.kill(server.pid, "SIGINT");
    await new Promise((resolve) => setTimeout(resolve, 100));
    await millisecondsToLeave(server, ({ pid }) => void process.kill(pid, "SIGINT"));
    expect(exitCode()).toBe("0");
    await scene.expectNothingLeft();
  });

  test("children that a killed server left behind are stopped by the next server (C5, T6, P2)", async (context) => {
    const state = await reachChild(context, CHILDREN.stubborn);
    const { scene, server, taskId, call, exitCode } = state;
    process.kill(server.pid, "SIGKILL");
    expect(await call).toBeUndefined();
    expect(exitCode()).toBeUndefined();
    const [child] = scene.children();
    expect(isAlive(child?.pid ?? 0), "a mute child does not notice that its reader is gone").toBe(true);
    expect(roomsIn(scene.configDir)).toHaveLength(1);
    expect(storedRun(scene.configDir, taskId)).toMatchObject({ status: "running" });

    scene.script({});
    const next = await scene.server({ env: { GEMINI_CLI_MAX_CHILDREN: "1" } });
    const asked = performance.now();
    expect((await next.call("search", { query: QUERY })).structured).toMatchObject({ success: true });
    expect(performance.now() - asked, "the dead server's slot is free").toBeLessThan(10_000);
    await scene.expectNothingLeft();
    await waitFor(() => {
      expect(storedRun(scene.configDir, taskId)).toMatchObject({ status: "failed", error_code: "INTERRUPTED" });
    }, SOON);
  });

  test("a child that writes to a killed server exits on its own (T6)", async (context) => {
    const { scene, server, call } = await reachChild(context, { sleepMs: 300 });
    process.kill(server.pid, "SIGKILL");
    await call;
    await waitFor(() => expect(isAlive(scene.children()[0]?.pid ?? 0)).toBe(false), SOON);
  });
});

/** As a client of the 2026 era sends it. */
const searchRequest = (id: number, query: string): string =>
  `${JSON.stringify({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: {
      name: "search",
      arguments: { query },
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "test-client", version: "1.0.0" },
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    },
  })}\n`;

test("a client that no longer reads ends the server and its calls with the next message (A8)", async (context) => {
  const scene = openCliScene(context, {
    calls: [
      { prompt: "the quick one", sleepMs: 500 },
      { prompt: "the slow one", hang: true },
    ],
  });
  const server = spawn(process.execPath, [BIN], { env: scene.env, stdio: ["pipe", "pipe", "ignore"] });
  context.onTestFinished(() => void server.kill("SIGKILL"));
  const exit = once(server, "exit");
  server.stdin.write(searchRequest(1, "the quick one") + searchRequest(2, "the slow one"));
  await waitFor(() => expect(scene.children()).toHaveLength(2), SOON);
  server.stdout.destroy();
  expect(await exit).toEqual([0, null]);
  await scene.expectNothingLeft();
  const { structured } = await (await scene.server()).call("list_research", {});
  expect(structured["runs"]).toHaveLength(2);
  expect(structured["runs"]).toContainEqual(expect.objectContaining({ query: "the quick one", status: "completed" }));
  expect(structured["runs"]).toContainEqual(expect.objectContaining({ query: "the slow one", status: "failed" }));
});
