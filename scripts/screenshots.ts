/**
 * Takes screenshots of the views of the page in both themes and two widths and of the run card, and writes the list
 * of views in docs/page.md: `npm run screenshots [-- <view> …]`; the view of the card is `app`.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Browser, Page } from "playwright-core";
import { shootCards } from "./card-screenshots.ts";
import { UI_CAPABILITIES } from "../test/kit/chat/chat-host.ts";
import { enterPage, openPage, startBrowser } from "../test/kit/browser/browser.ts";
import { openHttpScene, type RunningHttpServer } from "../test/kit/server/http-server.ts";
import { sampleFollowup, sampleMonths, sampleStatuses, insertSampleRuns } from "../test/kit/browser/sample-runs.ts";
import { storeCheckedRuns } from "../test/kit/sites/contradicted-run.ts";
import { VIEWS, type World } from "../test/kit/browser/page-views.ts";

const DIRECTORY = resolve(import.meta.dirname, "../docs/screenshots");
const PAGE = resolve(import.meta.dirname, "../docs/page.md");
const LIVE_QUESTION = "Who builds long-duration energy storage, and what has been ordered so far?";

const PICTURED = VIEWS.filter(({ caption }) => caption !== undefined);

const THEMES = ["light", "dark"] as const;
const WIDTHS = { wide: { width: 1_280, height: 800 }, narrow: { width: 360, height: 740 } } as const;

const endings: (() => Promise<void> | void)[] = [];
const context = { onTestFinished: (end: () => Promise<void> | void) => void endings.unshift(end) };

async function main(): Promise<void> {
  mkdirSync(DIRECTORY, { recursive: true });
  const scene = await openHttpScene(context, {
    name: "screenshots",
    interactions: { speed: 10, duration_ms: 60 * 60_000 },
  });
  const now = Date.now();
  await insertSampleRuns(scene.configDir, [...sampleStatuses(now), sampleFollowup(now), ...sampleMonths(60, now)]);
  const checked = await storeCheckedRuns(context, scene);
  const env = { RESEARCH_SYNC_WINDOW_MS: "0", RESEARCH_POLL_INTERVAL_MS: "100", BUDGET_DAY_USD: "20" };
  const server = await scene.http({ env });
  const started = await server.request("/api/research", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query: LIVE_QUESTION }),
  });
  const { task_id: running } = (await started.json()) as { task_id: string };
  const browser = await startBrowser({ ignoreDefaultArgs: ["--hide-scrollbars"] });
  endings.unshift(() => browser.close());
  if (wanted("app")) {
    const { client } = await scene.server({ capabilities: UI_CAPABILITIES });
    await shootCards(browser, { client, running, directory: DIRECTORY });
  }
  const fresh = await openHttpScene(context, "good");
  const folder = join(fresh.configDir, ".config/gemini-search-mcp");
  const keyless = await fresh.http({
    env: { GEMINI_API_KEY: "", GEMINI_SEARCH_CONFIG_DIR: folder, BUDGET_DAY_USD: "20" },
  });
  for (const theme of THEMES) {
    for (const width of ["wide", "narrow"] as const)
      await shootAll(browser, { server, keyless, running, ...checked }, { theme, width });
  }
  writeFileSync(PAGE, withViews(readFileSync(PAGE, "utf8")));
}

async function shootAll(
  browser: Browser,
  world: World & { server: RunningHttpServer; keyless: RunningHttpServer },
  { theme, width }: { theme: (typeof THEMES)[number]; width: keyof typeof WIDTHS },
): Promise<void> {
  const options = {
    viewport: WIDTHS[width],
    colorScheme: theme,
    reducedMotion: "reduce",
    isMobile: width === "narrow",
  } as const;
  const save = (page: Page, name: string): Promise<unknown> =>
    page.screenshot({ path: join(DIRECTORY, `${name}-${theme}-${width}.png`), animations: "disabled", scale: "css" });
  const { page } = await enterPage(browser, world.server, options);
  for (const { name, open } of PICTURED.filter(({ name: one }) => wanted(one))) {
    await open(page, world);
    // A screenshot between two frames would show an incomplete plot.
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 100)))");
    await save(page, name);
  }
  await page.context().close();
  if (wanted("first-run")) {
    const first = await enterPage(browser, world.keyless, options);
    await first.page.locator("#key").waitFor();
    await save(first.page, "first-run");
    await first.page.context().close();
  }
  if (!wanted("sign-in")) return;
  const signedOut = await openPage(browser, world.server.url, options);
  await signedOut.page.goto("/");
  await save(signedOut.page, "sign-in");
  await signedOut.page.context().close();
}

const only = process.argv.slice(2);
const wanted = (name: string): boolean => only.length === 0 || only.includes(name);

/** docs/page.md with the pictures of all views between its markers. */
function withViews(document: string): string {
  const shots = [
    { name: "first-run", caption: "The first run without an API key." },
    ...PICTURED,
    { name: "sign-in", caption: "Signing in with a token." },
  ];
  const parts = shots.map(({ name, caption = "" }) => {
    const picture = (width: string): string =>
      `<picture><source media="(prefers-color-scheme: dark)" srcset="screenshots/${name}-dark-${width}.png"><img alt="${caption}" src="screenshots/${name}-light-${width}.png" height="420"></picture>`;
    return `### ${name[0]?.toUpperCase()}${name.slice(1).replaceAll("-", " ")}\n\n${caption}\n\n${picture("wide")} ${picture("narrow")}`;
  });
  const marked = /(<!-- views -->\n\n)[\s\S]*?(\n\n<!-- \/views -->)/;
  if (!marked.test(document)) throw new Error("docs/page.md has no part for the views.");
  return document.replace(marked, (_whole, begin: string, end: string) => `${begin}${parts.join("\n\n")}${end}`);
}

try {
  await main();
} finally {
  for (const end of endings) await end();
}
