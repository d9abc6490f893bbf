/** `save` at the terminal: files that are named by the title, or by the user. */

import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, type TestContext } from "vitest";
import { atTerminal, hasDialogues } from "../kit/server/dialogue.ts";
import { openHttpScene } from "../kit/server/http-server.ts";
import { openResearch, startRun, untilStatus } from "../kit/server/research.ts";
import { openScene, type Scene } from "../kit/server/scene.ts";

const QUERY = "How do heat pumps perform in cold climates?";
const NAME = "How do heat pumps perform in cold climates";

interface Searched extends Scene {
  run: string;
  work: string;
  /** `save` in an empty working directory. */
  save(...args: string[]): ReturnType<Scene["command"]>;
}

async function openSearched(context: TestContext): Promise<Searched> {
  const scene = await openScene(context);
  const { stdout } = await scene.command(["search", QUERY, "--json"]);
  const work = join(scene.configDir, "work");
  mkdirSync(work);
  const run: string = JSON.parse(stdout).metadata.task_id;
  return { ...scene, run, work, save: (...args) => scene.command(["save", run, ...args], { cwd: work }) };
}

test("a saved file is named by its title, and numbered when the name is taken (N6)", async (context) => {
  const { run, work, save, command, gemini } = await openSearched(context);
  const requests = gemini.ledger.count();
  for (const name of [`${NAME}.md`, `${NAME} (2).md`]) {
    const { code, stdout } = await save();
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${join(work, "research_reports", name)}\n` });
  }
  expect(readFileSync(join(work, "research_reports", `${NAME}.md`), "utf8")).toMatch(`# ${QUERY}\n`);
  await command(["edit", run, "--title", "../CON: heat & cold?"]);
  expect((await save("-o", work)).stdout).toBe(`${join(work, "CON heat & cold.md")}\n`);
  await command(["edit", run, "--title", "Heat pumps, Nordic"]);
  for (const [format, title] of [
    ["md", /^# Heat pumps, Nordic$/m],
    ["html", /<title>Heat pumps, Nordic<\/title>[^]*<h1[^>]*>Heat pumps, Nordic<\/h1>/],
  ] as const) {
    await save("-o", `nordic.${format}`);
    const text = readFileSync(join(work, `nordic.${format}`), "utf8");
    expect(text).toMatch(title);
    expect(text.match(/^# /gm) ?? []).toHaveLength(format === "md" ? 1 : 0);
  }
  expect((await save("--output-dir", work, "--filename-prefix", "mine")).stdout).toMatch(
    new RegExp(`/${new Date().getUTCFullYear()}-\\d\\d/mine_${run}_\\d{8}_\\d{6}\\.md\\n$`),
  );
  expect(gemini.ledger.count()).toBe(requests);
});

test("the ending of a named file is its format, and a file that exists is replaced only on request (N6)", async (context) => {
  const { work, save, command, run } = await openSearched(context);
  const report = join(work, "new folder", "report.html");
  expect((await save("-o", "new folder/report.html")).stdout).toBe(`${report}\n`);
  expect(readFileSync(report, "utf8")).toMatch(/^<!doctype html>/);
  expect((await save("-o", "report.json")).code).toBe(0);
  const shown = JSON.parse((await command(["show", run, "--json"])).stdout);
  const { report: text, sources } = JSON.parse(readFileSync(join(work, "report.json"), "utf8"));
  expect({ report: text, sources }).toEqual({ report: shown.report, sources: shown.sources });
  expect((await save("-o", "sources.bib")).code).toBe(0);
  expect(readFileSync(join(work, "sources.bib"), "utf8")).toMatch(/^@/);

  writeFileSync(join(work, "mine.md"), "my own text");
  const refused = await save("-o", "mine.md");
  expect(refused).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(/mine\.md exists.*--force/s) });
  expect(readFileSync(join(work, "mine.md"), "utf8")).toBe("my own text");
  expect((await save("-o", "mine.md", "--force", "--no-sources", "--no-metadata")).code).toBe(0);
  expect(readFileSync(join(work, "mine.md"), "utf8")).toMatch(/^# /);
  expect(readFileSync(join(work, "mine.md"), "utf8")).not.toMatch(/## Sources|Task ID/);

  // Neither a link nor an unknown format.
  symlinkSync(join(work, "mine.md"), join(work, "link.md"));
  expect(await save("-o", "link.md", "--force")).toMatchObject({ code: 1, stderr: expect.stringContaining("link") });
  expect(await save("-o", "report.odt")).toMatchObject({ code: 2, stderr: expect.stringContaining("--format") });
  expect((await save("-o", "report.odt", "--format", "md")).code).toBe(0);
  expect(readdirSync(work).filter((name) => name.startsWith("."))).toEqual([]);
});

test.skipIf(!hasDialogues)("at a terminal `save` asks before it replaces a file (N6)", async (context) => {
  const { work, env, run } = await openSearched(context);
  const file = join(work, "mine.md");
  writeFileSync(file, "my own text");
  const answering = (typed: string) =>
    atTerminal(`save ${run} -o mine.md`, { env, cwd: work, dialogue: [["Replace it? [y/N]", typed]] });
  expect(await answering("\n")).toMatchObject({ code: 1, seen: expect.stringContaining("Nothing was saved.") });
  expect(readFileSync(file, "utf8")).toBe("my own text");
  expect(await answering("y\n")).toMatchObject({ code: 0, seen: expect.stringContaining("Saved to") });
  expect(readFileSync(file, "utf8")).toContain(QUERY);
});

test("the page names downloads by the title, in any script (N6)", async (context) => {
  const scene = await openHttpScene(context);
  const { stdout } = await scene.command(["search", QUERY, "--json"]);
  const run: string = JSON.parse(stdout).metadata.task_id;
  await scene.command(["edit", run, "--title", "Wärme: 热泵"]);
  const server = await scene.http();
  const { headers } = await server.request(`/api/runs/${run}/report.md`);
  const encoded = encodeURIComponent("Wärme 热泵.md");
  expect(headers.get("content-disposition")).toBe(`attachment; filename="W_rme _.md"; filename*=UTF-8''${encoded}`);
});

test("follow-ups, tables and verdicts are saved with the report on request (N8)", async (context) => {
  const scene = await openResearch(context);
  const server = await scene.server();
  const run = await startRun(server);
  await untilStatus(server, run, "completed");
  const ask = async (input: object): Promise<void> => {
    const { structured } = await server.call("ask_followup", { task_id: run, ...input });
    await untilStatus(server, structured["task_id"], "completed");
  };
  await ask({ question: "And in Japan?" });
  scene.play({ answer: JSON.stringify({ rows: [{ c1: { value: "Nordic Heat", sources: [1] } }] }) });
  await ask({ question: "One row per heat pump.", columns: ["Maker"] });
  const saved = async (name: string, ...args: string[]): Promise<string> => {
    const file = join(scene.configDir, name);
    expect((await scene.command(["save", run, "-o", file, ...args])).stdout).toBe(`${file}\n`);
    return readFileSync(file, "utf8");
  };
  const headings = (text: string): string[] => text.match(/^## .*/gm) ?? [];
  const alone = headings(await saved("alone.md"));
  const whole = await saved("whole.md", "--with", "verdicts, followups,tables");
  expect(headings(whole).slice(0, -2)).toEqual([
    ...alone.slice(0, -2),
    "## Checked citations",
    "## Follow-up: And in Japan?",
    expect.stringMatching(/^## Table of .*Maker/),
  ]);
  expect(headings(whole).slice(-2)).toEqual(["## Sources", "## About this report"]);
  expect(whole).toContain("No citation of this report has been checked.");
  expect(whole).toMatch(/^\| Nordic Heat *\\\[\[1\]\\\] \|$/m);
  const html = await saved("whole.html", "--with", "tables");
  expect(html).toMatch(/<td>Nordic Heat *<sup class="cite"><a [^>]*href="#source-1"/);
  expect(html).not.toContain("And in Japan?");
  for (const wrong of [
    ["--with", "pictures"],
    ["--format", "json", "--with", "tables"],
  ])
    expect((await scene.command(["save", run, ...wrong])).code).toBe(2);
});
