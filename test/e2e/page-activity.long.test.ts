/** The live view of a run in a real browser: phase, searches, sites, time left, and what a screen reader hears of them. */

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, type TestContext } from "vitest";
import { z } from "zod";
import type { ScenarioInput } from "../../simulator/scenario.ts";
import { browserInstalled, closePages, enterPage, sharedBrowser } from "../kit/browser/browser.ts";
import { openPageServer } from "../kit/browser/page-api.ts";
import { QUERY } from "../kit/server/research.ts";

const MINUTE_MS = 60_000;
/** Virtual time passes only when the test says so. */
const HOUR = { speed: 1, duration_ms: 60 * MINUTE_MS };
/** Six rounds of a thought and two searches; pages are opened in the third and in the sixth. */
const COURSE = Array.from({ length: 6 }, (_, round) => ({
  thought: `**Step ${round + 1}**\n\nI look further.`,
  queries: [`heat pumps ${round + 1}`, `cold climates ${round + 1}`],
}));
const SOON = { timeout: 60_000 };

let browser: Browser;

async function open(context: TestContext, scenario: Omit<ScenarioInput, "name">) {
  const scene = await openPageServer(context);
  scene.gemini.setScenario({ name: "activity", ...scenario });
  const server = await scene.serve();
  const { page, pageErrors } = await enterPage(browser, server);
  context.onTestFinished(() => page.context().close());
  await page.addInitScript(RECORD_ANNOUNCEMENTS);
  const start = async (path: string, body: object): Promise<string> => {
    const answer = await server.post(path, { query: QUERY, ...body });
    const taskId = z.object({ task_id: z.string() }).parse(answer.body).task_id;
    await page.goto(`/runs/${taskId}`);
    return taskId;
  };
  return { page, pageErrors, start, skip: scene.gemini.skip, sql: scene.sql };
}

const RECORD_ANNOUNCEMENTS = `
  window.heard = [];
  new MutationObserver(() => {
    const text = document.querySelector("#announcements")?.textContent ?? "";
    if (text !== "" && window.heard.at(-1) !== text) window.heard.push(text);
  }).observe(document, { subtree: true, childList: true, characterData: true });`;

const heard = (page: Page): Promise<string[]> => page.evaluate("window.heard");
const line = (page: Page): Promise<string> => page.locator(".activity p").first().innerText();
async function lineBecomes(page: Page, text: RegExp): Promise<void> {
  await expect.poll(() => line(page), SOON).toMatch(text);
}

describe.skipIf((await browserInstalled()) === "missing")("the live view of a run", () => {
  beforeAll(async () => {
    browser = await sharedBrowser();
  });
  afterAll(() => closePages(browser));

  test("shows phases, searches and sites as Google names them, and announces phases only (J3)", async (context) => {
    const { page, pageErrors, start, skip } = await open(context, { interactions: { ...HOUR, course: COURSE } });
    await start("/api/research", {});
    await lineBecomes(page, /^Planning · \d+ s so far(?: · .*)?$/);
    expect(await page.locator(".activity").innerText()).toContain("Sites are listed as soon as Google names them.");
    skip(15 * MINUTE_MS);
    await lineBecomes(page, /^Searching · 4 searches · /);
    skip(11 * MINUTE_MS);
    await lineBecomes(page, /^Reading · 6 searches · [23] sites · /);
    const site = page.locator(".sites a").first();
    expect(await site.getAttribute("href")).toMatch(/^https:\/\/[a-z.-]+\.(?:example|test)/);
    expect(await site.getAttribute("rel")).toContain("noopener");
    skip(30 * MINUTE_MS);
    // Of each three pages one is behind a paywall, and no site.
    await lineBecomes(page, /^Writing · 12 searches · [45] sites · /);
    expect(await page.locator(".sites a").count()).toBe(Number(/(\d) sites/.exec(await line(page))?.[1]));
    // A page that was read and is cited is one site; each is an entry of the activity.
    expect(await page.locator(".entry[data-kind=source]").count()).toBe(
      Number(/(\d) sites/.exec(await line(page))?.[1]),
    );
    await expect
      .poll(() => heard(page), SOON)
      .toContainEqual(expect.stringMatching(/^Writing: 12 searches, [45] sites\.$/));
    for (const text of await heard(page)) expect(text).toMatch(/^(?:Researching|Searching|Reading|Writing)[:.]/);
    skip(10 * MINUTE_MS);
    await page.locator(".report-text").waitFor();
    await page.locator(".activity").waitFor({ state: "detached" });
    expect(pageErrors).toEqual([]);
  });

  test("of a stream with thoughts only claims no search and no site (J3)", async (context) => {
    const { page, start, skip } = await open(context, {
      interactions: { ...HOUR, steps: "thought", event_ids: "none", annotations: false },
    });
    await start("/api/research", {});
    skip(30 * MINUTE_MS);
    await lineBecomes(page, /^Researching · \d+ s so far(?: · .*)?$/);
    expect(await page.locator(".activity").innerText()).toContain("Sites are listed as soon as Google names them.");
    skip(25 * MINUTE_MS);
    await lineBecomes(page, /^Writing · \d+ s so far(?: · .*)?$/);
  });

  test("has one time left in the list and in the view, and says when it takes longer (J2)", async (context) => {
    const { page, start, sql } = await open(context, { interactions: HOUR });
    const taskId = await start("/api/research", {});
    const left = async (): Promise<string | undefined> =>
      /about \d+ min left|longer than usual/.exec(await page.locator(".progress").first().innerText())?.[0];
    await expect.poll(left, SOON).toMatch(/^about \d+ min left$/);
    const inView = await left();
    await page.goto("/");
    await expect.poll(left, SOON).toBe(inView);
    const past = 16 * MINUTE_MS;
    sql(
      "update research_tasks set created_at = created_at - ?, started_at = started_at - ? where task_id = ?",
      past,
      past,
      taskId,
    );
    await page.reload();
    await expect.poll(left, SOON).toBe("longer than usual");
    await page.goto(`/runs/${taskId}`);
    await expect.poll(left, SOON).toBe("longer than usual");
    await lineBecomes(page, /· 16 min so far(?: · .*)?$/);
  });

  test("of a deep search names its round, with the searches and sites of those before (G4)", async (context) => {
    const { page, start } = await open(context, { tasks: { verify: [{ latency_ms: 60_000 }] } });
    await start("/api/ask", { depth: "deep_search" });
    await lineBecomes(
      page,
      /^Round 2 of at most 5: verifying · \d+ search(?:es)? · \d+ sites? · \d+ s so far(?: · .*)?$/,
    );
    expect(await page.locator(".sites a").count()).toBeGreaterThan(0);
  });
});
