/** What the run card shows besides a live Deep Research: pictures, Search Suggestions, a deep_search, a plan, a failure. */

import type { Browser } from "playwright-core";
import { expect, test } from "vitest";
import { suggestionsFor } from "../../simulator/models/search-suggestions.ts";
import { browserOrSkip } from "../kit/browser/browser.ts";
import { chart } from "../kit/browser/pictures.ts";
import { SOURCES } from "../kit/browser/sample-report.ts";
import { insertSampleRuns, sampleId } from "../kit/browser/sample-runs.ts";
import { openChat, UI_CAPABILITIES } from "../kit/chat/chat-host.ts";
import { openResearch, QUERY, untilStatus } from "../kit/server/research.ts";
import type { RunningServer } from "../kit/server/server.ts";

const PICTURED = sampleId(1);
const FAILED = sampleId(2);
const FIRST = "# Lakes\n\nThe first paragraph.\n\n";

/** Opens the card of a tool for a call with this input. */
async function openCard(
  browser: Browser,
  server: RunningServer,
  { tool: name, input }: { tool: string; input: object },
) {
  const { tools } = await server.client.listTools();
  const chat = await openChat(browser, { client: server.client, tool: tools.find((tool) => tool.name === name) ?? {} });
  await chat.sendInput({ ...input });
  return chat;
}

const SAMPLES = [
  {
    row: { task_id: PICTURED, created_at: Date.now() - 60_000, completed_at: Date.now() },
    report: {
      markdown: `${FIRST}## Depth\n\nThe second paragraph.\n`,
      sources: SOURCES.slice(0, 1),
      pictures: [{ mimeType: "image/png", data: chart(), offset: FIRST.length }],
      suggestions: [suggestionsFor(["deepest lake", "lake depth records"])],
    },
  },
  {
    row: {
      task_id: FAILED,
      status: "failed" as const,
      created_at: Date.now() - 60_000,
      completed_at: Date.now(),
      cost_usd: 1.12,
      error_code: "RESEARCH_FAILED",
      error_message: "Google ended the research without a report.",
    },
  },
];

const PICTURE = `(async () => {
  const image = document.querySelector(".picture img");
  await image.decode();
  return { width: image.naturalWidth, before: image.parentElement.previousElementSibling.textContent };
})()`;

const ROUNDNESS = `getComputedStyle(document.querySelector(".suggestion-box > div").shadowRoot.querySelector(".chip")).borderRadius`;

test("the card shows pictures in their place and Google's suggestions, whose links the client opens (Y2, T-1)", async (context) => {
  const browser = await browserOrSkip(context);
  const scene = await openResearch(context);
  await insertSampleRuns(scene.configDir, SAMPLES);
  const server = await scene.server({ capabilities: UI_CAPABILITIES });
  const chat = await openCard(browser, server, { tool: "get_research_results", input: { task_id: PICTURED } });
  await chat.card.locator(".picture img[src]").waitFor();
  expect(await chat.card.evaluate(PICTURE)).toEqual({ width: 320, before: "The first paragraph." });
  expect(chat.calls("view_report").map(({ params }) => params.arguments.form)).toEqual(["html", "picture"]);
  const chips = chat.card.locator(".suggestions .chip");
  expect(await chips.allTextContents()).toEqual(["deepest lake", "lake depth records"]);
  // Google's own styles apply, and only there.
  expect(await chat.card.evaluate(ROUNDNESS)).toBe("16px");
  await chips.first().click();
  await expect
    .poll(() => chat.received.filter(({ name }) => name === "open-link").map(({ params }) => params.url))
    .toEqual([expect.stringContaining("https://vertexaisearch.cloud.google.com/grounding-api-redirect/")]);
  expect(chat.faults).toEqual([]);

  const failed = await openCard(browser, server, { tool: "check_research_status", input: { task_id: FAILED } });
  await failed.card.locator(".badge[data-status=failed]").waitFor();
  expect(await failed.card.locator(".notice.bad").innerText()).toContain("without a report");
  expect(await failed.card.locator(".run-line").innerText()).toContain("$1.12");
  expect(await failed.card.getByRole("button").allInnerTexts()).toEqual(["Ask again", "Full screen"]);
  await failed.page.waitForTimeout(1_500);
  expect(failed.received.map(({ params }) => params.name)).toEqual(["view_run"]);
  // Nothing is started by the card: the chat is asked, whose model asks its user.
  await failed.card.getByRole("button", { name: "Ask again" }).click();
  await failed.card.getByRole("button", { name: "Sent to the chat ✓" }).waitFor();
  const message = failed.received.find(({ name }) => name === "message");
  expect(message?.params.content).toEqual([{ type: "text", text: expect.stringMatching(/^Ask this again: ./) }]);
  expect(failed.faults).toEqual([]);
}, 120_000);

test("the card follows a deep_search and shows a plan that only the chat can approve (Y2)", async (context) => {
  const browser = await browserOrSkip(context);
  const scene = await openResearch(context);
  const server = await scene.server({ capabilities: UI_CAPABILITIES });
  // Slow enough to be followed: several requests of more than a second.
  scene.gemini.setScenario({ name: "slow", latency_ms: 1_200 });
  const searching = await openCard(browser, server, { tool: "deep_search", input: { query: QUERY } });
  const [answer] = await Promise.all([
    server.client.callTool({ name: "deep_search", arguments: { query: QUERY } }),
    // By its question, before the call has returned.
    searching.card.locator(".badge[data-status^=running]").waitFor(),
  ]);
  await searching.sendResult(answer);
  await searching.card.locator(".report-text h2").first().waitFor();
  expect(await searching.card.locator(".report").innerText()).toMatch(/Verified in round \d/);
  expect(searching.calls("view_run")[0]?.params.arguments).toEqual({ query: QUERY });
  expect(searching.faults).toEqual([]);

  scene.play({});
  const { structured } = await server.call("start_deep_research", { query: `${QUERY} Plan it.`, plan: true });
  const { task_id } = structured as { task_id: string };
  await untilStatus(server, task_id, "awaiting_approval");
  const waiting = await openCard(browser, server, { tool: "start_deep_research", input: { task_id } });
  await waiting.card.getByText("The plan waits for your approval. Approve or change it in the chat.").waitFor();
  const plan = waiting.card.getByRole("region", { name: "Plan", exact: true });
  expect(await plan.innerText()).toMatch(
    /will cost about \$\d[^]*at most \$\d[^]*Collect figures[^]*You can approve the plan until /,
  );
  expect(await waiting.card.getByRole("button").allInnerTexts()).toEqual(["Cancel run…", "Full screen"]);
  expect(scene.accepted()).toBe(1);
  await server.call("resume_research", { task_id, approve: true });
  await waiting.card.locator(".report-text h2").first().waitFor();
  expect(await plan.count()).toBe(0);
  expect(scene.accepted()).toBe(2);
  expect(waiting.received.map(({ params }) => params.name)).not.toContain("resume_research");
  expect(waiting.faults).toEqual([]);
}, 120_000);
