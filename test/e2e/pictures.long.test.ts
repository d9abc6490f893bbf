/** Pictures and Search Suggestions of a run, through the built server: in answers, as resources and as files. */

import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test, type TestContext } from "vitest";
import { pngOf } from "../kit/browser/pictures.ts";
import { openResearch, QUERY, startRun, untilStatus } from "../kit/server/research.ts";
import { openScene } from "../kit/server/scene.ts";
import type { Era, RunningServer } from "../kit/server/server.ts";

const ERAS: Era[] = ["legacy", "modern"];
const LINK = /!\[Picture 1\]\((research:\/\/runs\/[0-9a-f-]{36}\/pictures\/1)\)/;

const CHART_QUERY = "How do heat pumps perform in cold climates? Include a chart of their efficiency.";

async function picturedRun(context: TestContext) {
  const scene = await openResearch(context);
  const server = await scene.server();
  const task_id = await startRun(server, CHART_QUERY, { visualization: "auto" });
  await untilStatus(server, task_id, "completed");
  return { scene, server, task_id };
}

test("a report is returned with its pictures as images, and links at their positions (S2)", async (context) => {
  const { server, task_id } = await picturedRun(context);
  const answer = await server.client.callTool({ name: "get_research_results", arguments: { task_id } });
  const [text, image, ...more] = answer.content;
  expect(more).toEqual([]);
  expect(image).toMatchObject({ type: "image", mimeType: "image/png" });
  const uri = LINK.exec(text?.type === "text" ? text.text : "")?.[1] ?? "";
  const { structured } = await server.call("get_research_results", { task_id });
  expect(structured["pictures"]).toEqual([
    {
      n: 1,
      uri,
      mime_type: "image/png",
      bytes: expect.any(Number),
      about: expect.stringMatching(/^PNG, 320 × 180, \d+ KB$/),
    },
  ]);
  // A paragraph of its own before a heading, as it came.
  expect(structured["report"]).toMatch(new RegExp(`\\n\\n${LINK.source}\\n\\n+## `));

  const { contents } = await server.client.readResource({ uri });
  const data = image?.type === "image" ? image.data : "";
  expect(contents).toEqual([{ uri, mimeType: "image/png", blob: data }]);
  expect(Buffer.from(data, "base64").subarray(1, 4).toString()).toBe("PNG");
  for (const wrong of ["pictures/2", "pictures/0", "pictures/x", "pictures"]) {
    await expect(server.client.readResource({ uri: `research://runs/${task_id}/${wrong}` })).rejects.toThrow();
  }
  // A section without the picture has no link to it.
  const outline = await server.client.callTool({
    name: "get_research_results",
    arguments: { task_id, section: "outline" },
  });
  expect(outline.content.map(({ type }) => type)).toEqual(["text"]);
});

/** The pictures that a run ended with. */
async function picturesOf(server: RunningServer, task_id: string): Promise<unknown[]> {
  await untilStatus(server, task_id, "completed");
  return (await server.call("get_research_results", { task_id })).structured["pictures"] ?? [];
}

test.for(ERAS)(
  "charts are drawn where the caller asks for them, and by default only for people: %s (V4)",
  async (era, context) => {
    const scene = await openResearch(context);
    const server = await scene.server({ era });
    const start = (query: string, more: object) => startRun(server, query, { force_new: true, ...more });
    expect(await picturesOf(server, await start(CHART_QUERY, {}))).toEqual([]);
    expect(await picturesOf(server, await start(CHART_QUERY, { visualization: "off" }))).toEqual([]);
    expect(await picturesOf(server, await start(QUERY, { visualization: "auto" }))).toEqual([]);
    const drawn = await start(CHART_QUERY, { visualization: "auto" });
    expect(await picturesOf(server, drawn)).toHaveLength(1);
    const { content } = await server.client.callTool({ name: "get_research_results", arguments: { task_id: drawn } });
    expect(content.map(({ type }) => type)).toEqual(["text", "image"]);
    const wrong = await server.call("start_deep_research", { query: CHART_QUERY, visualization: "always" });
    expect(wrong.structured["error"]).toMatchObject({
      code: "INVALID_INPUT",
      message: "visualization must be auto or off.",
    });
    expect(scene.posts()).toBe(4);
  },
);

test("a run started in the terminal has charts unless they are turned off, and joins the same start without (V4)", async (context) => {
  const scene = await openResearch(context, { duration_ms: 0 });
  const research = async (...flags: string[]) => {
    const { stdout } = await scene.command(["research", CHART_QUERY, "--wait", "--json", ...flags]);
    return JSON.parse(stdout) as { report: string; pictures?: { about: string }[] };
  };
  expect((await research("--visualization", "off")).pictures).toBeUndefined();
  const server = await scene.server();
  const joined = await server.call("start_deep_research", { query: CHART_QUERY, visualization: "auto" });
  expect(joined.structured).toMatchObject({ joined: true, notice: expect.stringMatching("started without charts.") });
  expect(scene.posts()).toBe(1);
  const drawn = await research("--force-new");
  expect(drawn.pictures).toMatchObject([{ about: expect.stringMatching(/^PNG, 320 × 180/) }]);
  expect(drawn.report).toMatch(LINK);
  const [{ stdout: shown }, { stdout: help }] = [
    await scene.command(["research", CHART_QUERY, "--wait"]),
    await scene.command(["research", "--help"]),
  ];
  expect(shown).toContain("\n*Picture 1*\n");
  expect(shown).toContain("1 picture: saved beside the report, or shown when you open it in the browser.");
  expect(shown).not.toContain("research://");
  expect(help).toMatch(/--visualization <.+>\s+auto \(default\): charts, if the question asks/);
});

test("a plan keeps the wish for charts until its research draws them, and a chart can be added to it (V4, V2)", async (context) => {
  const scene = await openResearch(context, { duration_ms: 0 });
  const server = await scene.server();
  const start = { query: QUERY, plan: true, visualization: "auto" };
  const { task_id } = (await server.call("start_deep_research", start)).structured;
  await untilStatus(server, task_id, "awaiting_approval");
  await server.call("resume_research", { task_id, plan_edit: "Add a chart of the efficiency." });
  await untilStatus(server, task_id, "awaiting_approval");
  await server.call("resume_research", { task_id, approve: true });
  expect(await picturesOf(server, task_id)).toHaveLength(1);
  expect(scene.posts()).toBe(3);
});

test("a picture that is no picture, or too large to show, is left out with a note (V4)", async (context) => {
  const scene = await openResearch(context, { duration_ms: 0 });
  const server = await scene.server();
  const bomb = pngOf(60_000, 60_000).toString("base64");
  const svg = Buffer.from("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>").toString("base64");
  const kept = Buffer.concat([pngOf(10, 10), Buffer.from("<script>")]);
  scene.play({
    duration_ms: 0,
    images: [
      { mime_type: "image/png", data: bomb },
      { mime_type: "image/svg+xml", data: svg },
      { mime_type: "image/png", data: svg },
      { mime_type: "image/jpeg", data: pngOf(10, 10).toString("base64") },
      { mime_type: "image/png", data: kept.toString("base64") },
    ],
  });
  const task_id = await startRun(server, CHART_QUERY, { visualization: "auto" });
  const pictures = await picturesOf(server, task_id);
  expect(pictures).toMatchObject([{ n: 1, bytes: kept.length }]);
  const { text } = await server.call("get_research_results", { task_id });
  expect(text).toContain("4 pictures of this report could not be kept");
  expect(text).toContain("1 more than 40 million pixels");
  expect((await scene.command(["delete", task_id, "--yes"])).code).toBe(0);
  expect(scene.sql("select n from research_files")).toEqual([]);
  await expect(server.client.readResource({ uri: `research://runs/${task_id}/pictures/1` })).rejects.toThrow();
});

test("pictures above a megabyte in total are returned as links to resources (S2)", async (context) => {
  const { scene, server, task_id } = await picturedRun(context);
  scene.sql("update research_files set facts_json = json_set(facts_json, '$.byteLength', 900000)");
  const { content } = await server.client.callTool({ name: "get_research_results", arguments: { task_id } });
  expect(content[1]).toMatchObject({
    type: "resource_link",
    uri: `research://runs/${task_id}/pictures/1`,
    size: 900_000,
  });
});

test("a saved report has its pictures beside it, whole, and overwrites none (S2, N2)", async (context) => {
  const { scene, server, task_id } = await picturedRun(context);
  const output_dir = join(scene.configDir, "out");
  const save = () => server.call("save_research_to_markdown", { task_id, output_dir });
  const saved: string[] = [];
  for (let times = 0; times < 3; times += 1) {
    const { structured } = await save();
    expect(structured).toMatchObject({ success: true, pictures: 1 });
    saved.push(structured["file_path"]);
  }
  for (const file of saved) {
    const [, link = ""] = /!\[Picture 1\]\(([^)]+)\)/.exec(readFileSync(file, "utf8")) ?? [];
    expect(link).toMatch(new RegExp(`^${basename(file, ".md")}_files/1-[0-9a-f]{12}\\.png$`));
    expect(
      readFileSync(join(dirname(file), link))
        .subarray(1, 4)
        .toString(),
    ).toBe("PNG");
  }
  const folder = dirname(saved[0] ?? "");
  expect(readdirSync(folder)).toHaveLength(6);
});

test("a symbolic link in place of the picture directory is refused, and nothing is left (S2, N2)", async (context) => {
  const { scene, server, task_id } = await picturedRun(context);
  const output_dir = join(scene.configDir, "out");
  const first = await server.call("save_research_to_markdown", { task_id, output_dir });
  const folder = dirname(first.structured["file_path"]);
  const elsewhere = join(scene.configDir, "elsewhere");
  // Every name of the next seconds, one of which will be used.
  const now = Date.now();
  for (let second = 0; second < 60; second += 1) {
    const stamp = new Date(now + second * 1_000).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "_");
    const name = `linked_${task_id}_${stamp}_files`;
    symlinkSync(elsewhere, join(folder, name));
  }
  const before = readdirSync(folder).length;
  const refused = await server.call("save_research_to_markdown", { task_id, output_dir, filename_prefix: "linked" });
  expect(refused.structured["error"].code).toBe("PERMISSION_DENIED");
  expect(readdirSync(folder)).toHaveLength(before);
});

test("a failed save of the report removes its pictures (S2, N3)", async (context) => {
  const { scene, server, task_id } = await picturedRun(context);
  const output_dir = join(scene.configDir, "file");
  writeFileSync(output_dir, "in the way");
  const { structured } = await server.call("save_research_to_markdown", { task_id, output_dir });
  expect(structured["success"]).toBe(false);
  expect(readFileSync(output_dir, "utf8")).toBe("in the way");
});

test("search suggestions are returned with the answer, as short links to Google (T-1)", async (context) => {
  const scene = await openScene(context);
  const server = await scene.server();
  const { structured, text } = await server.call("search", { query: "How do heat pumps perform in cold climates?" });
  const link = "https://www.google.com/search?q=How+do+heat+pumps+perform+in+cold+climates";
  expect(structured["metadata"].search_suggestions).toEqual([link]);
  expect(text).toContain(`Google Search Suggestions:\n- ${link}\n`);
  const { task_id } = structured["metadata"];
  const again = await server.call("get_research_results", { task_id });
  expect(again.structured["search_suggestions"]).toEqual([link]);
  expect(again.text).toContain(link);
  // On the terminal as well.
  const { stdout } = await scene.command(["show", task_id]);
  expect(stdout).toContain("How do heat pumps perform in cold climates");
  expect(stdout).toContain("Google Search Suggestions");
});

test("a research stores the suggestions of its searches (T-1)", async (context) => {
  const { server, task_id } = await picturedRun(context);
  const { structured } = await server.call("get_research_results", { task_id });
  const links: unknown = structured["search_suggestions"];
  expect(links).toEqual(
    expect.arrayContaining([expect.stringMatching(/^\[.+\]\(https:\/\/www\.google\.com\/search\?q=/)]),
  );
  expect(structured["search_suggestions"].length).toBeLessThanOrEqual(10);
});
