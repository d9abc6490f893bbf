/** The height of a run's page in a real browser: it ends where its contents end, however long its lists are. */

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { browserOrSkip, enterPage } from "../kit/browser/browser.ts";
import { insertSampleRuns, type SampleRun, sampleId } from "../kit/browser/sample-runs.ts";
import { openHttpScene } from "../kit/server/http-server.ts";

const RUN = sampleId(1);
const FOLLOW_UP = sampleId(2);

const SOURCES = Array.from({ length: 60 }, (_, index) => ({
  n: index + 1,
  title: `Field results of measured homes, part ${index + 1} of the survey`,
  domain: `survey-${index + 1}.example`,
  url: `https://survey-${index + 1}.example/results`,
}));

const SENTENCES = SOURCES.map(({ n }) => `Measured in the field [${n}].`).join(" ");
const LIST = SOURCES.map(({ n, domain, url }) => `${n}. [${domain}](${url})`).join("\n");

const report = { markdown: `## Results\n\n${SENTENCES}\n\nSources:\n${LIST}`, sources: SOURCES };
const times = { created_at: Date.now() - 60_000, completed_at: Date.now() };

const SAMPLES: SampleRun[] = [
  { row: { task_id: RUN, ...times }, report },
  { row: { task_id: FOLLOW_UP, ...times, parent_task_id: RUN, followup_context: "stored_report" }, report },
];

/** How far the page can be scrolled beyond the end of its body, in pixels. */
const blankPixels = (page: Page): Promise<number> =>
  page.evaluate<number>(
    "document.documentElement.scrollHeight - Math.max(innerHeight, document.body.getBoundingClientRect().bottom + scrollY)",
  );

test("a page with 60 sources beside the report and below a follow-up has no blank end (K1)", async (context) => {
  const browser = await browserOrSkip(context);
  const scene = await openHttpScene(context);
  await insertSampleRuns(scene.configDir, SAMPLES);
  const { page } = await enterPage(browser, await scene.http());
  await page.goto(`/runs/${RUN}`);
  await page.locator(".report-side #source-60").waitFor({ state: "attached" });
  await page.locator(".turn-sources li").nth(59).waitFor({ state: "attached" });
  expect(await blankPixels(page)).toBeLessThanOrEqual(1);
  await page.setViewportSize({ width: 480, height: 800 });
  expect(await blankPixels(page)).toBeLessThanOrEqual(1);
});
