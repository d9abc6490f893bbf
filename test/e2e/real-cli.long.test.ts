/**
 * The real Gemini CLI under the built server, with the simulator as Google: true sources, lean requests, no recursion.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, test, type TestContext } from "vitest";
import { type Simulator, startSimulator } from "../../simulator/server.ts";
import { fillPrompt } from "../kit/simulator/prompts.ts";
import { startCommand } from "../kit/server/command.ts";
import { type CliScene, openCliScene } from "../kit/simulator/cli-scene.ts";
import { type ListeningProxy, listenIn } from "../kit/services/listening-proxy.ts";
import { type Era, ROOT, type RunningServer, TEST_KEY } from "../kit/server/server.ts";

const QUERY = "How do heat pumps perform in cold climates?";
const PATH = [join(ROOT, "node_modules/.bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(":");

interface RealCli {
  scene: CliScene;
  gemini: Simulator;
  proxy: ListeningProxy;
  server: RunningServer;
}

async function openRealCli(context: TestContext, era: Era = "modern"): Promise<RealCli> {
  const gemini = await startSimulator();
  context.onTestFinished(() => gemini.close());
  const proxy = await listenIn(context, gemini.url);
  const scene = openCliScene(context);
  const env = { PATH, GEMINI_API_KEY: TEST_KEY, GOOGLE_GEMINI_BASE_URL: proxy.url };
  return { scene, gemini, proxy, server: await scene.server({ era, env }) };
}

/** The addresses and queries in the grounding of all responses, as sent over the network. */
function served({ received }: ListeningProxy): { sources: string[]; queries: string[] } {
  const all = received.join("\n");
  const each = (pattern: RegExp): string[] => [...new Set([...all.matchAll(pattern)].map(([, found = ""]) => found))];
  return {
    sources: each(/"uri":"(https:[^"]+)"/g).toSorted(),
    queries: each(/"webSearchQueries":\["([^"]+)"\]/g).toSorted(),
  };
}

const ERAS: Era[] = ["legacy", "modern"];

describe.each(ERAS)("for a %s client", (era) => {
  test("search answers with exactly the sources that Google served (F2, C4, E8)", async (context) => {
    const { scene, gemini, proxy, server } = await openRealCli(context, era);
    const { structured } = await server.call("search", { query: QUERY });
    const { sources_visited, search_queries_used, ...metadata } = structured["metadata"];
    expect(structured).toMatchObject({ success: true, result: expect.stringContaining(`# ${QUERY}`) });
    expect(sources_visited).toHaveLength(3);
    expect(sources_visited.toSorted()).toEqual(served(proxy).sources);
    expect(search_queries_used.toSorted()).toEqual(served(proxy).queries);
    expect(metadata).toMatchObject({ query: QUERY, model: "gemini-3.8-flash" });
    expect(metadata.tokens_used.output).toBeGreaterThan(50);
    expect(gemini.ledger.count("web_search")).toBe(1);
    await scene.expectNothingLeft();
  });

  test("deep_search answers with the sources of all its rounds (G2, G4, C4)", async (context) => {
    const { scene, gemini, proxy, server } = await openRealCli(context, era);
    const { structured } = await server.call("deep_search", { query: QUERY });
    const { task_id, sources_visited, sources_left_out, search_queries_used, rounds, iterations } =
      structured["metadata"];
    expect(structured).toMatchObject({ success: true, verified: true });
    const { structured: stored } = await server.call("get_research_results", { task_id });
    const urls: string[] = stored["sources"].map(({ url }: { url: string }) => url);
    expect(urls).toHaveLength(27);
    expect(urls.toSorted()).toEqual(served(proxy).sources);
    // Links that the report does not cite are only counted.
    expect([...sources_visited, ...urls.slice(-sources_left_out)]).toEqual(urls);
    expect(search_queries_used).toHaveLength(9);
    expect(search_queries_used.toSorted()).toEqual(served(proxy).queries);
    expect(iterations).toBe(3);
    expect(rounds.map((round: { sources_visited: string[] }) => round.sources_visited.length)).toEqual([6, 4, 5]);
    expect(gemini.ledger.count("web_search")).toBe(9);
    await scene.expectNothingLeft();
  });
});

const CLAIMED = "https://claimed.example/never-opened";

test("sources and queries are those the Gemini CLI visited, not those its model claims (F2, C4)", async (context) => {
  const { gemini, proxy, server } = await openRealCli(context);
  const answer = {
    success: true,
    report: `The answer is 42 ([source](${CLAIMED})).`,
    metadata: { sources_visited: [CLAIMED], search_queries_used: ["a query that nobody sent"] },
  };
  const step = { answer: "raw" as const, text: `\`\`\`json\n${JSON.stringify(answer)}\n\`\`\`` };
  gemini.setScenario({ name: "claims", tasks: { search: [step] } });
  const { structured } = await server.call("search", { query: QUERY });
  const { sources_visited, search_queries_used } = structured["metadata"];
  expect(structured["result"]).toBe(answer.report);
  expect(sources_visited).toHaveLength(3);
  expect(sources_visited.toSorted()).toEqual(served(proxy).sources);
  expect(search_queries_used).toEqual(served(proxy).queries);
});

/** As a user runs it after signing in: only the settings that headless mode needs offline. */
async function runDefaultCli(scene: CliScene, baseUrl: string): Promise<string> {
  const home = join(scene.folder, "default-home");
  mkdirSync(join(home, ".gemini"), { recursive: true });
  const settings = {
    security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
    privacy: { usageStatisticsEnabled: false },
  };
  writeFileSync(join(home, ".gemini/settings.json"), JSON.stringify(settings));
  const env = { PATH, HOME: home, TMPDIR: home, GEMINI_API_KEY: TEST_KEY, GOOGLE_GEMINI_BASE_URL: baseUrl };
  const child = spawn(join(ROOT, "node_modules/.bin/gemini"), ["--output-format", "json"], { cwd: home, env });
  child.stdin.end(fillPrompt("search", { query: QUERY }));
  const [output] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return output;
}

test("a search sends at most 0.12 of what a Gemini CLI with its own settings sends (C4)", async (context) => {
  const { scene, gemini, server } = await openRealCli(context);
  expect(await runDefaultCli(scene, gemini.url)).toContain('"response"');
  expect(gemini.ledger.count("web_search")).toBe(1);
  const byDefault = gemini.ledger.totalBytes();
  gemini.ledger.clear();
  expect((await server.call("search", { query: QUERY })).structured).toMatchObject({ success: true });
  expect(gemini.ledger.count("web_search")).toBe(1);
  expect(gemini.ledger.totalBytes(), `of ${byDefault} bytes`).toBeLessThanOrEqual(0.12 * byDefault);
});

test("a server that is started below its own Gemini CLI does not run (C4, T5)", async (context) => {
  const scene = openCliScene(context);
  await (await scene.server()).call("search", { query: QUERY });
  // What the child would pass on to a server in its settings.
  const depth = scene.children()[0]?.env["GEMINI_SEARCH_DEPTH"] ?? "";
  expect(depth).toBe("1");
  const env = { ...scene.env, GEMINI_SEARCH_DEPTH: depth };
  expect(await startCommand([], { env }).ended).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^\[ERROR\] .* does not run inside itself\. \([\d:.TZ-]{24}\)\n$/),
  });
  const { code, stdout } = await startCommand(["search", QUERY, "--json"], { env }).ended;
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    error: { code: "EXECUTION_ERROR", message: expect.stringContaining("does not start another") },
  });
  expect(scene.children()).toHaveLength(1);
});
