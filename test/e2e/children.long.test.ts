/**
 * Gemini CLI processes that misbehave, through the front door: the right answer is returned, and nothing is left
 * behind.
 */

import { describe, expect, test } from "vitest";
import type { StandinScenario } from "../../simulator/gemini-cli/standin-cli.ts";
import { startSimulator } from "../../simulator/server.ts";
import { type CliScene, openCliScene } from "../kit/simulator/cli-scene.ts";
import { peakMemory } from "../kit/server/processes.ts";
import { TEST_KEY, type ToolResult } from "../kit/server/server.ts";

const QUERY = "What is new in heat pumps?";
const MEGABYTE = 1_000_000;

const search = async (scene: CliScene, env: Record<string, string> = {}): Promise<ToolResult> =>
  (await scene.server({ env })).call("search", { query: QUERY });

const good = (answer: string): string => `\`\`\`json\n${JSON.stringify({ success: true, report: answer })}\n\`\`\``;

describe.concurrent("one call with a child", () => {
  test("that hangs ends with the timeout, without a second try (C8, C5, B4)", async (context) => {
    const scene = openCliScene(context, { hang: true });
    const { isError, structured } = await search(scene, { GEMINI_SEARCH_TIMEOUT: "5000" });
    expect(isError).toBe(true);
    expect(structured).toMatchObject({
      status: "failed",
      error: { code: "EXECUTION_ERROR", message: expect.stringMatching(/^The Gemini CLI did not finish within 5 s/) },
    });
    expect(scene.children()).toHaveLength(1);
    await scene.expectNothingLeft();
  });

  test("that ignores SIGTERM is ended by SIGKILL 5 s after the timeout (C5, T6)", async (context) => {
    const scene = openCliScene(context, { hang: true, ignoreSigterm: true });
    const started = performance.now();
    const { structured } = await search(scene, { GEMINI_SEARCH_TIMEOUT: "5000" });
    // Not sooner: the CLI writes its session record while it exits.
    expect(performance.now() - started).toBeGreaterThan(10_000);
    expect(structured).toMatchObject({ error: { code: "EXECUTION_ERROR" } });
    expect(scene.children()).toHaveLength(1);
    await scene.expectNothingLeft();
  });

  test("whose grandchild keeps stdout open does not wait for the grandchild (C5, C7, T6)", async (context) => {
    const scene = openCliScene(context, { forkMs: 600_000, ignoreSigterm: true });
    const { structured } = await search(scene);
    expect(structured).toMatchObject({ success: true, result: expect.stringContaining("Stand-in report") });
    expect(scene.children()).toMatchObject([{ grandchild: expect.any(Number) }]);
    await scene.expectNothingLeft();
  });

  test("that leaves a daemon in another process group does not wait for it, and ends it (C5, T6)", async (context) => {
    const scene = openCliScene(context, { forkMs: 600_000, forkDaemon: true });
    const { structured } = await search(scene);
    expect(structured).toMatchObject({ success: true, result: expect.stringContaining("Stand-in report") });
    await scene.expectNothingLeft();
  });

  test("that hangs together with its grandchild stops both (C5, T6)", async (context) => {
    const scene = openCliScene(context, { hang: true, forkMs: 600_000 });
    const { structured } = await search(scene, { GEMINI_SEARCH_TIMEOUT: "5000" });
    expect(structured).toMatchObject({ error: { code: "EXECUTION_ERROR" } });
    await scene.expectNothingLeft();
  });

  test("that writes characters in halves is decoded correctly (C6)", async (context) => {
    const report = "Kyōto 京都, café – “naïve” 👩‍👩‍👧 𝄞 ﷽";
    const scene = openCliScene(context, { text: good(report), splitCharacters: true });
    expect((await search(scene)).structured).toMatchObject({ success: true, result: report });
    await scene.expectNothingLeft();
  });

  test("that exits with 0 and prints nothing is tried three times and then fails (C8, E1, T7)", async (context) => {
    const scene = openCliScene(context, { silent: true });
    const { isError, structured } = await search(scene);
    expect(isError).toBe(true);
    expect(structured).toMatchObject({
      error: {
        code: "EXECUTION_ERROR",
        message: "The Gemini CLI ended without an answer. It was tried 3 times.",
        details: { exit_code: 0, retries: 3, corrections: 0 },
      },
    });
    expect(scene.children()).toHaveLength(3);
    await scene.expectNothingLeft();
  });

  test("that prints nothing once is retried (C8, E1)", async (context) => {
    const scene = openCliScene(context, { calls: [{ silent: true }, {}] });
    expect((await search(scene)).structured).toMatchObject({ success: true });
    expect(scene.children()).toHaveLength(2);
    await scene.expectNothingLeft();
  });

  const afterTheAnswer: [string, StandinScenario][] = [
    ["exits with 1", { exitCode: 1 }],
    ["exits with 1 without a word that it is done", { exitCode: 1, noResult: true }],
    ["never leaves", { hangAfterAnswer: true }],
  ];
  test.for(afterTheAnswer)("that %s after a whole answer succeeds (C7)", async ([, scenario], context) => {
    const scene = openCliScene(context, { ...scenario, text: good("Kept.") });
    expect((await search(scene)).structured).toMatchObject({ success: true, result: "Kept." });
    expect(scene.children()).toHaveLength(1);
    await scene.expectNothingLeft();
  });

  test("that only ever prints prose leaves no correction file behind (E3, E6, C7)", async (context) => {
    const scene = openCliScene(context, { text: "I would rather not write JSON." });
    const { structured } = await search(scene);
    expect(structured).toMatchObject({
      error: {
        code: "EXECUTION_ERROR",
        details: { retries: 3, corrections: 3, best_text: "I would rather not write JSON." },
      },
    });
    expect(scene.children()).toHaveLength(6);
    await scene.expectNothingLeft();
  });

  test("that cannot sign in fails at once, with what to do about it (C8, B11)", async (context) => {
    const scene = openCliScene(context, { silent: true, exitCode: 41 });
    const { structured } = await search(scene);
    expect(structured).toMatchObject({
      error: {
        code: "EXECUTION_ERROR",
        message: "The Gemini CLI could not sign in to Google.",
        suggestion: expect.stringMatching(/^Set GEMINI_API_KEY .*2026-06-18/),
        details: { exit_code: 41 },
      },
    });
    expect(scene.children()).toHaveLength(1);
    await scene.expectNothingLeft();
  });

  test("that cannot sign in falls back to the API if there is a key, and the answer says so (B11)", async (context) => {
    const gemini = await startSimulator();
    context.onTestFinished(() => gemini.close());
    const scene = openCliScene(context, { silent: true, exitCode: 41 });
    const env = { SEARCH_BACKEND: "auto", GEMINI_API_KEY: TEST_KEY, GOOGLE_GEMINI_BASE_URL: gemini.url };
    const server = await scene.server({ env });
    for (const _ of ["first", "second"]) {
      const { structured } = await server.call("search", { query: QUERY });
      expect(structured).toMatchObject({
        success: true,
        metadata: {
          model: "gemini-3.8-flash",
          notices: [expect.stringMatching(/^The Gemini CLI cannot sign in .*2026-06-18.* API was used instead\.$/)],
        },
      });
    }
    expect(scene.children(), "a sign-in that failed is not tried again").toHaveLength(1);
    expect(gemini.ledger.countByKind()).toEqual({ search: 2 });
    await scene.expectNothingLeft();
  });
});

/** T16. A server uses 85 MB during a search; 32 MB of output add about 130: read, decoded, joined, searched. */
const MAX_MEMORY_MB = 300;

test("a child that prints 100 MB is stopped, and the server stays small and answers the next call (C6, T16)", async (context) => {
  const scene = openCliScene(context);
  const server = await scene.server({ isMeasured: true });
  scene.script({ printBytes: 100 * MEGABYTE });
  const { isError, structured, text } = await server.call("search", { query: QUERY });
  expect(isError).toBe(true);
  expect(structured).toMatchObject({
    error: { code: "EXECUTION_ERROR", message: "The Gemini CLI printed more than 32 MB and was stopped." },
  });
  expect(peakMemory(server.pid)).toBeLessThan(MAX_MEMORY_MB);
  // A client closes the connection after a message of 10 MB, which contains the text twice.
  expect(text.length).toBeLessThan(2 * MEGABYTE);
  expect(scene.children()).toHaveLength(1);
  await scene.expectNothingLeft();
  const read = await server.call("get_research_results", { task_id: structured["task_id"] });
  expect(read.text.length).toBeLessThan(2 * MEGABYTE);
  scene.script({});
  expect((await server.call("search", { query: QUERY })).structured).toMatchObject({ success: true });
});

test("a child that writes 100 MB to stderr still answers, and only the end of stderr is kept (C6, T16)", async (context) => {
  // It does not exit by then: a process that exits immediately loses most of its output.
  const scene = openCliScene(context, { stderr: "x".repeat(100 * MEGABYTE), hangAfterAnswer: true });
  const server = await scene.server({ isMeasured: true });
  expect((await server.call("search", { query: QUERY })).structured).toMatchObject({ success: true });
  expect(peakMemory(server.pid), "next to nothing is added to the 85 MB").toBeLessThan(150);
  await scene.expectNothingLeft();
});
