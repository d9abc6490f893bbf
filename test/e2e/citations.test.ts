/** Checked citations through the front door: MCP in both eras, the terminal, and the dashboard's API. */

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { plugins } from "@citation-js/core";
import "@citation-js/plugin-bibtex";
import { expect, test, type TestContext } from "vitest";
import { z } from "zod";
import { reportHashOf } from "../../src/verification/claims-of-run.ts";
import { type HttpScene, openHttpScene } from "../kit/server/http-server.ts";

const NOW = Date.now();
const LAKE = "https://www.lake-onda.org/depth";

/** A site on this machine, which the guard must not reach. */
async function openSecretSite({ onTestFinished }: TestContext) {
  const requests: string[] = [];
  const site = createServer(({ url = "" }, response) => {
    requests.push(url);
    response.end("<p>The cellar of the town hall is full of wine.</p>");
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void site.close());
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a listening TCP server has no other kind of address
  return { requests, url: `http://127.0.0.1:${(site.address() as AddressInfo).port}/secret` };
}

/** A finished search whose report cites a page that was checked an hour ago, and one on this machine. */
async function storeRun(scene: HttpScene, secretUrl: string): Promise<string> {
  const asked = await scene.command(["search", "where", "is", "Onda", "--json"]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what this command prints
  const taskId = (JSON.parse(asked.stdout) as { metadata: { task_id: string } }).metadata.task_id;
  const report = `Lake Onda is 42 metres deep ([depth](${LAKE})). The cellar is full of wine ([cellar](${secretUrl})).`;
  const sources = [LAKE, secretUrl].map((url, index) => ({
    n: index + 1,
    title: "t",
    url,
    domain: new URL(url).hostname,
  }));
  const claim = (n: number, text: string) => ({
    n,
    text,
    headings: [],
    context: [],
    start: 0,
    end: 1,
    sources: [n],
    googleSources: n === 1 ? [1] : [],
  });
  const claims = [claim(1, "Lake Onda is 42 metres deep."), claim(2, "The cellar is full of wine.")];
  const database = new DatabaseSync(join(scene.configDir, "deep_research.db"), { timeout: 5_000 });
  const run = (statement: string, ...values: (string | number | null)[]): unknown =>
    database.prepare(statement).run(...values);
  run(
    "update research_results set report_markdown = ?, sources_json = ?, citations_json = '[]', report_hash = ?, claims_json = ? where task_id = ?",
    report,
    JSON.stringify(sources),
    reportHashOf(report),
    JSON.stringify(claims),
    taskId,
  );
  run(
    "insert into research_pages (task_id, source, outcome, url, final_url, http_status, author, published, checked_at) values (?, 1, 'text', ?, ?, 200, 'A. Writer', '2024-03-01', ?)",
    taskId,
    LAKE,
    LAKE,
    NOW - 3_600_000,
  );
  run(
    "insert into research_evidence (task_id, claim, source, kind, verdict, passage, judged, checked_at) values (?, 1, 1, 'page', 'confirmed', ?, 0, ?)",
    taskId,
    "Lake Onda is\u202E 42 metres deep, \u001B[31msays the survey.",
    NOW - 3_600_000,
  );
  database.close();
  return taskId;
}

test("tools, terminal and dashboard show the same verdicts, fetch nothing checked, and reach no private address (W3, W6, W7)", async (context) => {
  const secret = await openSecretSite(context);
  const scene = await openHttpScene(context, { name: "citations", plain_urls: true });
  const taskId = await storeRun(scene, secret.url);
  for (const era of ["legacy", "modern"] as const) {
    const server = await scene.server({ era });
    const { structured, text, isError } = await server.call("verify_citations", { task_id: taskId });
    expect(isError).toBe(false);
    expect(structured).toMatchObject({
      caution: expect.stringContaining("evidence"),
      message: expect.stringMatching(
        /^1 of 2 cited sentences are confirmed, 0 likely, 1 open\. 1 cited page was not fetched: .+\.$/,
      ),
      counts: { claims: 2, uncited: 0, confirmed: 1, not_checked: 1 },
      attached_by_google: 1,
      pages: { cited: 2, checked: 1, not_fetched: 1, left: 0 },
      findings: [],
    });
    expect(text).toContain("counts: claims 2, uncited 0, not_checked 1, confirmed 1");
    const passages = await server.call("verify_citations", { task_id: taskId, numbers: [1] });
    expect(passages.structured["findings"]).toMatchObject([
      { source: 1, verdict: "confirmed", passage: "Lake Onda is 42 metres deep, says the survey." },
    ]);
    const results = await server.call("get_research_results", { task_id: taskId });
    expect(results.structured["citations_checked"]).toEqual({ claims: 2, confirmed: 1, not_checked: 1 });
    const save = async (format: string) =>
      (await server.call("save_research_to_markdown", { task_id: taskId, output_dir: scene.configDir, format }))
        .structured;
    expectBibtex((await save("bibtex"))["file_path"], /\.bib$/);
    const csl = readFileSync((await save("csl"))["file_path"], "utf8");
    expect(plugins.input.chain(csl)).toMatchObject([{ URL: LAKE }, { title: "t" }]);
    expect(await save("word")).toMatchObject({ error: { code: "INVALID_INPUT", details: { field: "format" } } });
    const missing = await server.call("verify_citations", { task_id: taskId.replace(/^.{8}/, "00000000") });
    expect(missing.structured).toMatchObject({ success: false, error: { code: "TASK_NOT_FOUND" } });
  }
  const shown = await scene.command(["check", taskId.slice(0, 8), "--source", "1,2"]);
  expect(shown).toMatchObject({ code: 0 });
  expect(shown.stdout).toContain("1 not checked · 1 confirmed · 1 of 2 pages checked · 1 not fetched");
  expect(shown.stdout).toMatch(/^confirmed\t1\tLake Onda is 42 metres deep\./m);
  expect(shown.stdout).toMatch(/^not checked\t2\tThe cellar is full of wine\./m);
  await exported(scene, taskId);
  expect(secret.requests).toEqual([]);
  await onDashboard(scene, taskId);
  expect(secret.requests).toEqual([]);
});

/** Other programs read the file: the same addresses, author and date. */
function expectBibtex(path: string, name: RegExp): void {
  expect(path).toMatch(name);
  expect(plugins.input.chain(readFileSync(path, "utf8"))).toMatchObject([
    { URL: LAKE, author: [{ family: "A. Writer" }], issued: { "date-parts": [[2024, 3, 1]] } },
    { title: "t" },
  ]);
}

/** In the terminal, where a pipe receives only the path. */
async function exported(scene: HttpScene, taskId: string): Promise<void> {
  const saving = ["save", taskId, "--format", "ris", "--output-dir", scene.configDir];
  const { code, stdout } = await scene.command(saving);
  expect(code).toBe(0);
  expect(stdout.trim()).toMatch(/\.ris$/);
  expect(readFileSync(stdout.trim(), "utf8")).toContain(`UR  - ${LAKE}\r\n`);
  const file = join(scene.configDir, "with verdicts.md");
  await scene.command(["save", taskId, "-o", file, "--with", "verdicts"]);
  expect(readFileSync(file, "utf8")).toContain(
    String.raw`| confirmed | Lake Onda is 42 metres deep. | \[[1]\] | “Lake Onda is 42 metres deep, says the survey.” |`,
  );
}

async function onDashboard(scene: HttpScene, taskId: string): Promise<void> {
  const server = await scene.http();
  const view = await server.request(`/api/runs/${taskId}/citations`);
  expect(await view.json()).toMatchObject({
    counts: { confirmed: 1 },
    sources: [{ n: 1, is_cited: true, outcome: "text", author: "A. Writer" }, { n: 2 }],
    claims: [{ verdict: "confirmed", pairs: [{ source: 1, by_google: true }] }, { verdict: "not_checked" }],
  });
  const checked = await server.request(`/api/runs/${taskId}/citations`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ numbers: [2], refetch: true }),
  });
  expect(await checked.json()).toMatchObject({ sources: [{}, { n: 2, outcome: "not_checked" }] });
  const bibtex = await server.request(`/api/runs/${taskId}/sources.bib`);
  expect(bibtex.headers.get("content-disposition")).toMatch(/attachment; filename="where is Onda\.bib"/);
  expect(await bibtex.text()).toContain("author = {{A. Writer}}");
  for (const ending of ["ris", "json"])
    expect((await server.request(`/api/runs/${taskId}/sources.${ending}`)).status).toBe(200);
  const saved = await server.request(`/api/runs/${taskId}/report.md`);
  expect(await saved.text()).toContain("**Citations checked:** 2 claims: 1 not checked, 1 confirmed");
}

test("Google's grounding supports of a search tie its claims to sources without a request (W1)", async (context) => {
  const scene = await openHttpScene(context);
  const asked = await scene.command(["search", "how", "deep", "is", "Lake", "Onda", "--json"]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what this command prints
  const taskId = (JSON.parse(asked.stdout) as { metadata: { task_id: string } }).metadata.task_id;
  const server = await scene.http();
  const { claims } = CLAIMS.parse(await (await server.request(`/api/runs/${taskId}/citations`)).json());
  const tied = claims.filter(({ pairs }) => pairs.some((pair) => pair.by_google === true));
  expect(tied.length).toBeGreaterThan(0);
  for (const { verdict } of tied) expect(verdict).toBe("not_checked");
});

const CLAIMS = z.object({
  claims: z.array(
    z.object({ verdict: z.string(), pairs: z.array(z.looseObject({ by_google: z.boolean().optional() })) }),
  ),
});
