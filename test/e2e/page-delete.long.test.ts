/** The delete dialog in a real browser: it asks first, removes one run, and Google's copy only when asked to. */

import type { Page } from "playwright-core";
import { expect, test, type TestContext } from "vitest";
import { openBrowser } from "../kit/browser/browser.ts";
import { openPageServer, type PageScene, type PageServer, untilEnded } from "../kit/browser/page-api.ts";
import { inMenu } from "../kit/browser/menu.ts";

const SOON = { timeout: 60_000 };

interface Opened {
  scene: PageScene;
  server: PageServer;
  page: Page;
  /** The finished run that is open in the browser. */
  taskId: string;
  complaints: string[];
}

async function open(context: TestContext): Promise<Opened> {
  const browser = await openBrowser(context);
  if (browser === undefined) return context.skip("there is no chromium");
  const scene = await openPageServer(context);
  const server = await scene.serve();
  const ids: string[] = [];
  for (const query of ["How do heat pumps perform in cold climates?", "Which heat pumps are the quietest?"]) {
    const { body } = await server.post("/api/research", { query });
    await untilEnded(server, body.task_id);
    ids.push(body.task_id);
  }
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  const { body: link } = await server.post("/api/links", {});
  await page.goto(`${server.url}${link.path}`);
  const [taskId = ""] = ids;
  await page.goto(`${server.url}/runs/${taskId}`);
  await page.locator(".report-text").waitFor(SOON);
  return { scene, server, page, taskId, complaints };
}

const rows = (page: Page): Promise<string[]> => page.locator("a[href^='/runs/']").allInnerTexts();

const deletions = ({ gemini }: PageScene): number =>
  gemini.ledger.entries().filter(({ method }) => method === "DELETE").length;

async function askToDelete(page: Page): Promise<void> {
  await (await inMenu(page, "More", "Delete…")).click();
  await page.getByRole("dialog").waitFor(SOON);
}

async function untilListed(page: Page, queries: string[]): Promise<void> {
  await page.waitForURL((url) => url.pathname === "/", SOON);
  await expect.poll(() => rows(page), SOON).toEqual(queries);
}

test("the delete dialog can be closed in two ways without deleting anything (T-2)", async (context) => {
  const { scene, server, page, taskId, complaints } = await open(context);
  await askToDelete(page);
  expect(await page.getByRole("dialog").innerText()).toContain("Files that were saved or downloaded stay");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ ...SOON, state: "detached" });
  await askToDelete(page);
  await page.getByLabel("Delete Google's copy too").check();
  await page.getByRole("button", { name: "Keep it" }).click();
  await page.getByRole("dialog").waitFor({ ...SOON, state: "detached" });
  // A box that was ticked before the dialog was closed is not remembered.
  await askToDelete(page);
  expect(await page.getByLabel("Delete Google's copy too").isChecked()).toBe(false);
  expect((await server.get(`/api/runs/${taskId}`)).status).toBe(200);
  expect([deletions(scene), complaints]).toEqual([0, []]);
});

test("a run deleted on the page disappears from the list, and no request goes to Google (T-2)", async (context) => {
  const { scene, server, page, taskId, complaints } = await open(context);
  await askToDelete(page);
  await page.getByRole("button", { name: "Delete for good" }).click();
  await untilListed(page, ["Which heat pumps are the quietest?"]);
  expect((await server.get(`/api/runs/${taskId}`)).status).toBe(404);
  // Not only in this view.
  await page.reload();
  await untilListed(page, ["Which heat pumps are the quietest?"]);
  expect([deletions(scene), complaints]).toEqual([0, []]);
});

test("Google's copy is deleted too on request; if Google refuses, the dialog says so and the run stays (T-2)", async (context) => {
  const { scene, server, page, taskId, complaints } = await open(context);
  scene.play({ delete: [{ fault: "http-500" }] });
  await askToDelete(page);
  await page.getByLabel("Delete Google's copy too").check();
  const confirm = page.getByRole("button", { name: "Delete for good" });
  await confirm.click();
  await page.getByRole("dialog").getByText("Google did not delete its copy").waitFor(SOON);
  expect((await server.get(`/api/runs/${taskId}`)).status).toBe(200);
  scene.play({});
  const refused = deletions(scene);
  await confirm.click();
  await untilListed(page, ["Which heat pumps are the quietest?"]);
  expect((await server.get(`/api/runs/${taskId}`)).status).toBe(404);
  expect([deletions(scene) - refused, complaints]).toEqual([1, []]);
});
