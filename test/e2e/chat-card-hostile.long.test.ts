/** Hostile text in the run card, with the client's policy and without, and its accessibility in all states. */

import axe from "axe-core";
import type { Frame } from "playwright-core";
import { expect, test, type TestContext } from "vitest";
import { z } from "zod";
import { openBrowser } from "../kit/browser/browser.ts";
import { FAILED_RUN, insertSampleRuns, LONG_RUN, sampleId, sampleStatuses } from "../kit/browser/sample-runs.ts";
import { openChat, UI_CAPABILITIES } from "../kit/chat/chat-host.ts";
import { openScene, type Scene } from "../kit/server/scene.ts";
import { HOSTILE_RUNS, hostileRuns, hostileSuggestions, openCanary, touch } from "../security/hostile-runs.ts";

async function cardOf(scene: Scene) {
  const { client } = await scene.server({ capabilities: UI_CAPABILITIES });
  const tool = (await client.listTools()).tools.find(({ name }) => name === "get_research_results") ?? {};
  return { client, tool };
}

/** What `touch` names although it belongs to the card: the frame's address is not that of a server. */
const isOwn = (sentence: string): boolean => /there is a link to #/.test(sentence);

test("no untrusted text runs, loads or navigates anywhere in the card, with its policies and without (Y3)", async (context: TestContext) => {
  const browser = await openBrowser(context);
  if (browser === undefined) {
    context.skip("there is no chromium");
    return;
  }
  const { address, asked } = await openCanary(context);
  const scene = await openScene(context);
  await insertSampleRuns(scene.configDir, hostileRuns(address));
  const { client, tool } = await cardOf(scene);
  for (const bypassCSP of [false, true]) {
    const seen: string[] = [];
    for (let run = 1; run <= HOSTILE_RUNS; run += 1) {
      const chat = await openChat(browser, { client, tool, browserOptions: { bypassCSP } });
      await chat.page
        .context()
        .exposeBinding("hit", (_source, id: unknown) => void seen.push(`payload ${String(id)} ran`));
      expect(await chat.card.evaluate("typeof hit")).toBe("function");
      await chat.sendInput({ task_id: sampleId(run) });
      await chat.card.locator(".report-text").waitFor();
      expect(await chat.card.locator(".sources li").count()).toBeGreaterThan(20);
      expect(await chat.card.locator(".entry").count()).toBeGreaterThan(20);
      const touched = await touch(chat.card, `run ${run}`);
      seen.push(...touched.filter((sentence) => !isOwn(sentence)), ...chat.faults);
      const links = chat.received.filter(({ name }) => name === "open-link").map(({ params }) => String(params.url));
      seen.push(...links.filter((url) => !/^https?:/.test(url)));
      await chat.page.context().close();
    }
    expect(seen, `bypass: ${bypassCSP}`).toEqual([]);
  }
  expect(asked).toEqual([]);
}, 300_000);

/** The box of the suggestions, and whether anything of them is shown outside it. */
const COVERED = `(() => {
  const box = document.querySelector(".suggestion-box").getBoundingClientRect();
  const corners = [[4, 4], [innerWidth / 2, 8], [innerWidth - 8, 8]];
  const covering = corners.filter(([x, y]) => document.elementFromPoint(x, y)?.closest(".suggestions"));
  return { covering, isHigh: box.height > 240 };
})()`;

test("hostile Search Suggestions in the card run nothing, cover nothing and lead only to Google (Y3, T-1)", async (context: TestContext) => {
  const browser = await openBrowser(context);
  if (browser === undefined) {
    context.skip("there is no chromium");
    return;
  }
  const { address, asked } = await openCanary(context);
  const scene = await openScene(context);
  const row = { task_id: sampleId(1), created_at: Date.now() - 60_000, completed_at: Date.now() };
  const report = { markdown: "# Lakes\n\nDeep.", sources: [], suggestions: [hostileSuggestions(address)] };
  await insertSampleRuns(scene.configDir, [{ row, report }]);
  const { client, tool } = await cardOf(scene);
  for (const bypassCSP of [false, true]) {
    const chat = await openChat(browser, { client, tool, browserOptions: { bypassCSP } });
    const hits: unknown[] = [];
    await chat.page.context().exposeBinding("hit", (_source, what: unknown) => void hits.push(what));
    await chat.sendInput({ task_id: sampleId(1) });
    const box = chat.card.locator(".suggestion-box");
    await box.locator(".chip", { hasText: "lakes" }).waitFor();
    expect(await box.locator("a[href]").allTextContents()).toEqual(["lakes"]);
    expect(await box.locator("script, img, iframe, object, link[href], form, video").count()).toBe(0);
    expect(await chat.card.evaluate(COVERED)).toEqual({ covering: [], isHigh: false });
    for (const chip of await box.locator(".chip").all()) await chip.dispatchEvent("click");
    await expect
      .poll(() => chat.received.filter(({ name }) => name === "open-link").map(({ params }) => params.url))
      .toEqual(["https://www.google.com/search?q=lakes"]);
    expect({ hits, faults: chat.faults }).toEqual({ hits: [], faults: [] });
    await chat.page.context().close();
  }
  expect(asked).toEqual([]);
}, 120_000);

const found = z.object({
  violations: z.array(
    z.object({ id: z.string(), impact: z.string().nullable(), nodes: z.array(z.object({ html: z.string() })) }),
  ),
});

async function judge(card: Frame, name: string): Promise<string[]> {
  await card.evaluate(axe.source);
  const { violations } = found.parse(await card.evaluate("axe.run({ resultTypes: ['violations'] })"));
  return violations
    .filter(({ impact }) => impact !== "minor")
    .map(({ id, nodes }) => `${name}: ${id}: ${nodes.map(({ html }) => html.slice(0, 90)).join(" | ")}`);
}

test("axe finds no fault in the card, in both themes and display modes (Y3)", async (context: TestContext) => {
  const browser = await openBrowser(context);
  if (browser === undefined) {
    context.skip("there is no chromium");
    return;
  }
  const scene = await openScene(context, { name: "card", interactions: { speed: 1, duration_ms: 3_600_000 } });
  await insertSampleRuns(scene.configDir, sampleStatuses(Date.now()));
  const { client, tool } = await cardOf(scene);
  const start = async (input: object): Promise<string> => {
    const query = "Who builds wind farms at sea?";
    const started = await client.callTool({ name: "start_deep_research", arguments: { query, ...input } });
    return z.looseObject({ task_id: z.string() }).parse(started.structuredContent).task_id;
  };
  const planned = await start({ plan: true });
  const running = await start({});
  scene.gemini.skip(600_000);
  const seen: string[] = [];
  for (const [theme, displayMode] of [
    ["light", "inline"],
    ["dark", "fullscreen"],
  ] as const) {
    for (const [task_id, sight] of [
      [running, ".entry[data-kind=thought]"],
      [planned, ".plan-text"],
      [LONG_RUN, ".report-text h2"],
      [FAILED_RUN, ".notice.bad"],
    ] as const) {
      const chat = await openChat(browser, { client, tool, theme, displayMode, browserOptions: { bypassCSP: true } });
      await chat.sendInput({ task_id });
      await chat.card.locator(sight).first().waitFor();
      if (task_id === running) await chat.card.getByRole("button", { name: "Cancel run…" }).click();
      seen.push(...(await judge(chat.card, `${sight} ${theme}`)));
      await chat.page.context().close();
    }
  }
  expect(seen).toEqual([]);
}, 200_000);
