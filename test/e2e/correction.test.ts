/** Unusable answers: local repair, correction, retries, their cost, and the files and texts that are kept. */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openScene, type Scene } from "../kit/server/scene.ts";
import { missingFromText } from "../kit/server/answer-leaves.ts";
import { waitFor } from "../kit/wait-for.ts";

const QUERY = "How do heat pumps perform in cold climates?";
const ONCE = { JSON_MAX_RETRIES: "1" };

const correctionFiles = (scene: Scene): string[] =>
  readdirSync(scene.configDir).filter((name) => name.startsWith("temp-invalid-output-"));

const linesOf = (stderr: string, start: string): string[] =>
  stderr.split("\n").filter((line) => line.startsWith(start));

describe.concurrent("a cycle", () => {
  test("is one question and, if its answer holds no JSON, one correction (E1, D1)", async (context) => {
    const scene = await openScene(context, "bad-json");
    const server = await scene.server();
    const { structured } = await server.call("search", { query: QUERY });
    expect(structured).toMatchObject({ success: true, result: expect.stringContaining(`# ${QUERY}`) });
    expect(scene.gemini.ledger.entries().map((entry) => entry.kind)).toEqual(["search", "correct_json"]);
    expect(server.stderr()).toContain("[WARN] Main search failed: the answer contains no JSON. (");
    expect(server.stderr()).not.toContain("[ERROR]");
    expect(correctionFiles(scene)).toEqual([]);
  });

  test.for(["trailing-comma", "unescaped-quotes"] as const)(
    "needs no correction for JSON that local repair can read: %s (D1)",
    async (answer, context) => {
      const scene = await openScene(context, { name: answer, tasks: { search: [{ answer }] } });
      const { structured } = await (await scene.server()).call("search", { query: QUERY });
      expect(structured).toMatchObject({ success: true, result: expect.stringContaining('call this "settled"') });
      expect(scene.gemini.ledger.countByKind()).toEqual({ search: 1 });
    },
  );

  test("whose correction fails is followed by another cycle, after a second (E1, E5)", async (context) => {
    const scene = await openScene(context, "bad-json-twice");
    const server = await scene.server();
    const { structured } = await server.call("search", { query: QUERY });
    expect(structured["success"]).toBe(true);
    const [main, correction, again] = scene.gemini.ledger.entries();
    expect([main?.kind, correction?.kind, again?.kind]).toEqual(["search", "correct_json", "search"]);
    expect((again?.at ?? 0) - (correction?.at ?? 0)).toBeGreaterThanOrEqual(990);
    expect(scene.gemini.ledger.count()).toBe(3);
    expect(linesOf(server.stderr(), "[WARN] Main search failed: ")).toHaveLength(1);
    expect(linesOf(server.stderr(), "[ERROR] JSON correction failed: ")).toHaveLength(1);
  });

  test("is repeated three times, 1 s and 2 s apart; then the best text is returned with the error (E1, E5, E6)", async (context) => {
    const scene = await openScene(context, "always-bad");
    const server = await scene.server();
    const { isError, structured, text } = await server.call("search", { query: QUERY });
    expect(isError).toBe(true);
    expect(structured).toMatchObject({
      success: false,
      error: {
        code: "EXECUTION_ERROR",
        message: expect.stringMatching(/after 3 tries and 3 corrections\.$/),
        details: { retries: 3, corrections: 3, best_text: expect.stringContaining(`# ${QUERY}`) },
      },
      status: "failed",
    });
    expect(missingFromText(text, structured)).toEqual([]);

    const entries = scene.gemini.ledger.entries();
    const cycle = ["search", "correct_json"];
    expect(entries.map((entry) => entry.kind)).toEqual([...cycle, ...cycle, ...cycle]);
    const gap = (n: number): number => (entries[n]?.at ?? 0) - (entries[n - 1]?.at ?? 0);
    expect(gap(2)).toBeGreaterThanOrEqual(990);
    expect(gap(4)).toBeGreaterThanOrEqual(1_990);
    expect(linesOf(server.stderr(), "[WARN] Main search failed: ")).toHaveLength(3);
    expect(linesOf(server.stderr(), "[ERROR] JSON correction failed: ")).toHaveLength(3);
    expect(correctionFiles(scene)).toEqual([]);

    const stored = await server.call("get_research_results", { task_id: structured["task_id"] });
    expect(stored.structured).toMatchObject({
      partial: true,
      status: "failed",
      report: structured["error"].details.best_text,
    });
  });

  test("is done once with JSON_MAX_RETRIES=1, and ends when Google refuses its correction (B4)", async (context) => {
    const prose = [{ answer: "prose" as const }];
    const scene = await openScene(context, {
      name: "x",
      tasks: { search: prose, correct_json: [{ fault: "http-403" }] },
    });
    const server = await scene.server({ env: ONCE });
    const { structured } = await server.call("search", { query: QUERY });
    expect(structured["error"]).toMatchObject({ code: "EXECUTION_ERROR", details: { retries: 1, corrections: 1 } });
    expect(structured["error"].message).toContain("1 try and 1 correction");
    expect(scene.gemini.ledger.count()).toBe(2);
    expect(linesOf(server.stderr(), "[ERROR] JSON correction failed: Google does not allow")).toHaveLength(1);
  });

  test("whose answer is cut asks once more for a shorter one, and returns the longest text (E9)", async (context) => {
    const scene = await openScene(context, "truncated");
    const server = await scene.server();
    const { isError, structured, text } = await server.call("search", { query: QUERY });
    expect(isError).toBe(false);
    expect(structured).toMatchObject({
      success: true,
      incomplete: true,
      note: expect.stringMatching(/^This text breaks off/),
      result: expect.stringMatching(new RegExp(`^# ${QUERY.replace("?", "\\?")}\n`)),
    });
    expect(structured["result"]).not.toContain("Simulated by");
    expect(structured["metadata"].sources_visited.length).toBeGreaterThan(0);
    expect(missingFromText(text, structured)).toEqual([]);
    const entries = scene.gemini.ledger.entries();
    expect(entries.map(({ kind, shorter }) => [kind, shorter])).toEqual([
      ["search", false],
      ["search", true],
    ]);
    expect(linesOf(server.stderr(), "[WARN] Main search failed: the answer breaks off")).toHaveLength(2);
  });

  test("whose shorter answer is whole returns a whole answer (E9)", async (context) => {
    const scene = await openScene(context, { name: "cut once", tasks: { search: [{ answer: "truncated" }, {}] } });
    const server = await scene.server();
    const { structured } = await server.call("search", { query: QUERY });
    expect(structured).toMatchObject({ success: true, result: expect.stringContaining("Simulated by") });
    expect(structured).not.toHaveProperty("incomplete");
    expect(scene.gemini.ledger.countByKind()).toEqual({ search: 2 });
  });

  test.for([
    [{}, "Gemini reached its output limit."],
    [{ finish: "TOO_MANY_TOOL_CALLS" }, "Gemini called its search tools too often and was stopped."],
    [{ finish: "MALFORMED_FUNCTION_CALL" }, "Gemini ended it with a malformed tool call."],
    [{ finish: "OTHER" }, "Google ended it early."],
    [{ finish: "STOP" }, "Gemini did not finish it."],
    [{ breaks: "silence" }, "Its end did not arrive."],
  ] as const)("whose answer ends early as %j says why (E9)", async ([ending, cause], context) => {
    const step = { answer: "truncated" as const, ...ending };
    const scene = await openScene(context, {
      name: "early",
      tasks: { search: [step], deep_search: [step], verify: [step] },
    });
    const server = await scene.server();
    for (const [tool, input] of [
      ["search", {}],
      ["deep_search", { max_iterations: 2 }],
    ] as const) {
      const { structured } = await server.call(tool, { query: QUERY, ...input });
      expect(structured).toMatchObject({ success: true, incomplete: true });
      expect(structured["note"]).toContain(`This text breaks off: ${cause}`);
    }
  });

  test("that is the only one returns a cut answer at once (E9)", async (context) => {
    const scene = await openScene(context, "truncated");
    const server = await scene.server({ env: ONCE });
    const { structured } = await server.call("search", { query: QUERY });
    expect(structured).toMatchObject({ success: true, incomplete: true });
    expect(scene.gemini.ledger.countByKind()).toEqual({ search: 1 });
  });

  test("that is cut fails a verification round, but not a first round without any better result (E9)", async (context) => {
    const cut = [{ answer: "truncated" as const }];
    const checks = await openScene(context, { name: "cut checks", tasks: { verify: cut } });
    const server = await checks.server();
    const checked = await server.call("deep_search", { query: QUERY, max_iterations: 2 });
    expect(checked.structured).toMatchObject({ success: true, verified: false, metadata: { iterations: 2 } });
    expect(checked.structured["metadata"].rounds).toHaveLength(1);
    expect(checked.structured).not.toHaveProperty("incomplete");
    const first = await openScene(context, { name: "cut first", tasks: { deep_search: cut, verify: cut } });
    const other = await first.server();
    const begun = await other.call("deep_search", { query: QUERY, max_iterations: 2 });
    expect(begun.structured).toMatchObject({ success: true, verified: false, incomplete: true });
    expect(begun.structured["note"]).toMatch(/^This text breaks off/);
  });

  test("does not accept an echo of the example as a result (D3)", async (context) => {
    const scene = await openScene(context, { name: "echo", tasks: { search: [{ answer: "echo" }, {}] } });
    const server = await scene.server();
    const { structured } = await server.call("search", { query: QUERY });
    expect(structured["result"]).toContain(`# ${QUERY}`);
    expect(scene.gemini.ledger.countByKind()).toEqual({ search: 2, correct_json: 1 });
    expect(server.stderr()).toContain("[WARN] Main search failed: the answer only repeats the prompt.");
  });
});

const PROMPT_THAT_SHOWS_THE_FILE = `# Task: correct JSON

-----BEGIN QUESTION-----
{{file}}
-----END QUESTION-----

-----BEGIN INVALID OUTPUT-----
{{output}}
-----END INVALID OUTPUT-----

\`\`\`json
{{example}}
\`\`\`
`;

const SLOW_CORRECTION = {
  name: "slow-correction",
  tasks: { search: [{ answer: "prose" as const }], correct_json: [{ latency_ms: 700 }] },
};

const SOON = { interval: 5 };

async function fileDuringCorrection(scene: Scene): Promise<string> {
  await waitFor(() => expect(correctionFiles(scene)).toHaveLength(1), SOON);
  return join(scene.configDir, correctionFiles(scene)[0] ?? "");
}

describe.concurrent("the invalid output", () => {
  test("is in a private file that the correction names, and is deleted afterwards (E2, E3)", async (context) => {
    const scene = await openScene(context, SLOW_CORRECTION);
    // The ledger shows the text in place of the question.
    writeFileSync(join(scene.configDir, "correction-prompt.md"), PROMPT_THAT_SHOWS_THE_FILE);
    const server = await scene.server({ env: { GEMINI_SEARCH_TEMPLATES_DIR: scene.configDir } });
    const call = server.call("search", { query: QUERY });
    const file = await fileDuringCorrection(scene);
    expect(file).toMatch(/temp-invalid-output-\d{13}\.txt$/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await waitFor(() => expect(readFileSync(file, "utf8")).toContain("Here is what I found."), SOON);
    expect((await call).structured["success"]).toBe(true);
    expect(scene.gemini.ledger.entries()[1]).toMatchObject({ kind: "correct_json", question: file });
    expect(existsSync(file)).toBe(false);
  });

  test("of two answers that fail at once is in two files (E2)", async (context) => {
    const scene = await openScene(context, SLOW_CORRECTION);
    const server = await scene.server();
    const calls = [1, 2, 3].map((n) => server.call("search", { query: `${QUERY} (${n})` }));
    await waitFor(() => expect(correctionFiles(scene)).toHaveLength(3), SOON);
    for (const [index, { structured }] of (await Promise.all(calls)).entries()) {
      expect(structured["result"]).toContain(`(${index + 1})`);
    }
    expect(correctionFiles(scene)).toEqual([]);
  });

  test("is deleted when the call is cancelled during the correction (E3)", async (context) => {
    const scene = await openScene(context, SLOW_CORRECTION);
    const server = await scene.server();
    const controller = new AbortController();
    const call = server.call("search", { query: QUERY }, { signal: controller.signal });
    const file = await fileDuringCorrection(scene);
    controller.abort();
    await expect(call).rejects.toThrow();
    await waitFor(() => expect(existsSync(file)).toBe(false), SOON);
    expect(linesOf(server.stderr(), "[ERROR]")).toEqual([]);
  });

  test("that cannot be deleted is logged as an error, and the answer is still returned (E3)", async (context) => {
    const scene = await openScene(context, SLOW_CORRECTION);
    const server = await scene.server();
    const call = server.call("search", { query: QUERY });
    const file = await fileDuringCorrection(scene);
    // A directory of that name resists deletion even by root.
    rmSync(file);
    mkdirSync(file);
    expect((await call).structured["success"]).toBe(true);
    expect(server.stderr()).toMatch(/^\[ERROR\] The temporary file temp-invalid-output-\d+\.txt could not be deleted/m);
  });
});
