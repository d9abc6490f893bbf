/** Hostile text in every part of the dashboard: questions, reports, sources, thoughts, searches and saved files. */

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { expect, test, type TestContext } from "vitest";
import { PAYLOADS } from "../security/xss-payloads.ts";
import { enterPage, openBrowser } from "../kit/browser/browser.ts";
import { openHttpScene, type RunningHttpServer } from "../kit/server/http-server.ts";
import { draftResearch } from "../kit/browser/ask-form.ts";
import { sampleId, insertSampleRuns, type SampleRun } from "../kit/browser/sample-runs.ts";

const RUNS = 6;
/** In every report and in no question, so that a search finds all and shows excerpts. */
const WORD = "quicksilver";

/** A URL that must not be requested, and the requests it received. */
async function openCanary({ onTestFinished }: TestContext): Promise<{ address: string; asked: string[] }> {
  const asked: string[] = [];
  const canary = createServer((socket) => {
    asked.push("somebody connected to the watched address");
    socket.on("error", () => undefined).destroy();
  });
  canary.listen(0, "127.0.0.1");
  await once(canary, "listening");
  onTestFinished(() => void canary.close());
  const bound = canary.address();
  return { address: `http://127.0.0.1:${typeof bound === "object" && bound !== null ? bound.port : 0}/x`, asked };
}

function hostileRuns(address: string): SampleRun[] {
  const texts = PAYLOADS.map(({ id, text }) => text({ run: `hit(${id})`, address }));
  const share = Math.ceil(texts.length / RUNS);
  return Array.from({ length: RUNS }, (_, index) => {
    const own = texts.slice(index * share, (index + 1) * share);
    const at = Date.now() - (index + 1) * 60_000;
    return {
      row: {
        task_id: sampleId(index + 1),
        query: own.join(" ").slice(0, 9_000),
        status: index === 0 ? "failed" : "completed",
        created_at: at,
        completed_at: at + 30_000,
        cost_usd: 1,
        client: own[0] ?? "",
        model: own[1] ?? "",
        current_action: own[2] ?? "",
        interaction_id: own[3] ?? "",
        estimate_json: JSON.stringify({ usd: { min: 1, likely: 2, max: 3 } }),
        ...(index === 0 && { error_code: "RESEARCH_FAILED", error_message: own.join(" ").slice(0, 500) }),
      },
      report: {
        markdown: own.map((text) => `${text}\n\nsafe ${WORD} [1] <b>${text}`).join("\n\n"),
        sources: own.map((text, n) => ({
          n: n + 1,
          title: text,
          url: n % 2 === 0 ? text : `${address}?${n}`,
          domain: text,
        })),
        metadata: { note: own.join(" ").slice(0, 2_000) },
      },
      events: own.map((text, n) => ({ kind: n % 2 === 0 ? "thought" : "search", text: `**${text}**\n\n${text}`, at })),
    };
  });
}

/** Every interaction with untrusted content; the page's own buttons would act. */
const TOUCH = `(() => {
  const seen = [];
  for (const details of document.querySelectorAll("details")) details.open = true;
  const strange = "script, iframe, frame, object, embed, math, base, meta, link, template, img, video, audio, picture, style";
  // Search Suggestions are in a sandboxed frame.
  const isFrame = (element) => element.matches(".suggestions > iframe[sandbox='allow-popups allow-popups-to-escape-sandbox']");
  for (const element of document.querySelectorAll("main *, main")) {
    if (isFrame(element)) continue;
    if (element.matches(strange)) seen.push("there is a " + element.outerHTML.slice(0, 80));
    for (const { name, value } of element.attributes) {
      if (/^on|^srcdoc$|^ping$|^formaction$/.test(name)) seen.push("there is " + name + "=" + value.slice(0, 40));
    }
    if (element.localName === "a" && element.hasAttribute("href")) {
      const isOut = /^https?:$/.test(element.protocol) && element.host !== location.host;
      if (isOut ? element.target !== "_blank" || !element.rel.includes("noopener") : element.host !== location.host)
        seen.push("there is a link to " + element.getAttribute("href"));
    }
    for (const type of ["pointerover", "mouseover", "mousemove", "pointerdown", "mousedown"]) {
      element.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true }));
    }
    if (element.matches(".report-text *, .entry *, .sources *") && element.closest("a, summary, button, label") === null) {
      element.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
      element.focus?.();
    }
  }
  return seen;
})()`;

/** Everything that was triggered before has finished by then. */
const SETTLE = `new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(resolve))))`;

async function touch(page: Page, what: string): Promise<string[]> {
  await page.evaluate(SETTLE);
  const seen = await page.evaluate<string[]>(TOUCH);
  await page.evaluate(SETTLE);
  return seen.map((sentence) => `${what}: ${sentence}`);
}

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
  const visit = async (path: string, sight: string): Promise<void> => {
    await page.goto(path);
    await page.locator(sight).first().waitFor();
    seen.push(...(await touch(page, path)));
    expect(page.url().startsWith(server.url)).toBe(true);
  };
  await visit("/", ".run-link");
  await visit(`/?text=${WORD}`, "mark");
  expect(await page.locator(".run-link").count()).toBe(RUNS);
  for (let run = 1; run <= RUNS; run += 1) {
    await visit(`/runs/${sampleId(run)}`, ".report-text");
    expect(await page.locator(".sources li").count()).toBeGreaterThan(20);
    expect(await page.locator(".entry").count()).toBeGreaterThan(20);
  }
  await page.goto("/figures");
  await page.locator(".plot canvas").first().waitFor();
  for (const table of await page.locator(".plot-table summary").all()) await table.click();
  seen.push(...(await touch(page, "/figures")));
  // The marks identify the payloads.
  await page.locator(".u-over").first().hover();
  for (let run = 1; run <= RUNS; run += 1) await openSaved(page, { server, directory, run, seen });
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
  await page.goto("/start");
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
