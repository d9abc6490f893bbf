/** The run card, an MCP App, in a chat client with the official app bridge: a live run, its report, its buttons. */

import type { Tool } from "@modelcontextprotocol/client";
import { isToolVisibilityAppOnly } from "@modelcontextprotocol/ext-apps/app-bridge";
import type { Browser } from "playwright-core";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { expect, test, type TestContext } from "vitest";
import { browserOrSkip } from "../kit/browser/browser.ts";
import { openChat, UI_CAPABILITIES, withKey } from "../kit/chat/chat-host.ts";
import { openResearch, QUERY, type ResearchScene } from "../kit/server/research.ts";
import type { Era, RunningServer } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

const ERAS: Era[] = ["legacy", "modern"];
const CARDED = ["deep_search", "start_deep_research", "check_research_status", "get_research_results"];

async function toolOf(server: RunningServer, name: string): Promise<Tool> {
  const found = (await server.client.listTools()).tools.find((tool) => tool.name === name);
  if (found === undefined) throw new Error(`There is no ${name}.`);
  return found;
}

const startResult = async (server: RunningServer) =>
  server.client.callTool({ name: "start_deep_research", arguments: { query: QUERY } });

const SLOW = { speed: 1, duration_ms: 60 * 60_000 };

const isListed = (names: string[], tools: Tool[]) => tools.filter(({ name }) => names.includes(name));

test.for(ERAS)("only a client that shows cards is offered what the card needs: %s (Y1)", async (era, context) => {
  const scene = await openResearch(context);
  const plain = await scene.server({ era });
  const { tools } = await plain.client.listTools();
  const carded = isListed(CARDED, tools);
  expect(carded).toHaveLength(CARDED.length);
  for (const { _meta } of carded) {
    expect(_meta).toMatchObject({
      ui: { resourceUri: "ui://gemini-search/run" },
      "ui/resourceUri": "ui://gemini-search/run",
    });
  }
  expect(tools.filter(isToolVisibilityAppOnly)).toEqual([]);
  const { resources } = await plain.client.listResources();
  expect(resources.filter(({ uri }) => uri.startsWith("ui:"))).toEqual([]);
  const withoutCard = tools.map(({ _meta: { ui: _ui, "ui/resourceUri": _uri, ...meta } = {}, ...tool }) => ({
    ...tool,
    ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }),
  }));
  const grown = countTokens(JSON.stringify(tools)) - countTokens(JSON.stringify(withoutCard));
  expect(grown).toBeLessThanOrEqual(150);

  const showing = await scene.server({ era, capabilities: UI_CAPABILITIES, env: { GEMINI_SEARCH_TOOLS: "core" } });
  const listed = (await showing.client.listTools()).tools;
  expect(listed.filter(isToolVisibilityAppOnly).map(({ name }) => name)).toEqual([
    "view_run",
    "view_report",
    "cancel_research",
  ]);
  const cancel = listed.find(({ name }) => name === "cancel_research");
  expect(Object.keys(cancel?.inputSchema.properties ?? {})).toEqual(["task_id"]);
  const task_id = "00000000-0000-4000-8000-000000000000";
  expect((await showing.call("cancel_research", { task_id })).structured).toMatchObject({
    error: { code: "TASK_NOT_FOUND" },
  });
  await expect(showing.call("cancel_research", { task_id, delete: true })).rejects.toThrow("not among the tools");
  expect((await showing.client.listResources()).resources).toContainEqual(
    expect.objectContaining({ uri: "ui://gemini-search/run", mimeType: "text/html;profile=mcp-app" }),
  );
});

interface Shown {
  scene: ResearchScene;
  server: RunningServer;
  browser: Browser;
}

async function open(context: TestContext, era: Era, interactions: object): Promise<Shown> {
  const browser = await browserOrSkip(context);
  const scene = await openResearch(context, interactions);
  const server = await scene.server({ era, capabilities: UI_CAPABILITIES });
  return { scene, server, browser };
}

test("a live run becomes a report in the chat, with working buttons, and the card stops asking (Y1, Y2)", async (context) => {
  const { scene, server, browser } = await open(context, "modern", SLOW);
  const tool = withKey(await toolOf(server, "start_deep_research"), "new");
  const chat = await openChat(browser, { client: server.client, tool });
  await chat.sendInput({ query: QUERY });
  await chat.card.getByRole("heading", { name: QUERY }).waitFor();
  const started = await startResult(server);
  // The call has not returned for the client: the card finds the run by its question.
  await chat.card.locator("progress").waitFor();
  expect(chat.calls("view_run")[0]?.params.arguments).toEqual({ query: QUERY });
  await chat.sendResult(started);
  scene.gemini.skip(20 * 60_000);
  await chat.card.locator(".entry[data-kind=thought]").first().waitFor();
  await chat.card.locator(".entry[data-kind=search]").first().waitFor();
  expect(await chat.card.locator(".run-line").innerText()).toContain("estimated $");
  await waitFor(() => {
    const waited = chat.calls("view_run").filter(({ params }) => params.arguments.wait_seconds > 0);
    expect(waited.length).toBeGreaterThan(0);
    expect(waited.every(({ params }) => /^\d+-\d+-/.test(params.arguments.cursor))).toBe(true);
  });
  await chat.setContext({ theme: "dark" });
  await chat.card.locator("html[data-theme=dark]").waitFor();
  scene.gemini.skip(60 * 60_000);
  await chat.card.locator(".report-text h2").first().waitFor();
  await chat.card.getByText("Completed").first().waitFor();
  const asked = chat.calls("view_run").length;
  await chat.card.locator(".cite a").first().click();
  await chat.card.locator("[data-reached]").waitFor();
  await chat.card.locator(".sources a[href^=http]").first().click();
  await chat.card.getByRole("button", { name: "Download .md" }).click();
  await chat.card.getByRole("button", { name: "Downloaded ✓" }).waitFor();
  await chat.card.getByRole("button", { name: "Use in chat" }).click();
  await chat.card.getByRole("button", { name: "Added to the chat ✓" }).waitFor();
  const [link, file, summary] = ["open-link", "download-file", "update-model-context"].map(
    (name) => chat.received.find((one) => one.name === name)?.params,
  );
  expect(link.url).toMatch(/^https?:/);
  expect(file.contents[0].resource).toMatchObject({ mimeType: "text/markdown", text: expect.stringContaining(QUERY) });
  expect(summary.content[0].text).toContain("evidence, not instructions");
  expect(summary.content[0].text.length).toBeLessThan(4_000);
  const inline = await chat.page.locator("iframe").boundingBox();
  await chat.card.getByRole("button", { name: "Full screen" }).click();
  await chat.card.locator("html[data-mode=fullscreen]").waitFor();
  await chat.card.getByRole("button", { name: "Back to the chat" }).waitFor();
  expect((await chat.page.locator("iframe").boundingBox())?.height).not.toBe(inline?.height);
  expect(chat.calls("view_run")).toHaveLength(asked);
  expect(scene.accepted()).toBe(1);
  expect(chat.faults).toEqual([]);
}, 120_000);

test("a 2025 client with the old key shows a failed run; a cancelled one stops, and a removed card asks nothing more (Y1, Y2)", async (context) => {
  const { scene, server, browser } = await open(context, "legacy", SLOW);
  const tool = withKey(await toolOf(server, "check_research_status"), "old");
  const started = await startResult(server);
  const { task_id } = started.structuredContent as { task_id: string };
  const chat = await openChat(browser, { client: server.client, tool, theme: "dark" });
  await chat.sendInput({ task_id });
  await chat.card.getByRole("button", { name: "Cancel run…" }).click();
  expect(chat.calls("cancel_research")).toEqual([]);
  await chat.card.getByRole("button", { name: "Cancel run", exact: true }).click();
  await chat.card.getByText("Cancelled").first().waitFor();
  expect(chat.calls("cancel_research")).toHaveLength(1);

  scene.play({ status: "failed", text: "none" });
  const failing = await server.call("start_deep_research", { query: `${QUERY} Now?` });
  const again = await openChat(browser, { client: server.client, tool });
  await again.sendInput({ task_id: failing.structured["task_id"] });
  await again.card.locator(".badge[data-status=failed]").waitFor();
  await again.card.locator(".notice.bad").waitFor();

  scene.play(SLOW);
  const removed = await server.call("start_deep_research", { query: `${QUERY} Then?` });
  const third = await openChat(browser, { client: server.client, tool });
  await third.sendInput({ task_id: removed.structured["task_id"] });
  await third.card.locator("progress").waitFor();
  await third.teardown();
  const asked = third.received.length;
  scene.gemini.skip(30 * 60_000);
  await third.page.waitForTimeout(2_500);
  // A read that was waiting at the server may still return.
  expect(third.received.length - asked).toBeLessThanOrEqual(0);
  expect([...chat.faults, ...again.faults, ...third.faults]).toEqual([]);
}, 120_000);
