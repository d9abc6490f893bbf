/** A run in a real browser: live progress, reload, server restart, and actions. */

import type { Page } from "playwright-core";
import { expect, test, type TestContext } from "vitest";
import { z } from "zod";
import { openBrowser } from "../kit/browser/browser.ts";
import { type HttpScene, openHttpScene, type RunningHttpServer } from "../kit/server/http-server.ts";
import type { Interactions } from "../kit/server/research.ts";

const QUICK = { RESEARCH_SYNC_WINDOW_MS: "0", RESEARCH_POLL_INTERVAL_MS: "100", RESEARCH_MAX_RPS: "100" };
/** Fast enough for thoughts to arrive, slow enough not to end before the test ends it. */
const GOING = { speed: 40, duration_ms: 60 * 60_000 };
/** Few enough entries that all of them are shown. */
const SHORT_COURSE = Array.from({ length: 20 }, (_, round) => ({
  thought: `Thought ${round + 1}`,
  queries: [`heat pumps ${round + 1}`],
}));
const WHOLE_LIFE_MS = 60 * 60_000;
const SOON = { timeout: 60_000 };

interface Opened {
  scene: HttpScene;
  server: RunningHttpServer;
  page: Page;
  /** Errors in the browser's console, such as violations of the page's policy. */
  complaints: string[];
  startRun: () => Promise<string>;
}

async function open(context: TestContext, interactions: Interactions): Promise<Opened> {
  const browser = await openBrowser(context);
  if (browser === undefined) return context.skip("there is no chromium");
  const scene = await openHttpScene(context, { name: "page", interactions });
  const server = await scene.http({ env: QUICK });
  const page = await browser.newPage();
  const link = await server.request("/api/links", { method: "POST" });
  await page.goto(`${server.url}${z.object({ path: z.string() }).parse(await link.json()).path}`);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (/Content Security Policy|Trusted/i.test(message.text())) complaints.push(message.text());
  });
  const startRun = async (): Promise<string> => {
    const response = await server.request("/api/research", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query: "How do heat pumps perform in cold climates?" }),
    });
    return z.object({ task_id: z.string() }).parse(await response.json()).task_id;
  };
  return { scene, server, page, complaints, startRun };
}

const entriesOf = (page: Page): Promise<string[]> =>
  page.locator(".entry").evaluateAll((entries) => entries.map(({ id }) => id));

test("without a report the times of the timeline stand beside its text (J3)", async (context) => {
  const { server, page, startRun } = await open(context, GOING);
  const taskId = await startRun();
  await page.setViewportSize({ width: 1_440, height: 900 });
  await page.goto(`${server.url}/runs/${taskId}`);
  const entry = page.locator(".entry").first();
  await entry.waitFor(SOON);
  // The width of a column of text.
  expect((await entry.boundingBox())?.width).toBeLessThanOrEqual(46 * 16);
});

test("a run is shown live through a reload and a restart, and its report appears automatically (J3)", async (context) => {
  const { scene, server, page, complaints, startRun } = await open(context, { ...GOING, course: SHORT_COURSE });
  const taskId = await startRun();
  await page.goto(`${server.url}/runs/${taskId}`);
  await page.locator(".entry[data-kind=thought]").first().waitFor(SOON);
  await page.reload();
  await page.locator(".entry[data-kind=thought]").first().waitFor(SOON);
  const before = await entriesOf(page);

  await server.close();
  await page.getByText("Reconnecting…").first().waitFor(SOON);
  await scene.http({ env: QUICK, args: ["--port", String(server.port)] });
  scene.gemini.skip(WHOLE_LIFE_MS);
  await page.locator(".report-text").waitFor(SOON);
  await expect.poll(() => page.locator(".run-head .badge").first().innerText(), SOON).toContain("Completed");
  const after = await entriesOf(page);
  expect(after).toEqual(expect.arrayContaining(before));
  expect(new Set(after).size).toBe(after.length);

  await page.goto(`${server.url}/costs`);
  await page.locator(".figures table").first().waitFor(SOON);
  expect(await page.locator(".figures .total").innerText()).toMatch(
    /^\$\d+\.\d\d from [\d-]+ to [\d-]+ \(UTC\), 1 paid request$/,
  );
  expect(complaints).toEqual([]);
});

test("cancelling asks first, Escape closes the question, and the amount is named (L1)", async (context) => {
  const { page, server, complaints, startRun } = await open(context, GOING);
  const taskId = await startRun();
  await page.goto(`${server.url}/runs/${taskId}`);
  const cancel = page.getByRole("button", { name: "Cancel…" });
  await cancel.click();
  await page.getByRole("dialog").waitFor(SOON);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ ...SOON, state: "detached" });
  await page.locator("button:focus", { hasText: "Cancel…" }).waitFor(SOON);
  await cancel.click();
  // A research that is cancelled has no report.
  expect(await page.getByRole("dialog").innerText()).toMatch(
    /so far \((?:about )?\$\d+\.\d\d(?: at its end)?\) and get no report/,
  );
  expect(await page.getByRole("dialog").getByRole("checkbox").count()).toBe(0);
  await page.getByRole("button", { name: "Cancel the run" }).click();
  await expect.poll(() => page.locator(".run-head .badge").first().innerText(), SOON).toContain("Cancelled");
  expect(await page.locator(".report-text").count()).toBe(0);
  expect(complaints).toEqual([]);
});

test("an error of a server that was away disappears when it is back (L1)", async (context) => {
  const { scene, server, page, startRun } = await open(context, GOING);
  const taskId = await startRun();
  await page.goto(`${server.url}/runs/${taskId}`);
  await page.locator(".entry[data-kind=thought]").first().waitFor(SOON);
  await server.close();
  await page.getByRole("button", { name: "Cancel…" }).click();
  await page.getByRole("button", { name: "Cancel the run" }).click();
  await page.getByRole("alert").getByText("Can't reach the server.").waitFor(SOON);
  await page.keyboard.press("Escape");
  await page.locator(".actions [role=alert]").waitFor(SOON);
  await scene.http({ env: QUICK, args: ["--port", String(server.port)] });
  await page.locator(".actions [role=alert]").waitFor({ ...SOON, state: "detached" });
});

test("an unknown start is restarted only after a warning that it may be charged twice (Q1)", async (context) => {
  const { page, server, scene, startRun } = await open(context, {
    ...GOING,
    create: [{ fault: "accept-then-reset" }, {}],
  });
  const taskId = await startRun();
  const accepted = (): number => scene.gemini.ledger.acceptedStarts().length;
  await page.goto(`${server.url}/runs/${taskId}`);
  await page.getByRole("button", { name: "Start again…" }).click();
  const start = page.getByRole("dialog").getByRole("button", { name: /start again/i });
  expect(await page.getByRole("dialog").innerText()).toContain("could charge you twice");
  expect(await start.isDisabled()).toBe(true);
  expect(accepted()).toBe(1);
  await page.getByLabel("I accept that both may be charged").check();
  await start.click();
  await expect.poll(() => page.locator(".run-head .badge").first().innerText(), SOON).toContain("Running");
  expect(accepted()).toBe(2);
});

test("a page that missed events reads the run again when it reconnects (J3)", async (context) => {
  const { scene, server, page, startRun } = await open(context, GOING);
  const taskId = await startRun();
  // A stream that only greets, and is cut at once.
  const greeting = 'retry: 100\nevent: hello\ndata: {"version":"0"}\n\n';
  await page.route("**/api/live*", (route) => route.fulfill({ contentType: "text/event-stream", body: greeting }));
  await page.goto(`${server.url}/runs/${taskId}`);
  await page.locator(".run-head .badge[data-status=running_async]").waitFor(SOON);
  scene.gemini.skip(WHOLE_LIFE_MS);
  await page.locator(".report-text").waitFor(SOON);
});

const PARAGRAPHS = "<p>Long enough to scroll.</p>".repeat(80);
const cite = (k: number): string => `<p>Said <sup class="cite"><a id="cite-2-${k}" href="#source-2">[2]</a></sup></p>`;
const REPORT = {
  title: "Heat pumps",
  html: `<h2 id="s-one">One</h2>${cite(1)}${PARAGRAPHS}<h2 id="s-two">Two</h2>${cite(2)}${PARAGRAPHS}`,
  contents: [
    { id: "s-one", title: "One", level: 2 },
    { id: "s-two", title: "Two", level: 2 },
  ],
  sources: [
    { n: 1, title: "First", domain: "a.test", url: "https://a.test/", cited_at: [] },
    { n: 2, title: "Second", domain: "b.test", url: "https://b.test/", cited_at: ["cite-2-1", "cite-2-2"] },
  ],
  partial: false,
  more_parts: 0,
};

test("a citation links to its source and back, by link, back button and address (K1)", async (context) => {
  const { scene, server, page, complaints, startRun } = await open(context, GOING);
  const taskId = await startRun();
  scene.gemini.skip(WHOLE_LIFE_MS);
  await page.route("**/report", (route) => route.fulfill({ json: { ...REPORT, task_id: taskId } }));
  const isReached = async (id: string): Promise<void> => {
    const place = page.locator(`#${id}:focus`);
    await place.waitFor(SOON);
    await expect
      .poll(async () => {
        const { y = -1, height = 0 } = (await place.boundingBox()) ?? {};
        return y >= 0 && y + height <= (page.viewportSize()?.height ?? 0);
      }, SOON)
      .toBe(true);
  };
  await page.goto(`${server.url}/runs/${taskId}`);
  await page.locator("#cite-2-2").click();
  await isReached("source-2");
  await page.goBack();
  await isReached("cite-2-2");
  await page.locator("#source-2").getByText("Cited 2 times").click();
  await page.getByRole("link", { name: "Back to citation 1 of source 2" }).click();
  await isReached("cite-2-1");

  await page.goto("about:blank");
  await page.goto(`${server.url}/runs/${taskId}#s-two`);
  await isReached("s-two");
  await expect.poll(() => page.locator(".contents [aria-current]").innerText(), SOON).toBe("Two");
  expect(complaints).toEqual([]);
});
