import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, type TestContext } from "vitest";
import { violations } from "../kit/browser/accessibility.ts";
import { browserInstalled, closePages, openPage, sharedBrowser } from "../kit/browser/browser.ts";
import { openHttpScene } from "../kit/server/http-server.ts";
import { inMenu } from "../kit/browser/menu.ts";

const QUICK = { RESEARCH_SYNC_WINDOW_MS: "0", RESEARCH_POLL_INTERVAL_MS: "100", RESEARCH_MAX_RPS: "100" };
const [FIRST, SECOND] = ["How do heat pumps perform in cold climates?", "Who makes solid-state batteries?"];
const TITLE = "Heating our house";

let browser: Browser;

/** A server with two finished runs, and a page on it; `open` opens further ones. */
async function openScene(context: TestContext) {
  const scene = await openHttpScene(context, { name: "research", interactions: { speed: 1_000 } });
  const server = await scene.http({ args: ["--no-auth", "--port", "0"], env: QUICK });
  const open = async (options: Parameters<typeof openPage>[2] = {}) => {
    const opened = await openPage(browser, server.url, options);
    context.onTestFinished(() => opened.page.context().close());
    await opened.page.goto("/");
    await expect.poll(() => opened.page.locator("tr[data-status=completed]").count()).toBe(2);
    return opened;
  };
  for (const query of [FIRST, SECOND]) {
    const body = JSON.stringify({ query });
    await server.request("/api/research", { method: "POST", headers: { "content-type": "application/json" }, body });
  }
  return { open, server };
}

const names = (page: Page): Promise<string[]> => page.locator(".run-link").allInnerTexts();
const chips = async (page: Page): Promise<string> =>
  (await page.locator(".states").innerText()).replaceAll(/\s+/g, " ").trim();
const focused = (page: Page): Promise<string> => page.locator(":focus").innerText();
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

const installed = await browserInstalled();

describe.skipIf(installed === "missing")("tidying up the list in a browser", () => {
  beforeAll(async () => {
    browser = await sharedBrowser();
  });
  afterAll(() => closePages(browser));

  test("buttons star, rename and archive a run, the focus stays in the list, and other pages follow", async (context) => {
    const { open } = await openScene(context);
    const { page, pageErrors } = await open();
    const { page: other } = await open();
    const star = button(page, `Star: ${FIRST}`);
    await star.click();
    await expect.poll(() => star.getAttribute("aria-pressed")).toBe("true");
    await expect.poll(() => chips(page)).toBe("All Completed Starred");
    await button(page, `Title, tags and note: ${FIRST}`).click();
    const field = page.getByRole("dialog").getByLabel("Title");
    await expect.poll(() => field.inputValue()).toBe(FIRST);
    await field.fill(TITLE);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(() => names(page)).toEqual([SECOND, TITLE]);
    // The question stays below the title, and the focus where it was.
    expect(await page.locator(".asked").innerText()).toBe(FIRST);
    await page.locator("button:focus").waitFor();
    await expect.poll(() => names(other)).toEqual([SECOND, TITLE]);
    await button(page, `Archive: ${TITLE}`).press("Enter");
    await expect.poll(() => names(page)).toEqual([SECOND]);
    await expect.poll(() => focused(page)).toBe(SECOND);
    await expect.poll(() => chips(page)).toBe("All Completed Archived");
    await expect.poll(() => names(other)).toEqual([SECOND]);
    await expect.poll(() => chips(other)).toBe("All Completed Archived");
    expect(pageErrors).toEqual([]);
  });

  test("the filters are part of the address and follow the search, and titles are found", async (context) => {
    const { open } = await openScene(context);
    const { page } = await open();
    await button(page, `Title, tags and note: ${FIRST}`).click();
    await page.getByRole("dialog").getByLabel("Title").fill(TITLE);
    await button(page, "Save").click();
    await button(page, `Archive: ${TITLE}`).click();
    await button(page, `Star: ${SECOND}`).click();
    await expect.poll(() => chips(page)).toBe("All Completed Starred Archived");
    await page.getByRole("link", { name: /^Starred/ }).click();
    await page.waitForURL("**/?starred=true");
    await expect.poll(() => names(page)).toEqual([SECOND]);
    await page.getByRole("link", { name: /^Archived/ }).click();
    await page.waitForURL("**/?archived=true");
    await page.reload();
    await expect.poll(() => names(page)).toEqual([TITLE]);
    await page.fill("#search", "heating");
    await page.waitForURL("**/?text=heating&archived=true");
    await expect.poll(() => page.locator(".run-link mark").allInnerTexts()).toEqual(["Heating"]);
    await expect.poll(() => chips(page)).toBe("All Archived");
    await button(page, `Unarchive: ${TITLE}`).click();
    await expect.poll(() => chips(page)).toBe("All Completed Archived");
    await page.getByRole("link", { name: /^All/ }).click();
    await expect.poll(() => names(page)).toEqual([TITLE]);
  });

  test("tags are words of the user: edited beside the title, shown in the list, and a filter of it (Z2)", async (context) => {
    const { open } = await openScene(context);
    const { page, pageErrors } = await open();
    const tags = page.getByRole("dialog").getByLabel("Tags");
    const edit = async (typed: string): Promise<void> => {
      await button(page, `Title, tags and note: ${FIRST}`).click();
      await tags.fill(typed);
      await button(page, "Save").click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
    };
    await edit("#Heating, norway");
    await expect.poll(() => page.locator(".tags a").allInnerTexts()).toEqual(["#heating", "#norway"]);
    expect(await names(page)).toEqual([SECOND, FIRST]);
    await page.getByRole("link", { name: "#norway" }).click();
    await page.waitForURL("**/?tag=norway");
    await expect.poll(() => names(page)).toEqual([FIRST]);
    await page.getByLabel("Tag", { exact: true }).selectOption("Every tag");
    await expect.poll(() => names(page)).toEqual([SECOND, FIRST]);
    await page.fill("#search", "norway");
    await expect.poll(() => names(page)).toEqual([FIRST]);
    await edit("heating");
    await expect.poll(() => names(page)).toEqual([]);
    await page.fill("#search", "");
    await expect.poll(() => page.locator(".tags a").allInnerTexts()).toEqual(["#heating"]);
    expect(pageErrors).toEqual([]);
  });

  test("a note is edited beside title and tags, shown above the report, and found (Z3)", async (context) => {
    const { open } = await openScene(context);
    const { page, pageErrors } = await open();
    const note = page.getByRole("dialog").getByLabel("Note");
    await button(page, `Title, tags and note: ${FIRST}`).click();
    await note.fill("Ask Anna\nabout the sluice.");
    await button(page, "Save").click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.fill("#search", "sluice");
    await expect.poll(() => names(page)).toEqual([FIRST]);
    await page.getByText("about the sluice.").waitFor();
    await page.locator(".run-link").click();
    await expect.poll(() => page.locator(".note-of-user").innerText()).toBe("Ask Anna\nabout the sluice.");
    await inMenu(page, "More", "Title, tags and note…").then((rename) => rename.click());
    await expect.poll(() => note.inputValue()).toBe("Ask Anna\nabout the sluice.");
    await note.fill("");
    await button(page, "Save").click();
    await page.locator(".note-of-user").waitFor({ state: "detached" });
    expect(pageErrors).toEqual([]);
  });

  test("an archived run opens at its address, says so, and gets its question back as its name", async (context) => {
    const { open } = await openScene(context);
    const { page } = await open();
    await page.locator(".run-link").first().click();
    await page.waitForURL("**/runs/*");
    const star = await inMenu(page, "More", "Star");
    await star.click();
    await expect.poll(() => star.getAttribute("aria-pressed")).toBe("true");
    await (await inMenu(page, "More", "Title, tags and note…")).click();
    await page.getByRole("dialog").getByLabel("Title").fill(TITLE);
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("h1").innerText()).toBe(TITLE);
    await expect.poll(() => page.title()).toContain(TITLE);
    expect(await page.locator(".facts .question").textContent()).toBe(SECOND);
    await (await inMenu(page, "More", "Archive")).click();
    await page.locator(".badge").getByText("Archived").waitFor();
    await page.reload();
    await page.locator(".badge").getByText("Archived").waitFor();
    await (await inMenu(page, "More", "Unarchive")).click();
    await button(page, "Archive").waitFor();
    await (await inMenu(page, "More", "Title, tags and note…")).click();
    await page.getByRole("dialog").getByLabel("Title").fill("");
    await button(page, "Save").click();
    await expect.poll(() => page.locator("h1").innerText()).toBe(SECOND);
  });

  test.for([1_280, 320])(
    "WCAG AA with titles and stars, %s wide, nothing to scroll sideways",
    async (width, context) => {
      const { open } = await openScene(context);
      // The checker is a script from outside, which the page's own policy would rightly refuse.
      const { page } = await open({ viewport: { width, height: 800 }, bypassCSP: true });
      /** On a phone the buttons of an entry are in a menu. */
      const press = async (name: string, of: string): Promise<void> => {
        const menu = page.locator(".runs tr", { hasText: of }).locator(".menu:not([open]) > summary");
        if ((await menu.count()) > 0) await menu.click();
        await button(page, `${name}: ${of}`).click();
      };
      await press("Star", FIRST);
      await press("Title, tags and note", FIRST);
      await page.getByRole("dialog").getByLabel("Title").fill(TITLE);
      expect(await violations(page)).toEqual([]);
      await button(page, "Save").click();
      await page.locator(".asked").waitFor();
      await press("Archive", SECOND);
      await expect.poll(() => page.locator(".run-link").count()).toBe(1);
      expect(await violations(page)).toEqual([]);
      await page.locator(".run-link").click();
      await page.locator(".report-text").waitFor();
      expect(await violations(page)).toEqual([]);
    },
  );
});
