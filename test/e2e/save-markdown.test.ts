/** Saving stored reports as files: directories, names, contents, and refusals. */

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { missingFromText } from "../kit/server/answer-leaves.ts";
import { openResearch, startRun, untilStatus } from "../kit/server/research.ts";
import { openScene, type Scene } from "../kit/server/scene.ts";
import type { RunningServer } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

const QUERY = "How do heat pumps perform in cold climates?";
const UNKNOWN_ID = "11111111-2222-4333-8444-555555555555";

async function searched(scene: Scene): Promise<{ server: RunningServer; task_id: string }> {
  const server = await scene.server();
  const { structured } = await server.call("search", { query: QUERY });
  return { server, task_id: structured["metadata"].task_id };
}

describe("save_research_to_markdown", () => {
  test("saves in exactly this shape, without any request (N1, R5)", async (context) => {
    const scene = await openScene(context);
    const { server, task_id } = await searched(scene);
    const requests = scene.gemini.ledger.count();
    const output_dir = join(scene.configDir, "my reports");
    const { isError, structured, text } = await server.call("save_research_to_markdown", { task_id, output_dir });
    expect(isError).toBe(false);
    expect(structured).toEqual({
      success: true,
      task_id,
      file_path: expect.any(String),
      filename: expect.stringMatching(new RegExp(`^research_${task_id}_\\d{8}_\\d{6}\\.md$`)),
      file_size_kb: expect.any(Number),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    const { file_path, filename, file_size_kb, created_at } = structured;
    expect(file_path).toBe(join(output_dir, created_at.slice(0, 7), filename));
    expect(filename).toContain(`_${created_at.slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "_")}.md`);
    expect(file_size_kb).toBeCloseTo(statSync(file_path).size / 1024, 2);
    expect(missingFromText(text, structured)).toEqual([]);
    expect(scene.gemini.ledger.count()).toBe(requests);

    const stored = (await server.call("get_research_results", { task_id })).structured;
    const file = readFileSync(file_path, "utf8");
    expect(file).toMatch(/^# .+\n\n\d{1,2} \w+ 20\d\d\n\n/);
    expect(file.startsWith(`# ${QUERY}\n`)).toBe(true);
    expect(file).toContain(`\n## About this report\n\n- **Query:** ${QUERY}\n- **Task ID:** ${task_id}\n`);
    expect(file.split("\n").filter((line) => line.startsWith("# "))).toHaveLength(1);
    expect(file).toContain("## Evidence");
    for (const { n, url } of stored["sources"]) {
      expect(file).toMatch(new RegExp(String.raw`^- \\\[${n}\\\] \[.*\]\[${n}\] `, "m"));
      expect(file).toContain(`\n[${n}]: ${url}\n`);
    }
  });

  test("cites in files and in the terminal wherever the agent does: before a colon and in a table, too (U3)", async (context) => {
    const scene = await openResearch(context);
    const server = await scene.server();
    const task_id = await startRun(server);
    await untilStatus(server, task_id, "completed");
    const { report } = (await server.call("get_research_results", { task_id })).structured;
    expect(report).toMatch(/these points \[\d+\]:\n/);
    expect(report).toMatch(/^\| \*\*2022\*\*\[\d+\] \|/m);
    const { stdout: path } = await scene.command(["save", task_id], { cwd: scene.configDir });
    const markdown = readFileSync(path.trim(), "utf8");
    const { stdout: shown } = await scene.command(["show", task_id]);
    for (const text of [markdown, shown]) expect(text).not.toContain("[cite:");
    const link = String.raw`\\\[\[\d+\]\\\]`;
    expect(markdown).toMatch(new RegExp(`these points ${link}:\n`));
    expect(markdown).toMatch(new RegExp(String.raw`^\| \*\*2022\*\*${link} \|`, "m"));
    expect(shown).toMatch(/these points \[\d+\]:\n/);
    expect(shown).toMatch(/^\| \*\*2022\*\*\[\d+\] \|/m);
  });

  test("saves again under the next free name, with any prefix, in both eras (N1, N2)", async (context) => {
    const scene = await openScene(context);
    const { server, task_id } = await searched(scene);
    const output_dir = join(scene.configDir, "reports");
    const input = { task_id, output_dir, filename_prefix: "../../escape: /etc" };
    const paths = [];
    for (const caller of [server, await scene.server({ era: "legacy" }), server]) {
      paths.push((await caller.call("save_research_to_markdown", input)).structured["file_path"]);
    }
    expect(new Set(paths).size).toBe(3);
    expect(paths.every((path) => path.startsWith(`${output_dir}/`) && existsSync(path))).toBe(true);
    expect(paths.map((path) => basename(path)).every((name) => name.startsWith("escape-etc_"))).toBe(true);
    expect(readdirSync(output_dir)).toHaveLength(1);
  });

  test("leaves metadata and sources out on request (N4)", async (context) => {
    const scene = await openScene(context);
    const { server, task_id } = await searched(scene);
    const output_dir = join(scene.configDir, "reports");
    const bare = { task_id, output_dir, include_metadata: false, include_sources: false };
    const file = readFileSync((await server.call("save_research_to_markdown", bare)).structured["file_path"], "utf8");
    expect(file).not.toContain(task_id);
    expect(file).not.toContain("- **");
    expect(file).not.toContain("## Sources");
  });

  test("saves to RESEARCH_REPORTS_DIR when it is set, else below the working directory (B10, N1)", async (context) => {
    const scene = await openScene(context);
    const { task_id } = await searched(scene);
    const cwd = join(scene.configDir, "work");
    mkdirSync(cwd);
    const chosen = join(scene.configDir, "chosen");
    for (const [env, place] of [
      [{}, join(cwd, "research_reports")],
      [{ RESEARCH_REPORTS_DIR: chosen }, chosen],
    ] as const) {
      const { stdout, code } = await scene.command(["save", task_id, "--json"], { cwd, env });
      expect(code).toBe(0);
      expect(JSON.parse(stdout).file_path.startsWith(`${place}/`)).toBe(true);
    }
  });

  test("answers with the status of an unfinished run, and saves the text of a cancelled one as PARTIAL (N3)", async (context) => {
    const scene = await openScene(context, { name: "slow rounds", tasks: { verify: [{ latency_ms: 60_000 }] } });
    const server = await scene.server();
    const stop = new AbortController();
    const lost = server.call("deep_search", { query: QUERY }, { signal: stop.signal }).catch(() => undefined);
    const output_dir = join(scene.configDir, "reports");
    const run = await waitFor(async () => {
      const [found] = (await server.call("list_research", {})).structured["runs"];
      expect(scene.gemini.ledger.count()).toBeGreaterThan(1);
      return found as { task_id: string };
    });
    const { task_id } = run;
    const early = await server.call("save_research_to_markdown", { task_id, output_dir });
    expect(early.isError).toBe(true);
    expect(early.structured).toMatchObject({ error: { code: "RESEARCH_NOT_COMPLETED" }, task_id, status: "running" });
    expect(existsSync(output_dir)).toBe(false);

    stop.abort();
    await lost;
    const saved = await waitFor(async () => {
      const late = await server.call("save_research_to_markdown", { task_id, output_dir });
      expect(late.isError).toBe(false);
      return late.structured;
    });
    expect(saved).toMatchObject({ partial: true, status: "cancelled" });
    expect(readFileSync(saved["file_path"], "utf8").split("\n")[0]).toContain("PARTIAL");
  });

  test("has an error code for each case: no such run, no text, no directory, bad input (N3, A6)", async (context) => {
    const scene = await openScene(context, "refusal");
    const server = await scene.server();
    const failed = await server.call("search", { query: QUERY });
    const { task_id } = failed.structured;
    writeFileSync(join(scene.configDir, "a file"), "");
    const good = await (await openScene(context)).server({ env: { GEMINI_SEARCH_CONFIG_DIR: scene.configDir } });
    const found = (await good.call("search", { query: QUERY })).structured["metadata"].task_id;
    for (const [input, code] of [
      [{ task_id: UNKNOWN_ID }, "TASK_NOT_FOUND"],
      [{ task_id }, "RESEARCH_FAILED"],
      [{ task_id: "../x" }, "INVALID_TASK_ID"],
      [{ task_id: found, output_dir: join(scene.configDir, "a file") }, "INVALID_INPUT"],
      [{ task_id: found, output_dir: "a\0b" }, "INVALID_INPUT"],
      [{ task_id: found, output_dir: " " }, "INVALID_INPUT"],
      [{ task_id: found, include_sources: "yes" }, "INVALID_INPUT"],
      [{ task_id: found, overwrite: true }, "INVALID_INPUT"],
    ] as const) {
      const { isError, structured } = await server.call("save_research_to_markdown", input);
      expect(isError).toBe(true);
      expect(structured["error"].code).toBe(code);
    }
  });
});
