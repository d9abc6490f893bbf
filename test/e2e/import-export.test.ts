/** Reports from elsewhere, and the archive of everything, through the terminal and the page. */

import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, type TestContext } from "vitest";
import { z } from "zod";
import { violations } from "../kit/browser/accessibility.ts";
import { browserInstalled, enterPage, openBrowser } from "../kit/browser/browser.ts";
import { openHttpScene } from "../kit/server/http-server.ts";
import { openResearch } from "../kit/server/research.ts";
import { openScene, type Scene } from "../kit/server/scene.ts";
import { unzip } from "../kit/unzip.ts";

const REPORT = `# Heat pumps in cold climates

They keep a COP of 2 at −15 °C ([Field study](https://study.example/cop?utm_source=chatgpt.com)). Prices fell by 12 percent.[^1]

[^1]: Price index, https://prices.example/2025
`;
const TITLE = "Heat pumps in cold climates";
const NOTED = "sluice";

/** A working directory of the scene with a report, last changed on a day in 2025. */
function withReport(scene: Pick<Scene, "command" | "configDir">) {
  const cwd = join(scene.configDir, "work");
  mkdirSync(cwd);
  const file = join(cwd, "report.md");
  writeFileSync(file, REPORT);
  utimesSync(file, new Date("2025-03-04"), new Date("2025-03-04"));
  return { cwd, file, run: (...args: string[]) => scene.command(args, { cwd }) };
}

const imported = z.object({
  imported: z.number(),
  present: z.number(),
  runs: z.array(z.object({ task_id: z.string(), is_new: z.boolean() })),
});

const idIn = (stdout: string): string => imported.parse(JSON.parse(stdout)).runs[0]?.task_id ?? "";

test("a report from elsewhere is listed, shown, noted on, found, saved and asked about like one's own (Z3, Z4)", async (context) => {
  const scene = await openResearch(context);
  const { cwd, run } = withReport(scene);
  const first = await run("import", "report.md", "--json");
  expect(imported.parse(JSON.parse(first.stdout))).toMatchObject({ imported: 1, present: 0, runs: [{ is_new: true }] });
  const id = idIn(first.stdout);
  expect(imported.parse(JSON.parse((await run("import", "report.md", "--json")).stdout))).toEqual({
    imported: 0,
    present: 1,
    runs: [expect.objectContaining({ task_id: id, is_new: false })],
  });
  const { runs } = JSON.parse((await run("list", "--json")).stdout);
  expect(runs).toMatchObject([
    { task_id: id, query: TITLE, imported: true, cost_usd: 0, created_at: "2025-03-04T00:00:00.000Z" },
  ]);
  expect((await run("show", id)).stdout).toContain("They keep a COP of 2 at −15 °C [2]. Prices fell by 12 percent.[1]");
  expect((await run("show", id)).stdout).toContain("1. Price index (prices.example): https://prices.example/2025");
  await run("edit", id, "--note", `Ask Anna about the ${NOTED}.`);
  expect((await run("show", id)).stdout).toContain(`Your note: Ask Anna about the ${NOTED}.`);
  for (const word of [NOTED, "prices.example", "study", "anna"])
    expect([word, (await run("list", word)).stdout.split("\t")[0]]).toEqual([word, id]);
  expect((await run("save", id, "-o", "again.md")).code).toBe(0);
  expect(readFileSync(join(cwd, "again.md"), "utf8")).not.toContain(NOTED);
  // What comes after is like that of every report.
  const asked = await run("followup", id, "And in apartments?", "--yes", "--json");
  expect([asked.code, JSON.parse(asked.stdout)]).toMatchObject([0, { context: "stored_report", parent_task_id: id }]);
  expect((await run("changes", id)).stderr).toContain("no earlier report has the same question");
  expect((await run("retry", id, "--yes")).code).not.toBe(0);
  expect(JSON.parse((await run("costs", "--kind", "search", "--json")).stdout)).toMatchObject({
    total: { requests: 0 },
  });
});

test("what is neither Markdown nor an archive imports nothing, whatever is named with it (Z4, Z5)", async (context) => {
  const scene = await openScene(context);
  const { cwd, run } = withReport(scene);
  writeFileSync(join(cwd, "picture.md"), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]));
  writeFileSync(join(cwd, "broken.zip"), "PK\u0003\u0004 and no more");
  writeFileSync(join(cwd, "empty.md"), "\n");
  writeFileSync(join(cwd, "long.md"), "x".repeat(2_000_001));
  const refusals = [
    ["picture.md", "is neither Markdown (UTF-8) nor an exported archive"],
    ["empty.md", "is empty"],
    ["long.md", "is larger than 2 MB"],
    ["missing.md", "does not exist"],
    [".", "is not a file"],
  ] as const;
  for (const [name, why] of refusals) {
    const { code, stderr } = await run("import", "report.md", name);
    expect([name, code]).toEqual([name, 2]);
    expect(stderr).toContain(`${why}. Nothing was imported.`);
  }
  expect(await run("import", "broken.zip")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("This is not a whole ZIP archive."),
  });
  expect((await run("list")).stdout).toBe("");
});

test("everything is exported to one file and comes back in another installation (Z5)", async (context) => {
  const scene = await openScene(context);
  const { cwd, run } = withReport(scene);
  const searched = JSON.parse((await run("search", "How do heat pumps perform?", "--json")).stdout);
  const id: string = searched.metadata.task_id;
  await run("import", "report.md");
  await run("edit", id, "--tag", "heating", "--note", NOTED);
  const { stdout } = await run("export");
  expect(stdout).toMatch(/research_reports\/Research \d{4}-\d\d-\d\d\.zip\n$/);
  const files = unzip(readFileSync(stdout.trim()));
  expect([...files.keys()].toSorted()).toEqual([
    `${TITLE}/report.md`,
    `${TITLE}/run.json`,
    "How do heat pumps perform/report.md",
    "How do heat pumps perform/run.json",
    "gemini-search-mcp.json",
  ]);
  const saved = (await run("save", id, "-o", "saved.md")).stdout.trim();
  const withoutTime = (text: string | undefined): string => (text ?? "").replace(/- \*\*Saved:\*\* .*/, "");
  expect(withoutTime(files.get("How do heat pumps perform/report.md")?.toString())).toBe(
    withoutTime(readFileSync(saved, "utf8")),
  );
  expect((await run("export", "--tag", "heating", "-o", "tagged.zip")).stdout.trim()).toBe(join(cwd, "tagged.zip"));
  expect([...unzip(readFileSync(join(cwd, "tagged.zip"))).keys()]).toHaveLength(3);
  expect(await run("export", "--tag", "other")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("No runs match"),
  });
  expect(await run("export", "-o", "tagged.zip")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--force"),
  });

  const other = await openScene(context);
  const back = await other.command(["import", stdout.trim(), "--json"]);
  expect(JSON.parse(back.stdout)).toMatchObject({ imported: 2, present: 0, unreadable: [] });
  const list = async (command: Scene["command"]) => JSON.parse((await command(["list", "--json"])).stdout).runs;
  expect(await list(other.command)).toEqual(await list(scene.command));
  const show = async (command: Scene["command"]) => (await command(["show", id])).stdout;
  expect(await show(other.command)).toBe(await show(scene.command));
  const total = async (command: Scene["command"]) => JSON.parse((await command(["costs", "--json"])).stdout).total;
  expect((await total(scene.command)).cost_usd).toBeGreaterThan(0);
  expect((await total(other.command)).cost_usd).toBe(0);
  expect(JSON.parse((await other.command(["import", stdout.trim(), "--json"])).stdout)).toMatchObject({ present: 2 });
});

async function openLibrary(context: TestContext) {
  const browser = await openBrowser(context);
  if (browser === undefined) throw new Error("There is no browser.");
  const scene = await openHttpScene(context);
  return { ...(await enterPage(browser, await scene.http())), ...withReport(scene) };
}

test.skipIf((await browserInstalled()) === "missing")(
  "the page imports reports and archives, and exports everything or what is selected (Z4, Z5)",
  async (context) => {
    const { page, cwd, file, run, pageErrors, otherOrigins } = await openLibrary(context);
    await page.goto("/");
    const choose = page.getByLabel("Markdown reports or exported archives");
    await page.getByRole("button", { name: "Import…" }).waitFor();
    await choose.setInputFiles(file);
    await page.getByRole("link", { name: TITLE }).waitFor();
    await page.getByRole("cell", { name: "Imported" }).waitFor();
    const shown = page.locator("#content");
    await shown.getByText("Imported 1 run.").waitFor();
    await choose.setInputFiles(file);
    await shown.getByText("Nothing new. 1 run is there already.").waitFor();
    const download = async (name: string): Promise<Map<string, Buffer>> => {
      const coming = page.waitForEvent("download");
      await page.getByRole("button", { name, exact: true }).click();
      const target = join(cwd, `${name}.zip`);
      const started = await coming;
      expect(started.suggestedFilename()).toMatch(/^Research \d{4}-\d\d-\d\d\.zip$/);
      await started.saveAs(target);
      return unzip(readFileSync(target));
    };
    await page.locator(".filters .menu summary").click();
    expect([...(await download("Export everything")).keys()]).toHaveLength(3);
    await run("search", "How deep is the lake?");
    await page.getByRole("link", { name: "How deep is the lake?" }).waitFor();
    await page.getByRole("button", { name: "Select", exact: true }).click();
    await page.getByRole("checkbox", { name: `Select ${TITLE}` }).check();
    expect([...(await download("Export")).keys()].toSorted()).toEqual([
      `${TITLE}/report.md`,
      `${TITLE}/run.json`,
      "gemini-search-mcp.json",
    ]);
    const id = (await run("list", TITLE)).stdout.split("\t")[0] ?? "";
    await run("delete", id, "--yes");
    await page.reload();
    await page.getByRole("link", { name: "How deep is the lake?" }).waitFor();
    expect(await page.getByRole("link", { name: TITLE }).count()).toBe(0);
    await choose.setInputFiles(join(cwd, "Export.zip"));
    await page.getByRole("link", { name: TITLE }).waitFor();
    await page.locator(".filters .menu summary").click();
    writeFileSync(join(cwd, "wrong.zip"), "PK\u0003\u0004 and no more");
    await choose.setInputFiles(join(cwd, "wrong.zip"));
    await shown.getByText("This is not a whole ZIP archive.").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole("link", { name: TITLE }).click();
    await page.getByText("Prices fell by 12 percent.").waitFor();
    expect([pageErrors, otherOrigins]).toEqual([[], []]);
  },
);
