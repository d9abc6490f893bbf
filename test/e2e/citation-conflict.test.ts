/** A page that says something else than the report, through the front door: the tool, its text and the terminal. */

import { createServer } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { openScene } from "../kit/server/scene.ts";
import { listen } from "../kit/sites/listen.ts";

const PRELOAD = join(import.meta.dirname, "../kit/sites/simulated-internet.cjs");
const SENTENCE = "The trial covered 412 homes in three countries between 2021 and 2025.";
const FILLER = "<p>The people of the valley have kept records of the weather since the bridge was built.</p>".repeat(8);
const PAGES: Record<string, string> = {
  "trial.onda-press.com/report": `<title>Field trial</title><p>${SENTENCE} Simple changes in habits can lessen bothersome noise.</p>${FILLER}`,
  "press.onda-press.com/trial": `<title>Press</title><p>The trial covered 512 homes in three countries.</p>${FILLER}`,
};
const LINKS = Object.keys(PAGES).map((address) => `http://${address}`);
const [TRIAL, PRESS] = LINKS;
const REPORT = [
  `${SENTENCE.replace("412", "512")} ([report](${TRIAL}))`,
  `The trial covered 512 homes in three countries ([report](${TRIAL}), [press](${PRESS})).`,
  `Simple changes in habits can help lessen bothersome noise ([report](${TRIAL})).`,
].join("\n\n");

test("a page that says 412 where the report says 512 is a conflict, first everywhere, with its passage (W2, W3)", async (context) => {
  const site = createServer(({ headers, url }, response) => {
    const body = PAGES[`${headers.host ?? ""}${url ?? ""}`];
    response.writeHead(body === undefined ? 404 : 200, { "content-type": "text/html; charset=utf-8" }).end(body);
  });
  const env = { NODE_OPTIONS: `--require ${PRELOAD}`, SIMULATED_INTERNET_PORT: String(await listen(site)) };
  const scene = await openScene(context, { name: "citations", plain_urls: true });
  const { stdout } = await scene.command(["ask", "where", "is", "Onda", "--json"]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what this command prints
  const taskId = (JSON.parse(stdout) as { metadata: { task_id: string } }).metadata.task_id;
  const sources = LINKS.map((url, index) => ({ n: index + 1, title: "t", url, domain: new URL(url).hostname }));
  const database = new DatabaseSync(join(scene.configDir, "deep_research.db"), { timeout: 5_000 });
  database
    .prepare(
      "update research_results set report_markdown = ?, sources_json = ?, supports_json = null where task_id = ?",
    )
    .run(REPORT, JSON.stringify(sources), taskId);
  database.close();

  const server = await scene.server({ era: "modern", env });
  const { structured, text } = await server.call("verify_citations", { task_id: taskId });
  expect(structured).toMatchObject({
    message: "2 of 3 cited sentences are in conflict with a page: 1 confirmed, 1 likely, 0 open.",
    counts: { confirmed: 1, likely: 1, conflict: 1 },
    findings: [
      { claim: 1, source: 1, verdict: "conflict", page_says: "412", passage: SENTENCE },
      // Confirmed by one page, and in conflict with the other.
      { claim: 2, source: 1, verdict: "conflict", page_says: "412", passage: SENTENCE },
    ],
  });
  expect(text).toContain("- conflict (claim 1, source 1): The trial covered 512 homes");
  expect(text).toContain("The page says: 412");
  const likely = await server.call("verify_citations", { task_id: taskId, numbers: [1] });
  expect(likely.structured["findings"].map(({ verdict }: { verdict: string }) => verdict)).toEqual([
    "conflict",
    "conflict",
    "likely",
  ]);
  const shown = await scene.command(["check", taskId.slice(0, 8)], { env });
  expect(shown.stdout).toMatch(/^conflict\t1\tThe trial covered 512 homes/m);
});
