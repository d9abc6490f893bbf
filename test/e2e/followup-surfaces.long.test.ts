/** Follow-ups at the terminal and on the page: asked there, and read there as one conversation. */

import { z } from "zod";
import { expect, test } from "vitest";
import { browserInstalled, closePages, enterPage, sharedBrowser } from "../kit/browser/browser.ts";
import { openHttpScene } from "../kit/server/http-server.ts";
import { openResearch, QUERY } from "../kit/server/research.ts";
import { openUserTerminal, terminals } from "../kit/server/terminal.ts";

const READY = (await terminals()) === "ready";
const installed = await browserInstalled();
const SOON = { timeout: 60_000 };
const QUICK = { RESEARCH_SYNC_WINDOW_MS: "0", RESEARCH_POLL_INTERVAL_MS: "100", RESEARCH_MAX_RPS: "100" };

test.skipIf(!READY)("at the terminal a follow-up needs neither quotes nor a whole id (V1)", async (context) => {
  const scene = await openResearch(context, { duration_ms: 60_000, english: true });
  const { stdout } = await scene.command(["research", QUERY, "--wait", "--json"]);
  const parent = z.object({ task_id: z.string() }).parse(JSON.parse(stdout)).task_id;
  const terminal = await openUserTerminal(context, scene.env, { columns: 100, rows: 40 });
  await terminal.type(`gemini-search-mcp followup ${parent.slice(0, 8)} and what about apartments; echo "code $?"`);
  const answer = await terminal.until(/code 0/);
  expect(answer).toContain("About “and what about apartments”");
  expect(answer).toContain(`Follow-up to ${parent.slice(0, 8)}: ${QUERY}`);
  expect(answer).toMatch(/Ask about it: +gemini-search-mcp followup [0-9a-f]{8} …/);
  expect([scene.posts(), scene.accepted()]).toEqual([2, 2]);
  const shown = await scene.command(["show", parent.slice(0, 8)]);
  expect(shown.stdout).toMatch(/Follow-ups:\n[0-9a-f-]{36} {2}Completed {2}and what about apartments/);
  const refused = await scene.command(["followup", parent.slice(0, 8), "?!"]);
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("The question must have at least one letter"),
  });
  expect(scene.posts()).toBe(2);
});

test("in a pipe a follow-up names its run, and what the answer is based on (V1)", async (context) => {
  const scene = await openResearch(context, { duration_ms: 60_000, english: true });
  const { stdout } = await scene.command(["research", QUERY, "--wait", "--json"]);
  const parent = z.object({ task_id: z.string() }).parse(JSON.parse(stdout)).task_id;
  const answer = await scene.command(["followup", parent, "and", "apartments"]);
  expect(answer.stdout).toContain(`Follow-up to ${parent}\n`);
  expect(answer.stdout).toContain("Answered by continuing the conversation at Google.");
});

test("in a pipe a table is CSV or JSON, its price is on stderr, and the second time it is free (V5)", async (context) => {
  const scene = await openResearch(context, { duration_ms: 60_000, english: true });
  const { stdout } = await scene.command(["research", QUERY, "--wait", "--json"]);
  const parent = z.object({ task_id: z.string() }).parse(JSON.parse(stdout)).task_id;
  const make = ["table", parent.slice(0, 8), "Maker", "Noise at night", "--rows", "one row per heat pump"];
  const made = await scene.command([...make, "--csv"]);
  expect(made).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Maker,Maker \(sources\),Noise at night,Noise at night \(sources\)\r\nMaker 1,/),
    stderr: expect.stringMatching(/This table costs about \$0\.\d+ \(up to \$0\.\d+\)\./),
  });
  expect(made.stdout).toMatch(/\[\d\] https:/);
  const again = await scene.command([...make, "--json"]);
  expect(again.stderr).not.toMatch(/costs|Asking a follow-up/);
  const { task_id: tableId, results } = JSON.parse(again.stdout);
  expect(results.table.columns).toEqual(["Maker", "Noise at night"]);
  expect((await scene.command(["show", tableId])).stdout).toMatch(
    /\| Maker \| Noise at night \|\n\| --- \| --- \|\n\| Maker 1 /,
  );
  const saved = await scene.command(["save", tableId, "--format", "csv", "--output-dir", scene.configDir]);
  expect(saved.stdout).toMatch(/\.csv$/m);
  expect([scene.posts(), scene.accepted()]).toEqual([2, 2]);
  // Without a terminal there is no answer to a question about the cost.
  const strict = { env: { RESEARCH_CONFIRM_ABOVE_USD: "0" } };
  const refused = await scene.command(["table", parent, "Price"], strict);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("Add --yes to start it") });
  const wrong = await scene.command(["table", parent, "Price", "price"]);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("Each column must be named once.") });
  expect(scene.posts()).toBe(2);
});

test.skipIf(installed === "missing")(
  "on the page a follow-up and a table are asked for below the report and shown there (V1, V5)",
  async (context) => {
    const interactions = { speed: 1_000, duration_ms: 60_000, usage_after_ms: 0 };
    const scene = await openHttpScene(context, { name: "conversation", interactions });
    const server = await scene.http({ env: QUICK });
    const { call } = await server.connect("modern");
    const { task_id: parent } = (await call("start_deep_research", { query: QUERY })).structured;
    const browser = await sharedBrowser();
    context.onTestFinished(() => closePages(browser));
    const { page, pageErrors } = await enterPage(browser, server);
    await page.goto(`/runs/${parent}`);
    const form = page.locator(".composer form");
    await form.getByLabel("Ask a follow-up").fill("And in apartments?", SOON);
    await form.getByRole("button", { name: /^Ask · about \$0\.\d\d$/ }).click();
    const first = page.getByRole("article", { name: "And in apartments?" });
    await first.locator(".report-text", { hasText: "About “And in apartments”" }).waitFor(SOON);
    // The citations of the answer lead to its own sources, not to those of the report above.
    const href = await first.locator(".cite a").first().getAttribute("href");
    expect(await first.locator(`[id="${href?.slice(1)}"]`).count()).toBe(1);
    // Google's terms require them with every grounded answer.
    await first.getByRole("heading", { name: "Search Suggestions" }).waitFor(SOON);
    // The next question continues the answer above it.
    await form.getByLabel("Ask a follow-up").fill("Which of them is quietest?");
    await form.getByRole("button").click();
    const second = page.getByRole("article", { name: "Which of them is quietest?" });
    await second.locator(".report-text").waitFor(SOON);
    const [, ...asked] = scene.gemini.ledger.acceptedStarts();
    expect(asked[1]).toMatchObject({ previous: asked[0]?.id });
    expect(asked).toHaveLength(2);
    // A table is made of the report itself, and can be downloaded.
    await page.getByText("Make a table", { exact: true }).click();
    const maker = page.locator(".make-table");
    await maker.getByLabel("Columns, separated by commas").fill("Maker, Noise");
    await maker.getByRole("button", { name: /^Make a table · about \$0\.\d\d$/ }).click();
    const table = page.getByRole("article", { name: `Table of “${QUERY}”: Maker, Noise` });
    await table.locator("th", { hasText: "Noise" }).waitFor(SOON);
    const mark = await table.locator("td .cite a").first().getAttribute("href");
    expect(await table.locator(`[id="${mark?.slice(1)}"]`).count()).toBe(1);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      table.getByRole("button", { name: "Download .csv" }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/\.csv$/);
    expect(scene.gemini.ledger.acceptedStarts()).toHaveLength(4);
    expect(scene.gemini.ledger.acceptedStarts().at(-1)).toMatchObject({ structured: true });
    // Paper has the follow-ups, and no control.
    await page.emulateMedia({ media: "print" });
    expect(await table.locator("th", { hasText: "Noise" }).isVisible()).toBe(true);
    expect(await page.locator("button, summary, textarea").filter({ visible: true }).count()).toBe(0);
    await page.emulateMedia({ media: "screen" });
    // The address of a follow-up opens the conversation, at its answer.
    const id = (await second.locator("h3").getAttribute("id"))?.replace("turn-", "") ?? "";
    await page.goto(`/runs/${id}`);
    await page.waitForURL(`**/runs/${parent}#turn-${id}`, SOON);
    await page.locator("#report .report-text").waitFor(SOON);
    await second.locator(".report-text").waitFor(SOON);
    await expect.poll(async () => Math.abs((await second.boundingBox())?.y ?? 1_000), SOON).toBeLessThan(100);
    // What is done with it alone, and what it continues, have a view of their own.
    await second.getByRole("link", { name: "Which of them is quietest?" }).click();
    await page.locator(".turns summary", { hasText: QUERY }).click();
    await page.locator("details.turn[open] .report-text").waitFor(SOON);
    expect(await page.locator(".run-line").innerText()).toContain("Follow-up");
    expect(await page.getByRole("button", { name: /Ask again/ }).count()).toBe(0);
    // The page of the table does not claim that Google refused anything.
    await page.goBack();
    await table.getByRole("link", { name: /^Table of / }).click();
    await page.getByText("Made from the stored report.").waitFor(SOON);
    expect(await page.getByText("Google could not continue").count()).toBe(0);
    expect(await page.locator(".run-line").innerText()).toMatch(/\bTable\b/);
    expect(await page.locator(".entry").last().textContent()).toContain("Asked for a table");
    expect(pageErrors).toEqual([]);
    // Without the secret of the page nothing is sent.
    const bare = await fetch(`${server.url}/api/runs/${parent}/followup`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ question: "And on balconies?" }),
    });
    expect(bare.status).toBe(401);
    expect(scene.gemini.ledger.acceptedStarts()).toHaveLength(4);
  },
);
