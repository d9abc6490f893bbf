/** Browser measurements of a page: time until visible, memory and nodes, and smoothness of scrolling. */

import type { CDPSession, Page } from "playwright-core";
import { z } from "zod";

export interface Load {
  firstPaintMs: number;
  firstContentMs: number;
  /** Since the start of the navigation. */
  shownMs: number;
}

const load = z.object({ firstPaintMs: z.number(), firstContentMs: z.number(), shownMs: z.number() });

/** Runs before the page's own scripts and records when the element appears. */
const watchFor = (selector: string): string => `
  new MutationObserver((_, observer) => {
    if (document.querySelector(${JSON.stringify(selector)}) === null) return;
    observer.disconnect();
    requestAnimationFrame(() => { globalThis.shownMs = performance.now(); });
  }).observe(document, { childList: true, subtree: true });`;

const READ_LOAD = `(() => {
  const paint = (name) => performance.getEntriesByName(name)[0]?.startTime ?? 0;
  return { firstPaintMs: paint("first-paint"), firstContentMs: paint("first-contentful-paint"), shownMs: globalThis.shownMs };
})()`;

/** Without a cache: every load is the first one of a context that has only signed in. */
export async function coldLoad(page: Page, { url, selector }: { url: string; selector: string }): Promise<Load> {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  await page.addInitScript(watchFor(selector));
  await page.goto(url);
  await until(page, "globalThis.shownMs > 0 && performance.getEntriesByType('paint').length === 2");
  return load.parse(await page.evaluate(READ_LOAD));
}

/** The page's policy forbids the evaluation that Playwright's own waiting uses. */
const until = (page: Page, condition: string): Promise<void> =>
  page.evaluate(`new Promise((resolve) => {
    const check = () => ((${condition}) ? resolve() : setTimeout(check, 4));
    check();
  })`);

export interface Held {
  nodes: number;
  heapMb: number;
}

export async function holds(page: Page): Promise<Held> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const metrics = await metricsOf(session);
  const nodes = Number(await page.evaluate("document.querySelectorAll('*').length"));
  return { nodes, heapMb: (metrics.get("JSHeapUsedSize") ?? Number.NaN) / 1_048_576 };
}

async function metricsOf(session: CDPSession): Promise<Map<string, number>> {
  await session.send("Performance.enable");
  const { metrics } = await session.send("Performance.getMetrics");
  return new Map(metrics.map(({ name, value }) => [name, value]));
}

export interface Scrolled {
  frames: number;
  /** Frames that took more than 1.5 times the usual duration. */
  late: number;
  longestTaskMs: number;
}

const scrolled = z.object({ frames: z.number(), late: z.number(), longestTaskMs: z.number() });

const SCROLL = `new Promise((resolve) => {
  let [frames, late, longest, before] = [0, 0, 0, performance.now()];
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
  }).observe({ type: "longtask" });
  const step = (now) => {
    frames += 1;
    if (now - before > 25) late += 1;
    before = now;
    scrollBy(0, 40);
    if (scrollY + innerHeight < document.documentElement.scrollHeight - 1 && frames < 600) requestAnimationFrame(step);
    else setTimeout(() => resolve({ frames, late, longestTaskMs: longest }), 100);
  };
  requestAnimationFrame(step);
})`;

export const scrollDown = async (page: Page): Promise<Scrolled> => scrolled.parse(await page.evaluate(SCROLL));

/** Pages through the list until this many rows were shown; milliseconds. */
export async function readRows(page: Page, rows: number): Promise<number | undefined> {
  const begun = performance.now();
  let seen = await page.locator(".run-link").count();
  while (seen < rows) {
    const older = page.getByRole("link", { name: "Older" });
    if ((await older.count()) === 0) return undefined;
    const first = await page.locator(".run-link").first().getAttribute("href");
    await older.click();
    await until(page, `document.querySelector(".run-link")?.getAttribute("href") !== ${JSON.stringify(first)}`);
    seen += await page.locator(".run-link").count();
  }
  return performance.now() - begun;
}

/** The share of a core that the page uses. */
export async function busyShare(page: Page, wait: () => Promise<void>): Promise<number> {
  const session = await page.context().newCDPSession(page);
  const before = await metricsOf(session);
  const begun = performance.now();
  await wait();
  const after = await metricsOf(session);
  const busy = (after.get("TaskDuration") ?? 0) - (before.get("TaskDuration") ?? 0);
  return (busy * 1_000) / (performance.now() - begun);
}
