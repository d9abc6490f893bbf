/** The official conformance suite against the built server over HTTP: both protocol eras, and the tasks extension. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, type TestContext } from "vitest";
import {
  EXPECTED_FAILURES,
  expectedFailures,
  judge,
  type Judgement,
  runSuite,
  type SuiteRun,
} from "../kit/server/conformance.ts";
import { type RunningHttpServer, startHttpServer } from "../kit/server/http-server.ts";
import { ROOT } from "../kit/server/server.ts";

const WITH_FIXTURES = join(ROOT, "dist-failpoints/conformance.js");
/** The suite waits long in between, and the machine may be busy. */
const SUITE_TIMEOUT_MS = 240_000;

/** The suite sends no token. */
async function serve(context: TestContext, build: "product" | "test build"): Promise<RunningHttpServer> {
  const server = await startHttpServer({
    args: ["--no-auth"],
    ...(build === "product" ? {} : { program: [WITH_FIXTURES] }),
  });
  context.onTestFinished(() => server.close());
  return server;
}

/** Logged in every run, because a suite that checks nothing passes, too. */
function report(what: string, { passed, expected, skipped, unexpected, stale }: Judgement): void {
  const rest = `${expected} known, ${skipped} skipped, ${unexpected.length} unexpected, ${stale.length} stale`;
  process.stdout.write(`conformance ${what}: ${passed} checks passed, ${rest}\n`);
}

async function required(context: TestContext, revision: string): Promise<SuiteRun> {
  const { url } = await serve(context, "test build");
  return runSuite(`${url}/mcp`, ["--requirements", revision, "--expected-failures", EXPECTED_FAILURES]);
}

describe("official conformance suite", () => {
  test(
    "passes for 2026-07-28: everything required, and the whole tasks extension",
    { timeout: SUITE_TIMEOUT_MS },
    async (context) => {
      const run = await required(context, "2026-07-28");
      const judgement = judge(run, expectedFailures("server"));
      report("2026-07-28", judgement);
      expect(judgement).toMatchObject({ unexpected: [], stale: [] });
      expect(run.code, run.output).toBe(0);
      expect(judgement.passed).toBeGreaterThanOrEqual(LEAST_PASSED["2026-07-28"]);
      const tasks = [...run.scenarios].filter(([name]) => name.startsWith("tasks-"));
      expect(tasks).toHaveLength(10);
      const idle = tasks.filter(([, checks]) => checks.every(({ status }) => status !== "SUCCESS"));
      expect(idle.map(([name]) => name)).toEqual(["tasks-status-notifications"]);
    },
  );

  test("passes for 2025-11-25: everything required", { timeout: SUITE_TIMEOUT_MS }, async (context) => {
    const run = await required(context, "2025-11-25");
    const judgement = judge(run, expectedFailures("server"));
    report("2025-11-25", judgement);
    expect(judgement).toMatchObject({ unexpected: [], stale: [] });
    expect(run.code, run.output).toBe(0);
    expect(judgement.passed).toBeGreaterThanOrEqual(LEAST_PASSED["2025-11-25"]);
  });

  test("passes for the shipped product: all that needs no fixture", { timeout: SUITE_TIMEOUT_MS }, async (context) => {
    const { url } = await serve(context, "product");
    const scenarios: SuiteRun["scenarios"] = new Map();
    for (const [revision, scenario] of WITHOUT_FIXTURES) {
      const run = await runSuite(`${url}/mcp`, ["--scenario", scenario, "--spec-version", revision]);
      expect([...run.scenarios.keys()], run.output).toEqual([scenario]);
      for (const [name, checks] of run.scenarios) scenarios.set(name, checks);
    }
    const judgement = judge({ code: 0, output: "", scenarios }, expectedFailures("product"));
    report("product", judgement);
    expect(judgement).toMatchObject({ unexpected: [], stale: [] });
    expect(judgement.passed).toBeGreaterThanOrEqual(LEAST_PASSED.product);
  });

  test("every known failure has a reason", () => {
    const known = [...expectedFailures("server"), ...expectedFailures("product")];
    expect(known.length).toBeGreaterThan(0);
    expect(known.filter(({ entry, reason }) => !entry.includes(":") || reason.length < 10)).toEqual([]);
  });
});

/** A suite that skips more than before needs a review. */
const LEAST_PASSED = { "2026-07-28": 190, "2025-11-25": 80, product: 65 };

const WITHOUT_FIXTURES: [revision: string, scenario: string][] = [
  ["2026-07-28", "server-stateless"],
  ["2026-07-28", "tools-list"],
  ["2026-07-28", "resources-list"],
  ["2026-07-28", "prompts-list"],
  ["2026-07-28", "sep-2164-resource-not-found"],
  ["2026-07-28", "caching"],
  ["2026-07-28", "http-header-validation"],
  ["2026-07-28", "dns-rebinding-protection"],
  ["2026-07-28", "server-sse-multiple-streams"],
  ["2025-11-25", "server-initialize"],
  ["2025-11-25", "server-session-lifecycle"],
  ["2025-11-25", "ping"],
];

test("fixtures are in the test build only", async (context) => {
  const named = async (build: "product" | "test build"): Promise<string[]> => {
    const { client } = await (await serve(context, build)).connect();
    const [{ tools }, { prompts }] = [await client.listTools(), await client.listPrompts()];
    return [...tools, ...prompts].map(({ name }) => name);
  };
  const product = new Set(await named("product"));
  const fixtures = (await named("test build")).filter((name) => !product.has(name));
  expect(fixtures.length).toBeGreaterThan(30);
  const shipped = readdirSync(join(ROOT, "dist"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8"));
  const inside = fixtures.filter((name) => shipped.some((text) => new RegExp(`\\b${name}\\b`).test(text)));
  expect(inside).toEqual([]);
  expect(shipped.filter((text) => text.includes("test://"))).toEqual([]);
});
