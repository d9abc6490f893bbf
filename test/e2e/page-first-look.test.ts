/** What a newcomer sees first: a short way to the list, menus that give way to dialogs, and conflicts in one unit. */

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Page } from "playwright-core";
import { expect, test, type TestContext } from "vitest";
import { browserOrSkip, enterPage } from "../kit/browser/browser.ts";
import { insertSampleRuns, sampleFollowup, sampleStatuses } from "../kit/browser/sample-runs.ts";
import { openHttpScene } from "../kit/server/http-server.ts";
import { storeCheckedRuns } from "../kit/sites/contradicted-run.ts";

const PHONE = { width: 390, height: 844 };

async function openHome(context: TestContext) {
  const browser = await browserOrSkip(context);
  const scene = await openHttpScene(context);
  const now = Date.now();
  await insertSampleRuns(scene.configDir, [...sampleStatuses(now), sampleFollowup(now)]);
  const server = await scene.http();
  return { scene, server, ...(await enterPage(browser, server)) };
}

const entry = (page: Page) => page.locator(".runs tbody tr").first();

test("views are in the navigation, what is done with the list is in one menu, and a phone shows the first entry early (J1)", async (context) => {
  const { page, server, pageErrors } = await openHome(context);
  await entry(page).waitFor();
  const views = page.getByRole("navigation", { name: "Views" }).getByRole("link");
  expect(await views.allInnerTexts()).toEqual(["Home", "Costs", "Schedules", "Notifications"]);
  await page.locator(".filters .menu summary").click();
  expect(await page.locator(".filters .menu-items .button").allInnerTexts()).toEqual([
    "Select",
    "Export everything",
    "Import…",
  ]);
  expect(await page.locator("td.kind", { has: page.locator(".later") }).textContent()).toMatch(/\S \+ 1 follow-up$/);
  const moved = await page.goto(`${server.url}/figures?days=7`);
  expect([moved?.status(), new URL(page.url()).pathname, new URL(page.url()).search]).toEqual([
    200,
    "/costs",
    "?days=7",
  ]);

  await page.setViewportSize(PHONE);
  await page.goto("/");
  await entry(page).waitFor();
  expect((await entry(page).boundingBox())?.y).toBeLessThan(680);
  expect(await page.locator(".chips").isVisible()).toBe(false);
  await page.locator(".fold summary").click();
  await page.getByRole("link", { name: "Failed", exact: true }).click();
  await page.waitForURL("**/?status=failed");
  expect(await page.locator(".fold").getAttribute("open")).not.toBeNull();
  expect(pageErrors).toEqual([]);
});

test("a dialog that a menu opens is not part of the menu, which closes and gets the focus back (L1)", async (context) => {
  const { page } = await openHome(context);
  await page.locator("tr[data-status=completed] .run-link").first().click();
  const menu = page.locator(".actions .menu", { has: page.locator("summary", { hasText: "More" }) });
  await menu.locator("summary").click();
  await page.getByRole("button", { name: "Title, tags and note…" }).click();
  await page.getByRole("dialog").waitFor();
  expect(await menu.getAttribute("open")).toBeNull();
  expect(await page.locator(".menu dialog").count()).toBe(0);
  await page.keyboard.press("Escape");
  await page.locator("summary:focus", { hasText: "More" }).waitFor();
});

test("conflicts are counted by sentence, above the report and beside it (W3)", async (context) => {
  const browser = await browserOrSkip(context);
  const scene = await openHttpScene(context);
  const { contradicted } = await storeCheckedRuns(context, scene);
  const { page } = await enterPage(browser, await scene.http());
  await page.goto(`/runs/${contradicted}`);
  const above = page.getByRole("link", { name: "2 sentences conflict with their source" });
  await above.waitFor();
  expect(await page.locator(".conflicts > li").count()).toBe(2);
  expect(await page.locator(".verdict-counts li", { hasText: "conflict" }).innerText()).toMatch(/^2\s/);
  await above.click();
  await page.locator("#conflicts:focus").waitFor();
});

test("details say which real addresses of sources could not be looked up (L1)", async (context) => {
  const { page, scene } = await openHome(context);
  await page.locator("tr[data-status=completed] .run-link").first().click();
  await page.locator(".report-text").waitFor();
  const taskId = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const link = {
    n: 1,
    title: "a.test",
    domain: "a.test",
    url: "https://vertexaisearch.cloud.google.com/grounding-api-redirect/x",
  };
  const database = new DatabaseSync(join(scene.configDir, "deep_research.db"), { timeout: 5_000 });
  database
    .prepare("update research_results set sources_json = ?, links_resolved_at = 1 where task_id = ?")
    .run(JSON.stringify([link, { ...link, n: 2, resolved_url: "https://a.test/" }]), taskId);
  database.close();
  await page.reload();
  await page.locator(".facts summary").click();
  await page.getByText("The real address of 1 source could not be looked up").waitFor();
});

test("what is left of the budgets follows the searches that are made while the form is open (J1, P6)", async (context) => {
  const browser = await browserOrSkip(context);
  const server = await (await openHttpScene(context)).http({ env: { BUDGET_DAY_USD: "20" } });
  const { page, pageErrors } = await enterPage(browser, server);
  const line = page.locator(".submit a", { hasText: "left of today's budget" });
  expect(await line.textContent()).toBe("$20 left of today's budget ($20)");
  const client = await server.connect();
  expect((await client.call("search", { query: "When is the next solar eclipse?" })).isError).toBe(false);
  await expect.poll(() => line.textContent(), { timeout: 20_000 }).toMatch(/^\$19\.\d\d left/);
  expect(pageErrors).toEqual([]);
});
