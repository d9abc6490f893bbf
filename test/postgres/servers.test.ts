/** The built servers on PostgreSQL, as on several machines: each with its own config directory. */

import { execFile } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test, type TestContext } from "vitest";
import { onServer, TAKE_OVER_MS } from "../kit/store/databases.ts";
import { openHttpScene } from "../kit/server/http-server.ts";
import { openResearch, QUERY, type ResearchScene, SLOW, startRun, untilStatus } from "../kit/server/research.ts";
import { ROOT, type RunningServer, temporaryDirectory } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

/** Starts a server that shares only the database with the others, possibly with a clock that differs from theirs. */
function startOtherServer(
  context: TestContext,
  scene: ResearchScene,
  clockShiftMs = 0,
  env: Record<string, string> = {},
): Promise<RunningServer> {
  const directory = temporaryDirectory();
  context.onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, "clock-shift");
  writeFileSync(file, String(clockShiftMs));
  const shifted = { TEST_CLOCK_SHIFT_FILE: file, NODE_OPTIONS: `--import=${SHIFTED_CLOCK}` };
  const clock = clockShiftMs === 0 ? {} : shifted;
  return scene.server({ env: { GEMINI_SEARCH_CONFIG_DIR: directory, HOME: directory, ...clock, ...env } });
}

const SHIFTED_CLOCK = join(ROOT, "test/kit/clock/shifted-clock.ts");
const MINUTE_MS = 60_000;

test.for([-20, 20])(
  "a server whose clock is off by %i minutes joins the same start, and its own are joined (I9)",
  async (minutes, context) => {
    const scene = await openResearch(context, SLOW);
    const [server, other] = [await scene.server(), await startOtherServer(context, scene, minutes * MINUTE_MS)];
    expect(await startRun(other)).toBe(await startRun(server));
    const another = "Which heat pumps are quiet?";
    expect(await startRun(server, another)).toBe(await startRun(other, another));
    expect(scene.accepted()).toBe(2);
  },
);

test("a server whose clock is a day ahead counts the same budget (I13, T28)", async (context) => {
  const scene = await openResearch(context, SLOW);
  await startRun(await scene.server());
  const other = await startOtherServer(context, scene, 25 * 60 * MINUTE_MS, {
    BUDGET_DAY_USD: "3",
  });
  const { structured } = await other.call("start_deep_research", { query: "Which heat pumps are quiet?" });
  expect(structured["error"]).toMatchObject({ code: "CONFIRMATION_NEEDED", details: { limit_usd: 3 } });
  expect(scene.accepted()).toBe(1);
});

test("two servers join one start, and each lists, follows and returns it (I9, J1, K1, Q2)", async (context) => {
  const scene = await openResearch(context);
  const servers = [await scene.server(), await startOtherServer(context, scene)];
  const starts = await Promise.all(
    servers.flatMap((server) => [1, 2, 3].map(() => server.call("start_deep_research", { query: QUERY }))),
  );
  const ids = new Set(starts.map(({ structured }) => structured["task_id"]));
  expect(ids.size).toBe(1);
  expect(scene.accepted()).toBe(1);
  const [task_id] = ids;
  for (const server of servers) {
    await untilStatus(server, task_id, "completed");
    const { structured } = await server.call("get_research_results", { task_id });
    expect(structured).toMatchObject({ success: true, report: expect.stringContaining("#") });
    expect((await server.call("list_research", {})).structured["runs"]).toHaveLength(1);
  }
  expect(readdirSync(scene.configDir).filter((name) => name.includes(".db"))).toEqual([]);
});

test("after a kill -9 another server continues the run, and nothing is paid twice (P2, I8)", async (context) => {
  const scene = await openResearch(context, SLOW);
  const [first, second] = [await scene.server(), await startOtherServer(context, scene)];
  const task_id = await startRun(first);
  process.kill(first.pid, "SIGKILL");
  scene.gemini.skip(8 * 60_000);
  await untilStatus(second, task_id, "completed", TAKE_OVER_MS);
  expect(scene.accepted()).toBe(1);
});

test("while the database refuses connections the paid run is not lost, and nothing is sent twice (P5, I8)", async (context) => {
  const scene = await openResearch(context, SLOW);
  const server = await scene.server();
  const task_id = await startRun(server);
  const database = new URL(scene.env["GEMINI_SEARCH_DATABASE_URL"] ?? "").pathname.slice(1);
  await onServer(`alter database ${database} with allow_connections false`);
  await onServer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`);
  const refused = await server.call("check_research_status", { task_id });
  expect(refused.structured).toMatchObject({ success: false, error: { code: "SQLITE_ERROR" } });
  await onServer(`alter database ${database} with allow_connections true`);
  scene.gemini.skip(8 * 60_000);
  // Right after the outage a status call may fail; the poll that it interrupted is retried like one of a killed process.
  await waitFor(() => untilStatus(server, task_id, "completed"), { timeout: TAKE_OVER_MS });
  expect(scene.accepted()).toBe(1);
  expect(server.stderr()).not.toContain(passwordOf(scene));
});

const passwordOf = (scene: ResearchScene): string => new URL(scene.env["GEMINI_SEARCH_DATABASE_URL"] ?? "").password;

test("serve accepts a token that was added on another machine, until it is revoked there (A9)", async (context) => {
  const scene = await openHttpScene(context);
  const other = temporaryDirectory();
  context.onTestFinished(() => rmSync(other, { recursive: true, force: true }));
  const there = { env: { GEMINI_SEARCH_CONFIG_DIR: other, HOME: other } };
  const { stdout } = await scene.command(["token", "add", "ann"], there);
  const server = await scene.http();
  const client = await server.connect("modern", stdout.trim());
  expect((await client.call("list_research", {})).structured).toMatchObject({ success: true, runs: [] });
  await scene.command(["token", "revoke", "ann"], there);
  const headers = { authorization: `Bearer ${stdout.trim()}` };
  expect((await fetch(`${server.url}/mcp`, { method: "POST", headers })).status).toBe(401);
});

test("the database password is in no answer, log or file; doctor names host and database only (T9)", async (context) => {
  const scene = await openResearch(context);
  const server = await scene.server({ env: { DEBUG: "true" } });
  await startRun(server);
  const doctor = await scene.command(["doctor", "--offline"]);
  expect(doctor.stdout).toMatch(/PostgreSQL at 127\.0\.0\.1:\d+\/test_/);
  const files = readdirSync(scene.configDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
  const password = passwordOf(scene);
  const wrong = await scene.command(["list"], {
    env: { GEMINI_SEARCH_DATABASE_URL: `postgres://ann:${password}@127.0.0.1:1/x` },
  });
  expect(wrong.code).toBe(1);
  const said = [server.stderr(), doctor.stdout, doctor.stderr, wrong.stdout, wrong.stderr, ...files].join("\n");
  for (const spelled of [password, decodeURIComponent(password)]) expect(said).not.toContain(spelled);
});

test("without the driver the answer says what to install, and where (P7)", async (context) => {
  const scene = await openResearch(context);
  const place = join(temporaryDirectory(), "node_modules", "gemini-search-mcp");
  context.onTestFinished(() => rmSync(join(place, "../.."), { recursive: true, force: true }));
  await mkdir(place, { recursive: true });
  for (const name of ["bin", "dist", "prompts", "package.json"])
    await cp(join(ROOT, name), join(place, name), { recursive: true });
  const program = [join(place, "bin/gemini-search-mcp.js"), "list"];
  const { stderr } = await promisify(execFile)(process.execPath, program, { env: scene.env }).catch(
    (failure: { stderr: string }) => failure,
  );
  expect(stderr).toContain("the driver for PostgreSQL is not installed");
  expect(stderr).toContain(`Run this in ${join(place, "../..")}: npm install pg pg-boss@12.35.0`);
});
