/** A page that says something else than the report, through the front door: the tools, their text, files and the terminal. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openHttpScene } from "../kit/server/http-server.ts";
import { openScene } from "../kit/server/scene.ts";
import { unzip } from "../kit/unzip.ts";
import { openSites, SENTENCE, storeContradictedRun, TITLE } from "../kit/sites/contradicted-run.ts";

test("a page that says 412 where the report says 512 is a conflict, first everywhere, with its passage (W2, W3)", async (context) => {
  const env = await openSites(context);
  const scene = await openScene(context, { name: "citations", plain_urls: true });
  const taskId = await storeContradictedRun(scene);
  const server = await scene.server({ era: "modern", env });
  const { structured, text } = await server.call("verify_citations", { task_id: taskId });
  expect(structured).toMatchObject({
    message: "2 of 3 cited sentences are in conflict with a page: 0 confirmed, 1 likely, 0 open.",
    counts: { likely: 1, conflict: 2 },
    findings: [
      { claim: 1, source: 1, verdict: "conflict", page_says: "412", passage: SENTENCE },
      // Confirmed by one page, and in conflict with the other.
      { claim: 2, source: 1, verdict: "conflict", page_says: "412", passage: SENTENCE },
    ],
  });
  expect(Object.keys(structured["counts"])).toEqual(["claims", "uncited", "conflict", "likely"]);
  expect(text).toContain("counts: claims 3, uncited 0, conflict 2, likely 1");
  expect(text).toContain("- conflict (claim 1, source 1): The trial covered 512 homes");
  expect(text).toContain("The page says: 412");
  const likely = await server.call("verify_citations", { task_id: taskId, numbers: [1] });
  expect(likely.structured["findings"].map(({ verdict }: { verdict: string }) => verdict)).toEqual([
    "conflict",
    "conflict",
    "likely",
  ]);
  const results = await server.call("get_research_results", { task_id: taskId });
  const conflict = { source: 1, page_says: "412", passage: SENTENCE };
  expect(results.structured["citations_checked"]).toMatchObject({
    claims: 3,
    conflict: 2,
    conflicts: [conflict, conflict],
  });
  expect(results.text).toContain("In conflict with cited pages:\n- Source 1: The trial covered 512 homes");
  expect(results.text).toContain(`The page says “412”. “${SENTENCE}”`);
  const read = await scene.command(["show", taskId], { env });
  expect(read.stdout).toContain(`A cited page says something else than the report: check ${taskId.slice(0, 8)}`);
  const shown = await scene.command(["check", taskId.slice(0, 8)], { env });
  expect(shown.stdout).toMatch(/^conflict\t1\tThe trial covered 512 homes.*\tThe page says “412”\.\tThe trial/m);
});

test("a deep search that was verified says so no more without the conflicts that a later check found (W3, W4)", async (context) => {
  const env = await openSites(context);
  const scene = await openHttpScene(context, { name: "citations", plain_urls: true });
  const taskId = await storeContradictedRun(scene, { metadata: { verified: true, verified_in_round: 2 } });
  const server = await scene.server({ era: "modern", env });
  const texts = async (): Promise<string[]> => {
    const { text } = await server.call("get_research_results", { task_id: taskId });
    const shown = await scene.command(["show", taskId]);
    const saving = { task_id: taskId, output_dir: scene.configDir };
    const { structured } = await server.call("save_research_to_markdown", saving);
    return [text, shown.stdout, readFileSync(structured["file_path"], "utf8")];
  };
  const later = "; a later check found 2 conflicts";
  for (const text of await texts()) expect(text).not.toContain(later);
  await server.call("verify_citations", { task_id: taskId });
  const [result, shown, saved] = await texts();
  expect(result).toContain(`verified: true${later}\n`);
  expect(shown).toContain(`Verified in round 2${later}`);
  expect(shown).not.toContain("✓");
  expect(saved).toContain(`yes, in round 2${later}`);
  const { structured } = await server.call("get_research_results", { task_id: taskId });
  expect(structured).toMatchObject({ verified: true, verified_in_round: 2 });
  const http = await scene.http();
  const report = await (await http.request(`/api/runs/${taskId}/report`)).json();
  expect(report).toMatchObject({ verified: true, verified_in_round: 2, conflicts: 2 });
});

test("saved HTML and Word files have the verdicts as a table, conflicts first, with what the page says (N8)", async (context) => {
  const env = await openSites(context);
  const scene = await openScene(context, { name: "citations", plain_urls: true });
  const taskId = await storeContradictedRun(scene);
  await scene.command(["check", taskId], { env: { ...env, VERIFY_JUDGE: "off" } });
  const saved = async (ending: string): Promise<Buffer> => {
    const file = join(scene.configDir, `report.${ending}`);
    expect((await scene.command(["save", taskId, "-o", file, "--with", "verdicts"])).code).toBe(0);
    return readFileSync(file);
  };
  const word = unzip(await saved("docx")).get("word/document.xml");
  for (const text of [String(await saved("html")), String(word)]) {
    const shown = text
      .slice(text.indexOf("Checked citations"))
      .replaceAll(/<[^>]*>/g, " ")
      .replaceAll(/\s+/g, " ");
    const places = ["conflict", "The page says “412”.", SENTENCE, "likely", "confirmed"].map((part) =>
      shown.indexOf(part),
    );
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  }
});

test("the title of a page that a check has read takes the place of its domain wherever sources are listed (W6)", async (context) => {
  const env = await openSites(context);
  const scene = await openHttpScene(context, { name: "citations", plain_urls: true });
  const taskId = await storeContradictedRun(scene);
  const server = await scene.server({ era: "modern", env });
  const { stdout: before } = await scene.command(["show", taskId]);
  expect(before).not.toContain(TITLE);
  await server.call("verify_citations", { task_id: taskId });
  const { structured, text } = await server.call("get_research_results", { task_id: taskId });
  expect(structured["sources"]).toMatchObject([{ title: TITLE, domain: "trial.onda-press.com" }, { title: "Press" }]);
  expect(text).toContain(`1. ${TITLE} (trial.onda-press.com)`);
  for (const more of [{}, { format: "bibtex" }]) {
    const saving = { task_id: taskId, output_dir: scene.configDir, ...more };
    const saved = await server.call("save_research_to_markdown", saving);
    expect(readFileSync(saved.structured["file_path"], "utf8")).toContain(TITLE);
  }
  const shown = await scene.command(["show", taskId]);
  expect(shown.stdout).toContain(TITLE);
  const http = await scene.http();
  expect(await (await http.request(`/api/runs/${taskId}/report.html`)).text()).toContain(TITLE);
});
