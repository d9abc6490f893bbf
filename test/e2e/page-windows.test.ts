/** Many windows of one browser, which share one event stream and six connections to the server. */

import type { BrowserContext, Page, Request } from "playwright-core";
import { expect, test } from "vitest";
import { z } from "zod";
import { browserOrSkip, enterPage, openPage } from "../kit/browser/browser.ts";
import { openPageServer } from "../kit/browser/page-api.ts";
import { QUERY } from "../kit/server/research.ts";

const MINUTE_MS = 60_000;
/** Virtual time passes only when the test says so. */
const HOUR = { speed: 1, duration_ms: 60 * MINUTE_MS };
const COURSE = Array.from({ length: 6 }, (_, round) => ({ thought: `**Step ${round + 1}**`, queries: ["heat pumps"] }));
const SOON = { timeout: 30_000 };

/** The windows that have a request for an event stream. */
function streamReaders(context: BrowserContext): () => Page[] {
  const streams = new Set<Request>();
  const isStream = (request: Request): boolean => new URL(request.url()).pathname === "/api/live";
  context.on("request", (request) => void (isStream(request) && streams.add(request)));
  context.on("requestfinished", (request) => void streams.delete(request));
  context.on("requestfailed", (request) => void streams.delete(request));
  return () => [...streams].map((request) => request.frame().page()).filter((page) => !page.isClosed());
}

const thoughts = (page: Page) => page.locator(".entry[data-kind=thought]");
const status = (page: Page) => page.locator(".run-head .badge").first();

test("eight windows share one stream: all load, act and follow their runs, also when the window that reads it is closed (J3)", async (context) => {
  const browser = await browserOrSkip(context);
  const scene = await openPageServer(context, { ...HOUR, course: COURSE });
  const server = await scene.serve();
  const start = async (query: string): Promise<string> => {
    const { body } = await server.post("/api/research", { query });
    return z.object({ task_id: z.string() }).parse(body).task_id;
  };
  const runs = [await start(QUERY), await start("How deep is Lake Geneva?")];
  const { page: first, pageErrors } = await enterPage(browser, server);
  const readers = streamReaders(first.context());
  await first.goto(`/runs/${runs[0]}`);
  await thoughts(first).or(status(first)).first().waitFor();
  const windows = [first];
  for (let n = 1; n < 8; n += 1) {
    const page = await first.context().newPage();
    await page.goto(n < 6 ? `/runs/${runs[n % 2]}` : "/");
    await page.locator("main h1").waitFor();
    windows.push(page);
  }
  const [watching, lists] = [windows.slice(0, 6), windows.slice(6)];
  expect(await Promise.all(windows.map((page) => page.evaluate("document.hidden")))).toEqual(windows.map(() => false));

  scene.gemini.skip(15 * MINUTE_MS);
  for (const page of watching) await thoughts(page).first().waitFor(SOON);
  await start("Who sells heat pumps?");
  for (const page of lists) await page.getByRole("link", { name: "Who sells heat pumps?" }).waitFor(SOON);
  expect(readers()).toHaveLength(1);
  // Every window gets answers to its own requests.
  for (const page of windows) expect(await page.evaluate("fetch('/assets/page.css').then(({ ok }) => ok)")).toBe(true);

  const [reader] = readers();
  await reader?.close();
  const left = windows.filter((page) => page !== reader);
  await expect.poll(() => readers().length, SOON).toBe(1);
  scene.gemini.skip(60 * MINUTE_MS);
  for (const page of watching.filter((open) => left.includes(open))) {
    await expect.poll(() => status(page).innerText(), SOON).toContain("Completed");
    await page.locator(".report-text").waitFor(SOON);
  }
  expect(readers()).toHaveLength(1);
  expect(pageErrors).toEqual([]);
});

test("windows of two users of one browser do not receive each other's runs (T14)", async (context) => {
  const browser = await browserOrSkip(context);
  const scene = await openPageServer(context, HOUR);
  const server = await scene.serve();
  const [ann, ben] = [await scene.tokenOf("ann"), await scene.tokenOf("ben")];
  const signIn = async (page: Page, token: string): Promise<void> => {
    await page.goto("/sign-in");
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Nothing asked yet" }).waitFor();
  };
  const { page: one } = await openPage(browser, server.url);
  await signIn(one, ann);
  const other = await one.context().newPage();
  await other.goto("/");
  await other.getByRole("heading", { name: "Nothing asked yet" }).waitFor();
  const received =
    "globalThis.received = []; new BroadcastChannel('live ' + localStorage['page-secret']).onmessage = ({ data }) => received.push(JSON.stringify(data));";
  await signIn(one, ben);
  await expect.poll(() => other.locator("header .user").textContent()).toContain("ben");
  await other.evaluate(received);
  await server.post("/api/research", { query: "A question of ann?" }, ann);
  await server.post("/api/research", { query: "A question of ben?" }, ben);
  for (const page of [one, other]) {
    await page.getByRole("link", { name: "A question of ben?" }).waitFor(SOON);
    expect(await page.getByText("A question of ann?").count()).toBe(0);
  }
  const messages = await other.evaluate<string[]>("received");
  expect(messages.join("\n")).not.toContain("A question of ann?");
});
