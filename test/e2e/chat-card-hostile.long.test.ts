/** Hostile text in the run card, with the client's policy and without, and its accessibility in all states. */

import axe from "axe-core";
import type { Frame } from "playwright-core";
import { expect, test, type TestContext } from "vitest";
import { z } from "zod";
import { openBrowser } from "../kit/browser/browser.ts";
import { FAILED_RUN, insertSampleRuns, LONG_RUN, sampleId, sampleStatuses } from "../kit/browser/sample-runs.ts";
import { openChat, UI_CAPABILITIES } from "../kit/chat/chat-host.ts";
import { openScene, type Scene } from "../kit/server/scene.ts";
import { HOSTILE_RUNS, hostileRuns, openCanary, touch } from "../security/hostile-runs.ts";

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
  const started = await client.callTool({
    name: "start_deep_research",
    arguments: { query: "Who builds wind farms at sea?" },
  });
  const { task_id: running } = z.looseObject({ task_id: z.string() }).parse(started.structuredContent);
  scene.gemini.skip(600_000);
  const seen: string[] = [];
  for (const [theme, displayMode] of [
    ["light", "inline"],
    ["dark", "fullscreen"],
  ] as const) {
    for (const [task_id, sight] of [
      [running, ".entry[data-kind=thought]"],
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
