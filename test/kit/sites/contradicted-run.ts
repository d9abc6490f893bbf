/** A finished search that says 512 homes where the page that it cites says 412, and sites that serve its pages. */

import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { z } from "zod";
import type { Ending, Scene } from "../server/scene.ts";

const PRELOAD = join(import.meta.dirname, "simulated-internet.cjs");

export const SENTENCE = "The trial covered 412 homes in three countries between 2021 and 2025.";
export const TITLE = "Field trial of quiet heat pumps";
const NOISE = "Simple changes in habits can lessen bothersome noise.";
const FILLER = "<p>The people of the valley have kept records of the weather since the bridge was built.</p>".repeat(8);
const PAGES: Record<string, string> = {
  "trial.onda-press.com/report": `<title>${TITLE}</title><p>${SENTENCE} ${NOISE}</p>${FILLER}`,
  "press.onda-press.com/trial": `<title>Press</title><p>The trial covered 512 homes in three countries.</p>${FILLER}`,
};
const LINKS = Object.keys(PAGES).map((address) => `http://${address}`);
const [TRIAL, PRESS] = LINKS;
const REPORT = [
  `${SENTENCE.replace("412", "512")} ([report](${TRIAL}))`,
  `The trial covered 512 homes in three countries ([report](${TRIAL}), [press](${PRESS})).`,
  `Simple changes in habits can help lessen bothersome noise ([report](${TRIAL})).`,
].join("\n\n");

/** What a process needs to reach the sites; the simulated Internet leads to them. */
export async function openSites({ onTestFinished }: Ending) {
  const site = createServer(({ headers, url }, response) => {
    const body = PAGES[`${headers.host ?? ""}${url ?? ""}`];
    response.writeHead(body === undefined ? 404 : 200, { "content-type": "text/html; charset=utf-8" }).end(body);
  });
  onTestFinished(() => void site.close());
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  const address = site.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return { NODE_OPTIONS: `--require ${PRELOAD}`, SIMULATED_INTERNET_PORT: String(port) };
}

/** Two such runs whose citations were checked: without a judge, and with one. */
export async function storeCheckedRuns(context: Ending, scene: Pick<Scene, "command" | "configDir">) {
  const sites = await openSites(context);
  const checked = async (judge: Record<string, string>, asked: { question?: string } = {}): Promise<string> => {
    const taskId = await storeContradictedRun(scene, asked);
    await scene.command(["check", taskId], { env: { ...sites, ...judge } });
    return taskId;
  };
  return {
    contradicted: await checked({ VERIFY_JUDGE: "off" }),
    judged: await checked({}, { question: "what did the trial say about noise" }),
  };
}

const answer = z.object({ metadata: z.object({ task_id: z.string() }) });

/** Its sources have no titles but their domains. */
export async function storeContradictedRun(
  scene: Pick<Scene, "command" | "configDir">,
  { question = "how large was the trial", metadata = {} }: { question?: string; metadata?: object } = {},
): Promise<string> {
  const { stdout } = await scene.command(["search", question, "--json"]);
  const taskId = answer.parse(JSON.parse(stdout)).metadata.task_id;
  const sources = LINKS.map((url, index) => {
    const domain = new URL(url).hostname;
    return { n: index + 1, title: domain, url, domain };
  });
  const database = new DatabaseSync(join(scene.configDir, "deep_research.db"), { timeout: 5_000 });
  database
    .prepare(
      "update research_results set report_markdown = ?, sources_json = ?, supports_json = null, metadata_json = json_patch(metadata_json, ?) where task_id = ?",
    )
    .run(REPORT, JSON.stringify(sources), JSON.stringify(metadata), taskId);
  database.close();
  return taskId;
}
