/** Hostile text in every part of the dashboard: questions, reports, sources, thoughts, searches and saved files. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { expect, test } from "vitest";
import { HOSTILE_RUNS, hostileRuns, openCanary, SETTLE, TOUCH, touch, WORD } from "../security/hostile-runs.ts";
import { PAYLOADS } from "../security/xss-payloads.ts";
import { enterPage, openBrowser } from "../kit/browser/browser.ts";
import { openHttpScene, type RunningHttpServer } from "../kit/server/http-server.ts";
import { draftResearch } from "../kit/browser/ask-form.ts";
import { sampleId, insertSampleRuns } from "../kit/browser/sample-runs.ts";

interface Tour {
  browser: Browser;
  server: RunningHttpServer;
  directory: string;
  /** The first filter alone. */
  bypassCSP: boolean;
}

async function tour({ browser, server, directory, bypassCSP }: Tour): Promise<string[]> {
  const { page, pageErrors, otherOrigins } = await enterPage(browser, server, { bypassCSP });
  const seen: string[] = [];
  const context = page.context();
  await context.exposeBinding("hit", (_source, id: unknown) => void seen.push(`payload ${String(id)} ran`));
  context.on("page", () => void seen.push("a window was opened"));
  context.on("dialog", (dialog) => {
    seen.push(`a dialog said ${dialog.message()}`);
    void dialog.dismiss();
  });
  const visit = async (path: string, selector: string): Promise<void> => {
    await page.goto(path);
    await page.locator(selector).first().waitFor();
    seen.push(...(await touch(page, path)));
    expect(page.url().startsWith(server.url)).toBe(true);
  };
  await visit("/", ".run-link");
  await visit(`/?text=${WORD}`, "mark");
  expect(await page.locator(".run-link").count()).toBe(HOSTILE_RUNS);
  for (let run = 1; run <= HOSTILE_RUNS; run += 1) {
    await visit(`/runs/${sampleId(run)}`, ".report-text");
    expect(await page.locator(".sources li").count()).toBeGreaterThan(20);
    expect(await page.locator(".entry").count()).toBeGreaterThan(20);
  }
  await visit("/costs", ".figures table");
  for (let run = 1; run <= HOSTILE_RUNS; run += 1) await openSaved(page, { server, directory, run, seen });
  await context.close();
  return [...seen, ...pageErrors, ...otherOrigins];
}

async function openSaved(
  page: Page,
  { server, directory, run, seen }: { server: RunningHttpServer; directory: string; run: number; seen: string[] },
): Promise<void> {
  const file = join(directory, `saved-${run}.html`);
  const saved = await server.request(`/api/runs/${sampleId(run)}/report.html`);
  expect(saved.headers.get("content-disposition")).toContain("attachment");
  writeFileSync(file, await saved.text());
  await page.goto(pathToFileURL(file).href);
  await page.evaluate(SETTLE);
  const found = await page.evaluate<string[]>(TOUCH.replace("meta, link, template", "link, template"));
  seen.push(...found.filter((sentence) => !sentence.includes("file:")).map((sentence) => `saved ${run}: ${sentence}`));
  await page.evaluate(SETTLE);
}

test("no untrusted text runs, loads or navigates anywhere on the page, with its policy and without (T20)", async (context) => {
  const browser = await openBrowser(context);
  if (browser === undefined) {
    context.skip("there is no chromium");
    return;
  }
  const { address, asked } = await openCanary(context);
  const scene = await openHttpScene(context);
  await insertSampleRuns(scene.configDir, hostileRuns(address));
  const server = await scene.http();
  for (const bypassCSP of [false, true]) {
    expect(await tour({ browser, server, directory: scene.configDir, bypassCSP }), `bypass: ${bypassCSP}`).toEqual([]);
  }
  expect(asked).toEqual([]);
}, 300_000);

test("a run with a hostile question shows its thoughts and searches live, as text only (T20)", async (context) => {
  const browser = await openBrowser(context);
  if (browser === undefined) {
    context.skip("there is no chromium");
    return;
  }
  const { address, asked } = await openCanary(context);
  const report = PAYLOADS.map(({ id, text }) => text({ run: `hit(${id})`, address })).join("\n\n");
  const scene = await openHttpScene(context, {
    name: "hostile",
    interactions: { speed: 1, duration_ms: 60 * 60_000, report },
  });
  const server = await scene.http({ env: { RESEARCH_SYNC_WINDOW_MS: "0", RESEARCH_POLL_INTERVAL_MS: "100" } });
  const { page, pageErrors, otherOrigins } = await enterPage(browser, server);
  const seen: string[] = [];
  await page.context().exposeBinding("hit", (_source, id: unknown) => void seen.push(`payload ${String(id)} ran`));
  await page.goto("/");
  await draftResearch(page, "</script><img src=x onerror=hit(0)>[x](javascript:hit(0)) <svg onload=hit(0)>");
  await page.locator(".start button[type=submit]:enabled").waitFor();
  await page.click(".start button[type=submit]");
  await page.waitForURL("**/runs/*");
  scene.gemini.skip(20 * 60_000);
  await page.locator(".entry[data-kind=thought]").first().waitFor();
  await page.locator(".entry[data-kind=search]", { hasText: "onerror=hit(0)" }).first().waitFor();
  seen.push(...(await touch(page, "running")));
  scene.gemini.skip(60 * 60_000);
  await page.locator(".report-text").waitFor();
  seen.push(...(await touch(page, "finished")));
  expect([...seen, ...pageErrors, ...otherOrigins, ...asked]).toEqual([]);
}, 200_000);

/** Texts that are drawn far above, below and beside their lines. */
const FAR_FORMULAS = [
  String.raw`\(\raisebox{16em}{\text{${"█".repeat(40)}}}\)`,
  String.raw`\(\smash{\begin{matrix}${Array.from({ length: 40 }, () => "█".repeat(20)).join(String.raw`\\`)}\end{matrix}}\)`,
  String.raw`\(\mathllap{\text{${"█".repeat(60)}}}\)`,
  String.raw`\(\hspace{-20em}\text{${"█".repeat(90)}}\)`,
];

/** What belongs to the page and is on the screen, but lies under a formula. */
const COVERED = `[...document.querySelectorAll("h1, button, a, select, dt, dd, .badge, summary, nav")]
  .filter((element) => element.closest(".report-text, main > .report") === null && element.checkVisibility())
  .filter((element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    return document.elementsFromPoint(left + width / 2, top + height / 2)[0]?.closest("math") != null;
  })
  .map((element) => element.outerHTML.slice(0, 100))`;

test("no formula covers the page's own words and buttons, on the page and in a saved file (T20)", async (context) => {
  const browser = await openBrowser(context);
  if (browser === undefined) {
    context.skip("there is no chromium");
    return;
  }
  const scene = await openHttpScene(context);
  const row = { created_at: Date.now() - 60_000, completed_at: Date.now() };
  await insertSampleRuns(
    scene.configDir,
    FAR_FORMULAS.map((formula, index) => ({
      row: { ...row, task_id: sampleId(index + 1) },
      report: { markdown: `${formula} x\n\n## Two\n\n${formula}\n\n## Three\n\ntext`, sources: [] },
    })),
  );
  const server = await scene.http();
  const { page } = await enterPage(browser, server);
  const covered: string[] = [];
  for (const [index] of FAR_FORMULAS.entries()) {
    const file = join(scene.configDir, `formula-${index}.html`);
    const saved = await server.request(`/api/runs/${sampleId(index + 1)}/report.html`);
    writeFileSync(file, await saved.text());
    for (const address of [`/runs/${sampleId(index + 1)}`, pathToFileURL(file).href]) {
      for (const width of [390, 1_280]) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(address);
        await page.locator("math").first().waitFor({ state: "attached" });
        const found = await page.evaluate<string[]>(COVERED);
        covered.push(...found.map((element) => `${FAR_FORMULAS[index]} at ${width} in ${address}: ${element}`));
      }
    }
  }
  expect(covered).toEqual([]);
}, 120_000);
