/** Questions asked on the page: searches, asking again, and editing a question first. */

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { draftResearch, SUBMIT } from "../kit/browser/ask-form.ts";
import { browserInstalled, closePages, enterPage, sharedBrowser } from "../kit/browser/browser.ts";
import { openPageServer } from "../kit/browser/page-api.ts";
import { openHttpScene, type RunningHttpServer } from "../kit/server/http-server.ts";
import { inMenu } from "../kit/browser/menu.ts";

const QUERY = "When is the next total solar eclipse?";
const WISHES = "Language of the answer: German (de).\nPrefer sources from these domains: nature.com, who.int.";

let browser: Browser;
const installed = await browserInstalled();

const runIdOf = (page: Page): string => new URL(page.url()).pathname.split("/").at(-1) ?? "";

async function ask(
  server: RunningHttpServer,
  body: unknown,
): Promise<{ status: number; answer: Record<string, unknown> }> {
  const response = await server.request("/api/ask", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, answer: (await response.json()) as Record<string, unknown> };
}

/** Grants the permission, and records notifications instead of showing them. */
const RECORD_NOTIFICATIONS = `
  window.shown = [];
  window.Notification = class extends EventTarget {
    static requestPermission = async () => "granted";
    constructor(title, { body }) {
      super();
      Object.assign(this, { title, body, close: () => {} });
      window.shown.push(this);
    }
  };`;

describe.skipIf(installed === "missing")("a question on the page", () => {
  beforeAll(async () => {
    browser = await sharedBrowser();
  });
  afterAll(() => closePages(browser));

  test.for(["Search", "Deep search"])(
    "at depth “%s” is answered, and can be asked again and edited, with its wishes (F2, G4, V6, V7)",
    async (depth, context) => {
      const scene = await openHttpScene(context, "good");
      const { page, pageErrors } = await enterPage(browser, await scene.http());
      context.onTestFinished(() => page.context().close());
      const choice = page.getByRole("radio", { name: depth, exact: false }).first();
      await page.goto("/");
      expect(await page.locator(SUBMIT).isDisabled()).toBe(true);
      await draftResearch(page, "AI");
      await page.getByText("This question is short. What should this research focus on").waitFor();
      await choice.check();
      await page.fill("#question", QUERY);
      await page.getByText("Options", { exact: true }).click();
      await page.getByLabel("Language").fill("de");
      await page.getByLabel("Prefer sources from").fill("nature.com who.int");
      await page.locator(`${SUBMIT}:enabled`, { hasText: "Ask" }).click();
      await page.waitForURL("**/runs/*");
      const first = runIdOf(page);
      await page.locator(".report-text").waitFor();
      await page.getByText("Asked for, not enforced: in German (de); preferably from nature.com, who.int.").waitFor();
      await (await inMenu(page, "More", "Ask again")).click();
      await page.waitForURL((url) => url.pathname.startsWith("/runs/") && !url.pathname.endsWith(first));
      await page.locator(".report-text").waitFor();
      await (await inMenu(page, "More", "Edit and ask")).click();
      await page.waitForURL((url) => url.pathname === "/");
      expect(await page.inputValue("#question")).toBe(QUERY);
      expect(await choice.isChecked()).toBe(true);
      expect(await page.getByLabel("Prefer sources from").inputValue()).toBe("nature.com, who.int");
      const wishes = scene.gemini.ledger.entries().map((entry) => entry.wishes);
      expect(new Set(wishes)).toEqual(new Set([WISHES]));
      expect(pageErrors).toEqual([]);
    },
  );

  test("under way: the browser notifies of its end if asked to, and a click opens the run (O1)", async (context) => {
    const scene = await openHttpScene(context, { name: "slow", tasks: { search: [{ latency_ms: 5_000 }] } });
    const server = await scene.http();
    const { page } = await enterPage(browser, server);
    context.onTestFinished(() => page.context().close());
    await page.addInitScript(RECORD_NOTIFICATIONS);
    const { answer } = await ask(server, { query: QUERY, depth: "search" });
    const path = `/runs/${String(answer["task_id"])}`;
    await page.goto(path);
    await page.getByRole("button", { name: "Notify me" }).click();
    await page.getByText("This browser will notify you").waitFor();
    await page.getByRole("link", { name: "Home", exact: true }).click();
    await expect
      .poll(() => page.evaluate("shown.map(({ title, body }) => [title, body])"))
      .toEqual([["Completed", QUERY]]);
    await page.evaluate("shown[0].dispatchEvent(new Event('click'))");
    await page.waitForURL(`**${path}`);
  });

  test("that asks for a chart gets one, shown from this server alone and in the saved file, unless charts are off (V4)", async (context) => {
    const scene = await openPageServer(context, { duration_ms: 0 });
    const server = await scene.serve();
    const { page, pageErrors, otherOrigins } = await enterPage(browser, server);
    context.onTestFinished(() => page.context().close());
    const charts = page.getByLabel("Draw charts if the question asks for them");
    const start = async (question: string, { drawn }: { drawn: boolean }): Promise<void> => {
      await page.goto("/");
      await draftResearch(page, question);
      await page.getByText("Options", { exact: true }).click();
      expect(await charts.isChecked()).toBe(true);
      await charts.setChecked(drawn);
      await page.locator(`${SUBMIT}:enabled`, { hasText: "Start" }).click();
      await page.waitForURL("**/runs/*");
      await page.locator(".report-text").waitFor();
    };
    await start("How deep are the ten deepest lakes? Draw a chart of them.", { drawn: true });
    await page.locator(".picture img[src]").waitFor();
    expect(await page.evaluate("document.querySelector('.picture img').decode().then(() => true)")).toBe(true);
    const saved = await server.request(`/api/runs/${runIdOf(page)}/report.html`);
    expect((await saved.text()).match(/<img [^>]*src="[^"]{22}/g)).toEqual([
      expect.stringMatching('src="data:image/png;base64,$'),
    ]);
    await start("How deep are the five deepest lakes? Draw a chart of them.", { drawn: false });
    expect(await page.locator(".picture").count()).toBe(0);
    expect([scene.posts(), pageErrors, otherOrigins]).toEqual([2, [], []]);
  });

  test("that failed can be asked again from its run (F2)", async (context) => {
    const scene = await openHttpScene(context, { name: "broken", tasks: { search: [{ fault: "http-500" }] } });
    const server = await scene.http();
    const { answer } = await ask(server, { query: QUERY, depth: "search" });
    const { page } = await enterPage(browser, server);
    context.onTestFinished(() => page.context().close());
    await page.goto(`/runs/${String(answer["task_id"])}`);
    await page.locator(".badge", { hasText: "Failed" }).first().waitFor();
    scene.gemini.setScenario("good");
    await page.getByRole("button", { name: "Ask again" }).click();
    await page.locator(".report-text").waitFor();
  });
});

test("an unknown depth or an empty question is refused, and no run is stored (F1)", async (context) => {
  const server = await (await openHttpScene(context, "good")).http();
  expect(await ask(server, { query: QUERY, depth: "agent" })).toMatchObject({
    status: 400,
    answer: { error: { code: "INVALID_INPUT", message: "depth must be search or deep_search." } },
  });
  expect(await ask(server, { query: " ", depth: "search" })).toMatchObject({
    status: 400,
    answer: { error: { code: "INVALID_QUERY" } },
  });
  const list = (await (await server.request("/api/runs")).json()) as { total: number };
  expect(list.total).toBe(0);
});
