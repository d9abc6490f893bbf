/** The dashboard in Firefox: a research from the question to its sources, with the keyboard and on a narrow screen. */

import type { Page } from "puppeteer-core";
import { expect, test } from "vitest";
import { enterWithFirefox, openFirefox, resize } from "../kit/browser/firefox.ts";
import { SUBMIT } from "../kit/browser/ask-form.ts";
import { LONG_REPORT } from "../kit/browser/sample-report.ts";
import { TEST_KEY } from "../kit/server/server.ts";
import { openHttpScene } from "../kit/server/http-server.ts";

const QUESTION = "How do heat pumps perform in cold climates?";
const REPORT = LONG_REPORT.replaceAll(/\[(\d)\]/g, "[cite: $1]");
const HOUR_MS = 60 * 60_000;
const WITHIN = { timeout: 60_000 };

const textOf = (page: Page, selector: string): Promise<string> =>
  page.$eval(selector, ({ textContent }) => textContent ?? "");
const focused = (page: Page): Promise<unknown> => page.evaluate("document.activeElement?.id");
const overflow = (page: Page): Promise<unknown> =>
  page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");

/** Keys only: the question, the depth by its arrows, and Enter on the button. */
async function askWithKeyboard(page: Page): Promise<void> {
  await page.click("nav a[href='/']");
  await page.waitForSelector("#question");
  await page.focus("#question");
  await page.keyboard.type(QUESTION);
  await page.focus(".start input[type=radio]:checked");
  for (let presses = 0; presses < 2; presses += 1) await page.keyboard.press("ArrowDown");
  expect(await textOf(page, ".start label:has(:checked) strong")).toBe("Deep research");
  await page.waitForSelector(`${SUBMIT}:enabled`);
  expect(await textOf(page, SUBMIT)).toMatch(/^Start · about \$\d/);
  await page.focus(SUBMIT);
  await page.keyboard.press("Enter");
}

test("a key is entered, and a research is asked, followed live and read, without an error of the page (A3, J3, K1)", async (context) => {
  const browser = (await openFirefox(context)) ?? context.skip("there is no firefox-esr");
  const scene = await openHttpScene(context, {
    name: "firefox",
    interactions: { speed: 1, duration_ms: HOUR_MS, usage_after_ms: 0, create: [{ life: { report: REPORT } }] },
  });
  const quick = { RESEARCH_SYNC_WINDOW_MS: "0", RESEARCH_POLL_INTERVAL_MS: "100", RESEARCH_MAX_RPS: "100" };
  const server = await scene.http({ env: { ...quick, GEMINI_API_KEY: "" } });
  const { page, pageErrors } = await enterWithFirefox(browser, server);

  await page.waitForSelector("#key");
  await page.type("#key", TEST_KEY);
  await page.keyboard.press("Enter");
  await page.waitForSelector("#key", { hidden: true });
  await askWithKeyboard(page);
  await page.waitForSelector(".run-head .badge");
  scene.gemini.skip(0.3 * HOUR_MS);
  await page.waitForSelector(".entry[data-kind=thought]");
  expect(await textOf(page, ".run-head .badge")).toContain("Running");
  scene.gemini.skip(HOUR_MS);
  await page.waitForSelector(".report-text");
  await expect.poll(() => textOf(page, ".run-head .badge"), WITHIN).toContain("Completed");
  expect(await textOf(page, ".report-text")).toContain("Field studies followed 1,200 homes");

  await page.click("#cite-1-1");
  await expect.poll(() => focused(page), WITHIN).toBe("source-1");
  await page.evaluate("history.back()");
  await expect.poll(() => focused(page), WITHIN).toBe("cite-1-1");

  await page.click(".actions .menu summary");
  await page.waitForSelector(".actions .menu[open] .menu-items");
  await page.keyboard.press("Escape");
  await page.waitForSelector(".actions .menu:not([open])");
  await page.waitForSelector(".composer textarea");
  const below = "document.querySelector('.composer textarea').getBoundingClientRect().bottom - innerHeight";
  expect(Number(await page.evaluate(below))).toBeLessThanOrEqual(0);

  await resize(page, { width: 390, height: 800 });
  expect(await overflow(page)).toBe(0);
  await page.goto(`${server.url}/`);
  await page.waitForSelector(".run-link");
  expect(await textOf(page, ".run-link")).toContain(QUESTION);
  expect(await overflow(page)).toBe(0);
  expect(pageErrors).toEqual([]);
}, 240_000);
