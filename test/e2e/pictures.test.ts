/** Pictures and Search Suggestions of a run, through the built server: in answers, as resources and as files. */

import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test, type TestContext } from "vitest";
import { openResearch, startRun, untilStatus } from "../kit/server/research.ts";
import { openScene } from "../kit/server/scene.ts";

const LINK = /!\[Picture 1\]\((research:\/\/runs\/[0-9a-f-]{36}\/pictures\/1)\)/;

async function picturedRun(context: TestContext) {
  const scene = await openResearch(context, { image: true });
  const server = await scene.server();
  const task_id = await startRun(server);
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

test("pictures above a megabyte in total are returned as links to resources (S2)", async (context) => {
  const { scene, server, task_id } = await picturedRun(context);
  scene.sql("update research_pictures set byte_length = 900000");
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
  const { stdout } = await scene.command(["get-research-results", task_id]);
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
