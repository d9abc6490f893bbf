/** The checks of citations on the page, in a real browser, against sites that a simulated Internet serves. */

import { createServer } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { z } from "zod";
import { browserInstalled, enterPage, openBrowser } from "../kit/browser/browser.ts";
import { type HttpScene, openHttpScene } from "../kit/server/http-server.ts";
import { BIN } from "../kit/server/server.ts";
import { openSites as openTrial, SENTENCE, storeContradictedRun, TITLE } from "../kit/sites/contradicted-run.ts";
import { listen } from "../kit/sites/listen.ts";

const PRELOAD = join(import.meta.dirname, "../kit/sites/simulated-internet.cjs");
const FILLER = "<p>The people of the valley have kept records of the weather since the bridge was built.</p>".repeat(8);

/** By host and path; another path is gone. */
const PAGES: Record<string, string> = {
  "lake.onda-press.com/depth": `<title>Lake Onda</title><p>Lake Onda is 42 metres deep.</p>${FILLER}`,
  "village.onda-press.com/people": `<title>Onda</title><p>In Onda, the village by the lake, 310 people live.</p>${FILLER}`,
  "pumps.onda-press.com/prices": `<title>Pumps</title><table><caption>Prices</caption><tr><th>Model</th><th>Price</th></tr>
    <tr><td>X1</td><td>5 EUR</td></tr><tr><td>X2</td><td>7 EUR</td></tr></table>${FILLER}`,
};

const LINKS = ["lake.onda-press.com/depth", "village.onda-press.com/people", "ferry.onda-press.com/1987"].map(
  (address) => `http://${address}`,
);
const [LAKE, VILLAGE, FERRY] = LINKS;
const REPORT = [
  `Lake Onda is 42 metres deep ([depth](${LAKE})).`,
  `The village of Onda by the lake has 310 people ([people](${VILLAGE})).`,
  `The ferry to Onda was discontinued in 1987 ([ferry](${FERRY})).`,
].join("\n\n");

async function openSites(): Promise<{ port: number; requests: string[] }> {
  const requests: string[] = [];
  const site = createServer(({ headers, url }, response) => {
    const target = `${headers.host ?? ""}${url ?? ""}`;
    if (!target.endsWith("/robots.txt")) requests.push(target);
    const body = PAGES[target];
    const status = body !== undefined ? 200 : target.endsWith("/robots.txt") ? 404 : 410;
    response.writeHead(status, { "content-type": "text/html; charset=utf-8" }).end(body ?? "<title>Gone</title>");
  });
  return { port: await listen(site), requests };
}

/** A finished search with that report; its claims are split when the page asks for them. */
async function storeRun(scene: HttpScene, report = REPORT, links = LINKS): Promise<string> {
  const { stdout } = await scene.command(["search", "where", "is", "Onda", "--json"]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what this command prints
  const taskId = (JSON.parse(stdout) as { metadata: { task_id: string } }).metadata.task_id;
  const sources = links.map((url, index) => ({ n: index + 1, title: "t", url, domain: new URL(url).hostname }));
  const database = new DatabaseSync(join(scene.configDir, "deep_research.db"), { timeout: 5_000 });
  database
    .prepare(
      "update research_results set report_markdown = ?, sources_json = ?, supports_json = null where task_id = ?",
    )
    .run(report, JSON.stringify(sources), taskId);
  database.close();
  return taskId;
}

const PRICES = "http://pumps.onda-press.com/prices";
const TABLE = `| Model | Price | Source |
|---|---|---|
| X1 | 5 EUR | [prices](${PRICES}) |
| X2 [1] | 8 EUR | |

- **Warranty:** five years ([prices](${PRICES}))

## Sources

1. [prices](${PRICES})
`;

/** The verdict beside each citation, in the order of the text. */
const marks = (page: Page) =>
  page.locator(".report-text .cite a").evaluateAll((links) => links.map((link) => link.getAttribute("data-verdict")));

const textOf = (page: Page) => page.locator(".report-text").evaluate((body) => body.textContent);

const count = (verdict: string) => `.verdict-counts .verdict[data-verdict=${verdict}]`;

test.skipIf((await browserInstalled()) === "missing")(
  "one button checks all citations; verdicts stand beside the text, and the judge names its cost and its limit (W3, W6)",
  async (context) => {
    const sites = await openSites();
    const scene = await openHttpScene(context, { name: "citations", plain_urls: true });
    const taskId = await storeRun(scene);
    const env = { SIMULATED_INTERNET_PORT: String(sites.port) };
    const program = ["--require", PRELOAD, BIN];
    const browser = await openBrowser(context);
    if (browser === undefined) return;
    const plain = await enterPage(browser, await scene.http({ env: { ...env, VERIFY_JUDGE: "off" }, program }));
    await withoutJudge(plain.page, { taskId, requests: sites.requests });
    const judged = await enterPage(
      browser,
      await scene.http({ env: { ...env, RESEARCH_CONFIRM_ABOVE_USD: "0" }, program }),
    );
    await withJudge(judged.page, { taskId, scene });
    expect([...plain.pageErrors, ...judged.pageErrors]).toEqual([]);
    expect([...plain.otherOrigins, ...judged.otherOrigins]).toEqual([]);
  },
);

async function withoutJudge(page: Page, { taskId, requests }: { taskId: string; requests: string[] }): Promise<void> {
  await page.goto(`/runs/${taskId}`);
  const all = page.getByRole("button", { name: "Check citations", exact: true });
  await all.waitFor();
  const text = await textOf(page);
  // Nothing is fetched because a report is read.
  expect(requests).toEqual([]);
  expect(await marks(page)).toEqual([null, null, null]);
  // One button for all sources.
  expect(await page.getByRole("button", { name: /^Check/ }).count()).toBe(1);
  await all.click();
  await page.locator(count("gone")).waitFor();
  expect(await marks(page)).toEqual(["confirmed", "likely", "gone"]);
  expect(requests.toSorted()).toEqual(LINKS.map((url) => url.replace("http://", "")).toSorted());
  const first = page.locator(".report-text .cite a").first();
  expect(await first.getAttribute("title")).toBe("confirmed");
  await first.hover();
  await page.getByText("Lake Onda is 42 metres deep.", { exact: false }).locator("visible=true").last().waitFor();
  expect(await textOf(page)).toBe(text);
  await page.reload();
  await page.locator(count("gone")).waitFor();
  await expect.poll(() => marks(page)).toEqual(["confirmed", "likely", "gone"]);
}

/** The next check judges what the one without a judge left open; nothing is asked above the limit, or twice. */
async function withJudge(page: Page, { taskId, scene }: { taskId: string; scene: HttpScene }): Promise<void> {
  const asked = (): number => scene.gemini.ledger.countByKind().decide ?? 0;
  await page.goto(`/runs/${taskId}`);
  await page.getByText("A model judges what the text of a page leaves open: at most $0.05 for this report.").waitFor();
  const again = page.getByRole("button", { name: "Check again", exact: true });
  expect(asked()).toBe(0);
  await again.click();
  await expect.poll(() => marks(page)).toEqual(["confirmed", "likely", "gone"]);
  await page.getByText("leaves open: <$0.01 so far, at most $0.05 for this report.").waitFor();
  await again.click();
  await again.waitFor();
  expect(asked()).toBe(1);
  const decision = scene.gemini.ledger.entries().find(({ kind }) => kind === "decide");
  expect(decision).toMatchObject({ path: "/v1beta/decisions", question: expect.stringContaining("310 people") });
  const command = await scene.command(["costs", "--json"]);
  const judged = COSTS.parse(JSON.parse(command.stdout)).kinds.filter(({ kind }) => kind === "judge");
  expect(judged).toEqual([{ kind: "judge", requests: 1, cost_usd: expect.closeTo(decision?.costUsd ?? 0, 4) }]);
}

const COSTS = z.looseObject({ kinds: z.array(z.looseObject({ kind: z.string() })) });

test.skipIf((await browserInstalled()) === "missing")(
  "a citation in a table or after a label has the verdict of its row or value, and a conflict names what it is about (W3)",
  async (context) => {
    const { port } = await openSites();
    const scene = await openHttpScene(context, { name: "citations", plain_urls: true });
    const taskId = await storeRun(scene, TABLE, [PRICES]);
    const env = { SIMULATED_INTERNET_PORT: String(port), VERIFY_JUDGE: "off" };
    const browser = await openBrowser(context);
    if (browser === undefined) return;
    const { page } = await enterPage(browser, await scene.http({ env, program: ["--require", PRELOAD, BIN] }));
    await page.goto(`/runs/${taskId}`);
    await page.getByRole("button", { name: "Check citations", exact: true }).click();
    await expect.poll(() => marks(page)).toEqual(["confirmed", "conflict", "not_found"]);
    expect(await page.locator("#conflicts").innerText()).toContain("X2: Price: 8 EUR");
  },
);

test.skipIf((await browserInstalled()) === "missing")(
  "a figure that the page contradicts is red, with what the page says and its passage, before and after a judge; titles of pages replace domains (W2, W3, W6)",
  async (context) => {
    const scene = await openHttpScene(context, { name: "citations", plain_urls: true });
    const taskId = await storeContradictedRun(scene);
    const env = await openTrial(context);
    const browser = await openBrowser(context);
    if (browser === undefined) return;
    const plain = await enterPage(browser, await scene.http({ env: { ...env, VERIFY_JUDGE: "off" } }));
    await plain.page.goto(`/runs/${taskId}`);
    await plain.page.getByRole("button", { name: "Check citations", exact: true }).click();
    await expectConflict(plain.page);
    const judged = await enterPage(browser, await scene.http({ env }));
    await judged.page.goto(`/runs/${taskId}`);
    await judged.page.getByRole("button", { name: "Check again", exact: true }).click();
    await judged.page.getByText("leaves open: <$0.01 so far").waitFor();
    await expectConflict(judged.page);
    expect([...plain.pageErrors, ...judged.pageErrors]).toEqual([]);
  },
);

/** In the list above the sources, in the text and in the card. */
async function expectConflict(page: Page): Promise<void> {
  const listed = page.getByRole("list", { name: "Conflicts" }).getByRole("listitem").first();
  await listed.getByText("The page says “412”.", { exact: true }).waitFor();
  expect(await listed.locator("blockquote").textContent()).toContain(SENTENCE);
  expect(await page.locator(".verdict-counts li").first().textContent()).toBe("2 ≠ conflict");
  expect(await marks(page)).toEqual(["conflict", "conflict", "confirmed", "likely"]);
  const mark = page.locator(".report-text .cite a").first();
  expect(await mark.getAttribute("title")).toBe("The page says “412”.");
  expect(await page.locator("#source-1").textContent()).toContain(TITLE);
  await mark.hover();
  const card = page.locator(".citation-card");
  await card.getByText("The page says “412”.", { exact: true }).waitFor();
  expect(await card.locator("blockquote").allTextContents()).toEqual([`The page says: ${SENTENCE}`]);
  expect(await card.textContent()).toContain(TITLE);
  const colour = await page.evaluate<string>("getComputedStyle(document.querySelector('.citation-card .says')).color");
  const [red = 0, green = 0, blue = 0] = [...colour.matchAll(/\d+/g)].map(Number);
  expect(red).toBeGreaterThan(Math.max(green, blue) + 60);
  await page.keyboard.press("Escape");
}
