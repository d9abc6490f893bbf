/** A complete user journey on the dashboard, from the question to the report, with a crash in between. */

import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Page } from "playwright-core";
import { expect, test, type TestContext } from "vitest";
import { z } from "zod";
import { enterPage, openBrowser, type OpenedPage } from "../kit/browser/browser.ts";
import { type HttpScene, openHttpScene, type RunningHttpServer } from "../kit/server/http-server.ts";
import { LONG_REPORT } from "../kit/browser/sample-report.ts";
import { draftResearch, SUBMIT } from "../kit/browser/ask-form.ts";
import { inMenu } from "../kit/browser/menu.ts";

const QUESTION = "How do heat pumps perform in cold climates?";
/** Time passes only when the test advances it, so that nothing ends early on a slow machine. */
const LIFE = { speed: 1, duration_ms: 60 * 60_000 };
/** Few enough entries that all of them are shown. */
const COURSE = Array.from({ length: 20 }, (_, round) => ({
  thought: `**Step ${round + 1}**\n\nI look further.`,
  queries: [`heat pumps ${round + 1}`, `cold climates ${round + 1}`],
}));
const REPORT = LONG_REPORT.replaceAll(/\[(\d)\]/g, "[cite: $1]");
const WITHIN = { timeout: 60_000 };

interface Journey extends OpenedPage {
  scene: HttpScene;
  server: RunningHttpServer;
  /** Advances the time by this part of a run's duration. */
  advance: (share: number) => void;
}

async function setOut(context: TestContext): Promise<Journey> {
  const browser = await openBrowser(context);
  if (browser === undefined) return context.skip("there is no chromium");
  const create = [{ life: { report: REPORT } }, {}, { fault: "accept-then-reset" as const }];
  const scene = await openHttpScene(context, {
    name: "journey",
    interactions: { ...LIFE, course: COURSE, usage_after_ms: 0, create },
  });
  const server = await serve(scene, 0);
  const permissions = ["clipboard-read", "clipboard-write"];
  const opened = await enterPage(browser, server, { permissions, acceptDownloads: true });
  return { ...opened, scene, server, advance: (share) => scene.gemini.skip(share * LIFE.duration_ms) };
}

function serve(scene: HttpScene, port: number): Promise<RunningHttpServer> {
  const output = join(scene.configDir, "reports");
  mkdirSync(output, { recursive: true });
  const quick = { RESEARCH_SYNC_WINDOW_MS: "0", RESEARCH_POLL_INTERVAL_MS: "100", RESEARCH_MAX_RPS: "100" };
  return scene.http({ env: { ...quick, RESEARCH_REPORTS_DIR: output }, args: ["--port", String(port)] });
}

const entriesOf = (page: Page): Promise<string[]> =>
  page.locator(".entry").evaluateAll((entries) => entries.map(({ id }) => id));
const status = (page: Page): Promise<string> => page.locator(".run-head .badge").first().innerText();
const isFocused = (page: Page, selector: string): Promise<boolean> => page.locator(`${selector}:focus`).isVisible();

async function startFromPage(page: Page, question: string): Promise<string> {
  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Home", exact: true }).click();
  await draftResearch(page, question);
  await page.locator(`${SUBMIT}:enabled`).waitFor();
  expect(await page.locator(SUBMIT).innerText()).toMatch(/^Start · about \$\d/);
  await page.click(SUBMIT);
  return question;
}

const taskIdOf = async (page: Page): Promise<string> => {
  await page.waitForURL("**/runs/*");
  return new URL(page.url()).pathname.split("/").at(-1) ?? "";
};

/** Live, through a reload and through the end of the server. */
async function follow({ page, scene, server, advance }: Journey): Promise<{ taskId: string; next: RunningHttpServer }> {
  const taskId = await taskIdOf(page);
  advance(0.1);
  await page.locator(".entry[data-kind=thought]").first().waitFor();
  await page.locator(".entry[data-kind=search]").first().waitFor();
  const beforeReload = await entriesOf(page);
  await page.reload();
  await page
    .locator(".entry")
    .nth(beforeReload.length - 1)
    .waitFor();

  process.kill(server.pid, "SIGKILL");
  await server.exited;
  await page.getByText("Reconnecting…").first().waitFor();
  const beforeKill = await entriesOf(page);
  advance(0.3);
  const next = await serve(scene, server.port);
  await page.getByText("Reconnecting…").first().waitFor({ state: "detached" });
  await page
    .locator(".entry")
    .nth(beforeKill.length + 2)
    .waitFor();
  expect(await status(page)).toContain("Running");
  advance(1);
  await page.locator(".report-text").waitFor();
  await expect.poll(() => status(page), WITHIN).toContain("Completed");

  const timeline = await (await next.request(`/api/runs/${taskId}/timeline`)).json();
  const { entries } = z.object({ entries: z.array(z.object({ id: z.string() })) }).parse(timeline);
  const all = entries.map(({ id }) => `entry-${id}`);
  expect(new Set(all).size).toBe(all.length);
  expect(all).toEqual(expect.arrayContaining([...beforeReload, ...beforeKill]));
  // The last events may still arrive after the report.
  await expect.poll(async () => (await entriesOf(page)).toSorted(), WITHIN).toEqual(all.toSorted());
  return { taskId, next };
}

async function jumpAround(page: Page): Promise<void> {
  const contents = page.getByRole("navigation", { name: "Contents of the report" });
  await contents.getByRole("link", { name: "What the grid sees" }).click();
  await expect.poll(() => isFocused(page, "#s-what-the-grid-sees"), WITHIN).toBe(true);
  await page.locator("#cite-1-1").click();
  await expect.poll(() => isFocused(page, "#source-1"), WITHIN).toBe(true);
  await page.locator("#source-1 .back summary").click();
  await page.locator("#source-1 .back a").first().click();
  await expect.poll(() => isFocused(page, "#cite-1-1"), WITHIN).toBe(true);
  await page.locator("#cite-2-1").click();
  await expect.poll(() => isFocused(page, "#source-2"), WITHIN).toBe(true);
  await page.goBack();
  await expect.poll(() => isFocused(page, "#cite-2-1"), WITHIN).toBe(true);
}

async function downloaded(page: Page, name: string): Promise<{ text: string; file: string }> {
  const coming = page.waitForEvent("download");
  await (await inMenu(page, "Download", name)).click();
  const download = await coming;
  return { text: readFileSync(await download.path(), "utf8"), file: download.suggestedFilename() };
}

/** The tool, the clipboard and the download have the same text. */
async function takeAlong(page: Page, server: RunningHttpServer, taskId: string): Promise<void> {
  const { call } = await server.connect();
  const { structured } = await call("save_research_to_markdown", { task_id: taskId });
  const saved = readFileSync(z.string().parse(structured["file_path"]), "utf8");
  const markdown = await downloaded(page, "Download .md");
  expect(markdown.file).toMatch(/\.md$/);
  expect(withoutClock(markdown.text)).toBe(withoutClock(saved));
  expect(saved).toContain("Oil, detached");
  const html = await downloaded(page, "Download .html");
  expect(html.file).toMatch(/\.html$/);
  expect(html.text).toContain("default-src &#39;none&#39;");
  expect(html.text).toContain("<td>Oil, detached</td>");
  expect((await downloaded(page, "Download .docx")).text.slice(0, 2)).toBe("PK");
  await page.getByRole("checkbox", { name: "Verdicts on citations" }).check();
  expect((await downloaded(page, "Download .md")).text).toMatch(/\n## Checked citations\n[^]*\n## Sources\n/);
  expect([markdown.text, html.text]).toEqual([1, 2].map(() => expect.stringContaining("About this report")));
  await page.getByRole("checkbox", { name: "About this report" }).uncheck();
  for (const ending of ["md", "html"]) {
    expect((await downloaded(page, `Download .${ending}`)).text).not.toContain("About this report");
  }
  await page.getByRole("checkbox", { name: "Verdicts on citations" }).uncheck();
  await page.getByRole("button", { name: "Copy the report as Markdown" }).click();
  await page.getByRole("button", { name: "Copied ✓" }).waitFor();
  const copied = await page.evaluate<string>("navigator.clipboard.readText()");
  expect(withoutClock(copied)).toBe(withoutClock(saved));
}

/** A file contains the time it was written. */
const withoutClock = (text: string): string => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "a time");

async function print(page: Page): Promise<void> {
  await page.emulateMedia({ media: "print" });
  for (const shown of [".report-text", "#sources", ".run-head h1", ".run-head .on-paper"]) {
    expect(await page.locator(shown).first().isVisible(), shown).toBe(true);
  }
  for (const hidden of ["header.top", ".timeline", ".actions", ".contents", ".facts", ".run-line", ".composer"]) {
    expect(await page.locator(hidden).first().isVisible(), hidden).toBe(false);
  }
  expect((await page.pdf()).length).toBeGreaterThan(10_000);
  await page.emulateMedia({ media: "screen" });
}

async function cancelAnother({ page, scene }: Journey): Promise<void> {
  await startFromPage(page, "Who makes solid-state batteries?");
  const taskId = await taskIdOf(page);
  await page.locator(".run-head .badge[data-status=running_async]").waitFor();
  findSoFar(scene, taskId);
  await page.getByRole("button", { name: "Cancel…" }).click();
  await page.getByRole("button", { name: "Cancel the run" }).click();
  await expect.poll(() => status(page), WITHIN).toContain("Cancelled");
  await page.getByText("Partial report –").waitFor();
  expect(await page.locator(".report-text").innerText()).toContain("As far as it came.");
}

/** As after a poll that returned text: the simulated Google shows none before the end. */
function findSoFar(scene: HttpScene, taskId: string): void {
  const database = new DatabaseSync(join(scene.configDir, "deep_research.db"), { timeout: 5_000 });
  try {
    database
      .prepare(
        `insert into research_results
           (task_id, report_markdown, sources_json, citations_json, metadata_json, partial, saved_at)
         values (?, 'As far as it came.', '[]', '[]', '{}', 1, 1)`,
      )
      .run(taskId);
  } finally {
    database.close();
  }
}

/** The response is lost, and Google shows the id: no second start is paid. */
async function adopt({ page, scene, advance }: Journey): Promise<void> {
  const question = await startFromPage(page, "Which ports can handle ammonia?");
  await page.getByRole("alert").getByRole("link").click();
  await taskIdOf(page);
  await expect.poll(() => status(page), WITHIN).toContain("Start unknown");
  const lost = scene.gemini.ledger.acceptedStarts().find(({ query }) => query.includes(question));
  await page.getByRole("button", { name: "Use Google's run…" }).click();
  await page.getByLabel("Interaction id").fill(lost?.id ?? "");
  await page.getByRole("dialog").getByRole("button", { name: "Use this run" }).click();
  await expect.poll(() => status(page), WITHIN).toContain("Running");
  advance(1);
  await page.locator(".report-text").waitFor();
}

async function findAgain(page: Page): Promise<void> {
  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Home" }).click();
  await page.fill("#search", "propane");
  await page.locator("mark", { hasText: "propane" }).waitFor();
  await expect.poll(() => page.locator(".run-link").allInnerTexts(), WITHIN).toEqual([QUESTION]);
}

async function readFigures(page: Page): Promise<void> {
  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Costs" }).click();
  const kinds = page.getByRole("region", { name: "By kind" }).locator("tbody tr");
  await expect.poll(() => kinds.allInnerTexts(), WITHIN).toEqual([expect.stringMatching(/^Deep research\s+3\s+\$/)]);
}

test("a user gets from the question to the report, through a reload and a crash, and nothing is paid twice (I1, J3, L1, Q1)", async (context) => {
  const journey = await setOut(context);
  const { page, scene, pageErrors, otherOrigins } = journey;
  await startFromPage(page, QUESTION);
  const { taskId, next } = await follow(journey);
  await jumpAround(page);
  await takeAlong(page, next, taskId);
  await print(page);
  await cancelAnother(journey);
  await adopt(journey);
  await findAgain(page);
  await readFigures(page);
  expect(scene.gemini.ledger.acceptedStarts()).toHaveLength(3);
  expect(pageErrors).toEqual([]);
  expect(otherOrigins).toEqual([]);
}, 400_000);
