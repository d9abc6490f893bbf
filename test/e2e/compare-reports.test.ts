/** What changed since an earlier report of the same question, through the tool, the terminal and the page's API. */

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { z } from "zod";
import { browserInstalled, enterPage, openBrowser } from "../kit/browser/browser.ts";
import { openHttpScene } from "../kit/server/http-server.ts";
import { openResearch } from "../kit/server/research.ts";
import type { Scene } from "../kit/server/scene.ts";

const BEFORE = `# Heat pumps

The trial covered 412 homes in three countries. Sales in Norway rose by 12 percent in 2025.

| Maker | Price | Noise |
|---|---|---|
| Daikin | 5,000 EUR | 38 dB |
| Bosch | 6,200 EUR | 41 dB |

Old radiators often have to be replaced before the change.
`;
const NOW = `# Heat pumps

Sales in Norway rose by 12 percent in 2025. The trial covered 512 homes in three countries.

| Maker | Price | Noise |
|---|---|---|
| Daikin | 5,400 EUR | 38 dB |
| Bosch | 6,200 EUR | 41 dB |

A new law forbids gas boilers in new buildings from January on.
`;
const OLD_PAGE = {
  n: 1,
  title: "Field trial",
  url: "https://trial.example/report?utm_source=x",
  domain: "trial.example",
};
const SAME_PAGE = { ...OLD_PAGE, url: "https://trial.example/report" };
const GONE_PAGE = { n: 2, title: "Radiators", url: "https://old.example/radiators", domain: "old.example" };
const NEW_PAGE = { n: 2, title: "The law", url: "https://law.example/boilers", domain: "law.example" };

const CHANGED = [
  {
    now: "Daikin: Price: 5,400 EUR | Noise: 38 dB",
    before: "Daikin: Price: 5,000 EUR | Noise: 38 dB",
    said: "Price: 5,000 EUR",
  },
  {
    now: "The trial covered 512 homes in three countries.",
    before: "The trial covered 412 homes in three countries.",
    said: "412",
  },
];

async function storeReport(
  scene: Pick<Scene, "command" | "configDir">,
  question: string,
  report: string,
  sources: object[],
): Promise<string> {
  const { stdout } = await scene.command(["search", question, "--json"]);
  const { metadata } = z.object({ metadata: z.object({ task_id: z.string() }) }).parse(JSON.parse(stdout));
  const database = new DatabaseSync(join(scene.configDir, "deep_research.db"), { timeout: 5_000 });
  database
    .prepare(
      "update research_results set report_markdown = ?, sources_json = ?, supports_json = null where task_id = ?",
    )
    .run(report, JSON.stringify(sources), metadata.task_id);
  database.close();
  return metadata.task_id;
}

test("a report is compared with the newest earlier one of the same question, in both sentences (W11)", async (context) => {
  const scene = await openResearch(context);
  const earlier = await storeReport(scene, "How do heat pumps perform in cold climates?", BEFORE, [
    OLD_PAGE,
    GONE_PAGE,
  ]);
  const other = await storeReport(scene, "How do heat pumps perform in hot climates?", BEFORE, []);
  const now = await storeReport(scene, "heat pumps: how they perform in cold climates", NOW, [SAME_PAGE, NEW_PAGE]);
  const server = await scene.server({ era: "modern", env: { GEMINI_SEARCH_TOOLS: "all" } });
  const { structured, text } = await server.call("compare_reports", { task_id: now });
  expect(structured).toMatchObject({
    success: true,
    task_id: now,
    earlier: { task_id: earlier },
    message: "2 findings changed, 1 new, 1 gone; 1 new source, 1 gone.",
    changed: CHANGED,
    added: ["A new law forbids gas boilers in new buildings from January on."],
    gone: ["Old radiators often have to be replaced before the change."],
    new_sources: [{ title: NEW_PAGE.title, url: NEW_PAGE.url }],
    gone_sources: [{ title: GONE_PAGE.title, url: GONE_PAGE.url }],
  });
  expect(text).toContain("- The trial covered 512 homes in three countries.\n  before: The trial covered 412 homes");
  const same = await server.call("compare_reports", { task_id: earlier, earlier: other.slice(0, 8) });
  expect(same.structured).toMatchObject({
    earlier: { task_id: other },
    message: "0 findings changed, 0 new, 0 gone; 2 new sources, 0 gone.",
  });
  const itself = await server.call("compare_reports", { task_id: now, earlier: now });
  expect(itself.structured["error"]).toMatchObject({ code: "INVALID_TASK_ID" });
  const first = await server.call("compare_reports", { task_id: earlier });
  expect(first.structured["error"]).toMatchObject({
    code: "INVALID_INPUT",
    message: "There is nothing to compare with yet: no earlier report has the same question.",
  });

  const printed = await scene.command(["changes", now.slice(0, 8)]);
  expect(printed.code).toBe(0);
  expect(Math.max(...printed.stdout.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(100);
  const lines = printed.stdout.replaceAll("\n  ", " ").split("\n");
  expect(lines).toEqual(
    expect.arrayContaining([
      "+ A new law forbids gas boilers in new buildings from January on.",
      "- Old radiators often have to be replaced before the change.",
      `+ The law: ${NEW_PAGE.url}`,
    ]),
  );
  // Each change is two lines.
  expect(lines.join("\n")).toContain(`- ${CHANGED[0]?.before}\n+ ${CHANGED[0]?.now}`);
});

test.skipIf((await browserInstalled()) === "missing")(
  "the page shows both side by side, and its code is loaded when it is opened (W11)",
  async (context) => {
    const browser = await openBrowser(context);
    if (browser === undefined) return;
    const scene = await openHttpScene(context);
    await storeReport(scene, "How do heat pumps perform in cold climates?", BEFORE, [GONE_PAGE]);
    const now = await storeReport(scene, "How do heat pumps perform in cold climates?", NOW, [NEW_PAGE]);
    const { page, pageErrors, otherOrigins } = await enterPage(browser, await scene.http());
    const scripts: string[] = [];
    page.on("request", (request) => scripts.push(new URL(request.url()).pathname));
    await page.goto(`/runs/${now}`);
    await page.getByText("More", { exact: true }).click();
    expect(scripts.filter((path) => path.includes("changes"))).toEqual([]);
    await page.getByRole("link", { name: "Compare with an earlier report" }).click();
    await page.getByRole("heading", { name: "What changed" }).waitFor();
    const row = page.getByRole("row").filter({ hasText: "512" });
    await row.waitFor();
    expect(await row.getByRole("cell").allTextContents()).toEqual([CHANGED[1]?.before, CHANGED[1]?.now]);
    await page.getByText("The law (law.example)").waitFor();
    // Its address can be kept, and is that of a view for the guard, too.
    await page.reload();
    await row.waitFor();
    expect([pageErrors, otherOrigins]).toEqual([[], []]);
    // It is not offered where there is no earlier one.
    await page.getByRole("link", { name: /^the report of/ }).click();
    const earlier = page.waitForResponse("**/earlier");
    await page.getByText("More", { exact: true }).click();
    await earlier;
    await page.getByRole("link", { name: "Repeat…" }).waitFor();
    expect(await page.getByRole("link", { name: "Compare with an earlier report" }).count()).toBe(0);
    // A later report can be compared with each of them.
    const same = await storeReport(scene, "How do heat pumps perform in cold climates?", NOW, [NEW_PAGE]);
    await page.goto(`/runs/${same}/changes`);
    await page.getByText(/^No change found: \d+ sentences and 1 source compared\.$/).waitFor();
    const choice = page.getByLabel("Compare with");
    expect(await choice.locator("option").count()).toBe(2);
    await choice.selectOption({ index: 1 });
    await row.waitFor();
  },
);
