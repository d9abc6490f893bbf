import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, type TestContext } from "vitest";
import type { ScenarioInput } from "../../simulator/scenario.ts";
import { violations } from "../kit/browser/accessibility.ts";
import { browserInstalled, closePages, openPage, sharedBrowser } from "../kit/browser/browser.ts";
import { openHttpScene, type RunningHttpServer } from "../kit/server/http-server.ts";
import { draftResearch, SUBMIT } from "../kit/browser/ask-form.ts";

type Interactions = NonNullable<ScenarioInput["interactions"]>;

const QUERY = "How do heat pumps perform in cold climates?";
const QUICK = { RESEARCH_SYNC_WINDOW_MS: "0", RESEARCH_POLL_INTERVAL_MS: "100", RESEARCH_MAX_RPS: "100" };

let browser: Browser;

async function openScene(context: TestContext, { interactions = {}, env = {} }: Wish = {}) {
  const scene = await openHttpScene(context, { name: "research", interactions: { speed: 1_000, ...interactions } });
  const serve = (port = 0): Promise<RunningHttpServer> =>
    scene.http({ args: ["--no-auth", "--port", String(port)], env: { ...QUICK, ...env } });
  const server = await serve();
  const { page, pageErrors } = await openPage(browser, server.url);
  context.onTestFinished(() => page.context().close());
  const posts = (): number =>
    scene.gemini.ledger.entries().filter(({ method, path }) => method === "POST" && path.endsWith("/interactions"))
      .length;
  const start = async (query: string): Promise<string> => {
    const response = await server.request("/api/research", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query }),
    });
    const { task_id: taskId } = (await response.json()) as { task_id: string };
    return taskId;
  };
  return { ...scene, server, serve, page, pageErrors, posts, start };
}

interface Wish {
  interactions?: Interactions;
  env?: Record<string, string>;
}

const ready = (page: Page): Promise<void> => page.locator(`${SUBMIT}:enabled`).waitFor();
const announced = (page: Page): Promise<string | null> => page.locator("#announcements").textContent();

const installed = await browserInstalled();

/** Types "s" when the search field appears, "ol" after its first paint, and "id" when the address changes. */
const TYPE_EARLY = `{
  const type = (text) => document.execCommand("insertText", false, text);
  const observer = new MutationObserver(() => {
    const field = document.querySelector("#search");
    if (field === null) return;
    observer.disconnect();
    field.focus();
    type("s");
    setTimeout(() => type("ol"), 100);
  });
  observer.observe(document.body, { childList: true, subtree: true });
  const push = history.pushState.bind(history);
  history.pushState = (...change) => {
    push(...change);
    if (String(change[2]).includes("text=")) queueMicrotask(() => type("id"));
  };
}`;

describe.skipIf(installed === "missing")("the first view in a browser", () => {
  beforeAll(async () => {
    browser = await sharedBrowser();
  });
  afterAll(() => closePages(browser));

  test("the estimate is shown before the start can be pressed, and a double click is one paid start (I1, M1, I8)", async (context) => {
    const { page, pageErrors, posts } = await openScene(context);
    await page.goto("/");
    await page.getByText("Nothing asked yet").waitFor();
    // The cursor is in the question.
    await page.locator("#question:focus").waitFor();
    expect(await page.locator(SUBMIT).isDisabled()).toBe(true);
    await draftResearch(page, QUERY);
    await ready(page);
    expect(await page.locator(SUBMIT).innerText()).toMatch(/^Start · about \$\d/);
    await page.reload();
    expect(await page.inputValue("#question")).toBe(QUERY);
    await ready(page);
    await page.dblclick(SUBMIT);
    await page.waitForURL("**/runs/*");
    await page.goto("/");
    await page.locator(".runs tr[data-status=completed]").waitFor();
    expect(posts()).toBe(1);
    expect(pageErrors).toEqual([]);
  });

  test("an identical question is started again only on request, which says that it is charged (I9)", async (context) => {
    const { page, posts, start } = await openScene(context);
    await start(QUERY);
    await page.goto("/");
    await draftResearch(page, QUERY);
    await ready(page);
    await page.click(SUBMIT);
    await page.getByText("nothing new was started or charged").waitFor();
    expect(posts()).toBe(1);
    await page.getByRole("button", { name: /Start a new one anyway, about \$/ }).click();
    await page.waitForURL("**/runs/*");
    expect(posts()).toBe(2);
  });

  test("a start above the limit needs consent to that very amount (T28)", async (context) => {
    const { page, posts } = await openScene(context, { env: { RESEARCH_CONFIRM_ABOVE_USD: "0.5" } });
    await page.goto("/");
    await draftResearch(page, QUERY);
    const agree = page.getByRole("checkbox", { name: /more than your limit of \$0\.50/ });
    await agree.waitFor();
    expect(await page.locator(SUBMIT).isDisabled()).toBe(true);
    await page.press("#question", "Control+Enter");
    await agree.check();
    await ready(page);
    await page.getByRole("radio", { name: /Max/ }).check();
    await page.getByRole("checkbox", { name: /deep-research-max/ }).waitFor();
    expect(await page.locator(SUBMIT).isDisabled()).toBe(true);
    expect(posts()).toBe(0);
    await page.getByRole("checkbox", { name: /deep-research-max/ }).check();
    await page.click(SUBMIT);
    await page.waitForURL("**/runs/*");
    expect(posts()).toBe(1);
  });

  test("a start whose answer was lost says so, links to its run, and keeps the typed text (I10)", async (context) => {
    const { page } = await openScene(context, { interactions: { create: [{ fault: "accept-then-reset" }] } });
    await page.goto("/");
    await draftResearch(page, QUERY);
    await ready(page);
    await page.click(SUBMIT);
    await page.getByRole("alert").getByText("It is not known").waitFor();
    expect(await page.inputValue("#question")).toBe(QUERY);
    await page.getByRole("alert").getByRole("link").click();
    await page.waitForURL("**/runs/*");
  });

  test("a run that starts and ends while the list is open is shown and announced", async (context) => {
    const { page, start } = await openScene(context, { interactions: { speed: 200 } });
    await page.goto("/");
    await page.getByText("Nothing asked yet").waitFor();
    await start(QUERY);
    await page.locator(".runs").getByText(QUERY).waitFor();
    await page.locator(".runs tr[data-status=completed]").waitFor();
    await expect.poll(() => announced(page)).toBe(`Completed: ${QUERY}`);
    await expect.poll(() => page.title()).toBe("gemini-search-mcp");
  });

  test("a question with its follow-up is one entry, and free failures are one line (Z1)", async (context) => {
    const create: Interactions["create"] = [{}, {}, { fault: "key-invalid" }];
    const { page, server, start } = await openScene(context, { interactions: { create } });
    const taskId = await start(QUERY);
    await page.goto("/");
    await page.locator("tr[data-status=completed]").waitFor();
    await server.request(`/api/runs/${taskId}/followup`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ question: "And in apartments?" }),
    });
    await page.locator(".later", { hasText: "+ 1 follow-up" }).waitFor();
    expect(await page.locator(".run-link").allInnerTexts()).toEqual([QUERY]);
    await start("Who makes solid-state batteries?");
    await page.getByText("1 start failed and cost nothing.").waitFor();
    expect(await page.locator(".run-link").allInnerTexts()).toEqual([QUERY]);
    await page.getByRole("link", { name: "Show it" }).click();
    await expect.poll(() => page.locator(".run-link").allInnerTexts()).toEqual(["Who makes solid-state batteries?"]);
  });

  test("several entries are selected and deleted together, with their follow-ups, after a question (Z1, T-2)", async (context) => {
    const { page, server, start } = await openScene(context);
    const taskId = await start(QUERY);
    await start("Who makes solid-state batteries?");
    await start("How deep is Lake Geneva?");
    await page.goto("/");
    await expect.poll(() => page.locator("tr[data-status=completed]").count()).toBe(3);
    await server.request(`/api/runs/${taskId}/followup`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ question: "And in apartments?" }),
    });
    await page.locator(".later").waitFor();
    await page.locator(".filters .menu summary").click();
    await page.getByRole("button", { name: "Select", exact: true }).click();
    await page.getByRole("checkbox", { name: `Select ${QUERY}` }).check();
    await page.getByRole("checkbox", { name: "Select How deep is Lake Geneva?" }).check();
    await page.getByText("2 selected").waitFor();
    await page.getByRole("button", { name: "Delete…" }).click();
    await expect.poll(() => page.getByRole("dialog").locator("li").count()).toBe(2);
    await page.getByRole("button", { name: "Delete for good" }).click();
    await expect.poll(() => page.locator(".run-link").allInnerTexts()).toEqual(["Who makes solid-state batteries?"]);
    const list = (await (await server.request("/api/runs")).json()) as { total: number };
    expect(list.total).toBe(1);
  });

  test("letters typed in the first moment of the list, or while the address changes, stay in the field", async (context) => {
    const { page, start } = await openScene(context);
    await start(QUERY);
    await page.goto("/");
    await page.locator("tr[data-status=completed]").waitFor();
    await page.goto("/costs");
    await page.locator(".figures table").first().waitFor();
    await page.evaluate(TYPE_EARLY);
    const entries = await page.evaluate<number>("history.length");
    await page.getByRole("link", { name: "Home", exact: true }).click();
    await page.waitForURL("**/?text=solid");
    expect(await page.inputValue("#search")).toBe("solid");
    // One entry for the list, one for the search.
    expect(await page.evaluate("history.length")).toBe(entries + 2);
  });

  test("a search is part of the address: it can be bookmarked, reloaded, and left by going back", async (context) => {
    const { page, start } = await openScene(context);
    await start(QUERY);
    await start("Who makes solid-state batteries?");
    await page.goto("/");
    await expect.poll(() => page.locator("tr[data-status=completed]").count()).toBe(2);
    await page.fill("#search", "solid batter");
    await page.waitForURL("**/?text=solid+batter");
    await expect.poll(() => page.locator(".run-link").count()).toBe(1);
    await expect.poll(() => page.locator(".states").innerText()).toMatch(/^All\s+Completed$/);
    await page.reload();
    // The words are marked in the question itself, which is not repeated below it.
    await page.locator(".run-link mark").first().waitFor();
    expect(await page.locator(".found").count()).toBe(0);
    expect(await page.inputValue("#search")).toBe("solid batter");
    await page.goBack();
    await expect.poll(() => page.locator(".run-link").count()).toBe(2);
    expect(await page.inputValue("#search")).toBe("");
  });

  test("a server that disconnects and returns is shown, and the list is read again without a reload", async (context) => {
    const { page, server, serve, start, configDir } = await openScene(context);
    await start(QUERY);
    await page.goto("/");
    await page.locator("tr[data-status=completed]").waitFor();
    await server.close();
    await page.getByText("Reconnecting…").waitFor();
    // No event reports what happens while there is no listener.
    const database = new DatabaseSync(join(configDir, "deep_research.db"), { timeout: 5_000 });
    database.exec("update research_tasks set query = 'Changed while the page was away?'");
    database.close();
    await serve(server.port);
    await page.getByText("Reconnecting…").waitFor({ state: "detached" });
    await page.locator(".runs").getByText("Changed while the page was away?").waitFor();
  });

  test("new runs do not move a list that is scrolled down", async (context) => {
    const { page, start } = await openScene(context);
    for (const n of [1, 2, 3, 4, 5, 6]) await start(`Question number ${n}?`);
    await page.setViewportSize({ width: 1_280, height: 300 });
    await page.goto("/");
    await expect.poll(() => page.locator("tr[data-status=completed]").count()).toBe(6);
    await page.locator(".run-link").nth(5).scrollIntoViewIfNeeded();
    await page.mouse.wheel(0, 1_000);
    await expect.poll(() => page.evaluate("scrollY")).toBeGreaterThan(200);
    const read = page.getByRole("link", { name: "Question number 1?" });
    const before = await read.boundingBox();
    await start("A question that comes late?");
    await expect.poll(() => page.locator(".run-link").first().innerText()).toBe("A question that comes late?");
    // Browsers anchor the position to whole pixels.
    expect(Math.abs(((await read.boundingBox())?.y ?? 0) - (before?.y ?? 0))).toBeLessThan(2);
  });

  test.for([
    { colorScheme: "light", width: 1_280 },
    { colorScheme: "dark", width: 1_280 },
    { colorScheme: "light", width: 320 },
    { colorScheme: "dark", width: 320 },
  ] as const)(
    "WCAG AA, $colorScheme, $width wide, nothing to scroll sideways",
    async ({ colorScheme, width }, context) => {
      const { server, start } = await openScene(context);
      await start(QUERY);
      // The checker is an external script, which the page's policy would block.
      const look = { colorScheme, viewport: { width, height: 800 }, bypassCSP: true } as const;
      const { page } = await openPage(browser, server.url, look);
      context.onTestFinished(() => page.context().close());
      await page.goto("/");
      await page.locator("tr[data-status=completed]").waitFor();
      expect(await violations(page)).toEqual([]);
      await page.goto("/");
      await draftResearch(page, QUERY);
      await ready(page);
      expect(await violations(page)).toEqual([]);
    },
  );
});
