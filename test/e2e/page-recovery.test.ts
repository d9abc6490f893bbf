/** What the page keeps and repairs by itself: restarts of the server, changes from elsewhere, lost answers, reloads. */

import type { Locator, Page } from "playwright-core";
import { expect, test, type TestContext } from "vitest";
import { browserOrSkip, enterPage } from "../kit/browser/browser.ts";
import { openPageServer, untilEnded } from "../kit/browser/page-api.ts";
import { insertSampleRuns, sampleId } from "../kit/browser/sample-runs.ts";
import { openHttpScene } from "../kit/server/http-server.ts";
import { QUERY } from "../kit/server/research.ts";

const SOON = { timeout: 60_000 };
const AWAY = "Can't reach the server.";

test("a view that is opened while the server is away appears when it is back, by itself (J3)", async (context) => {
  const browser = await browserOrSkip(context);
  const scene = await openHttpScene(context);
  const server = await scene.http();
  const { port } = server;
  const { page } = await enterPage(browser, server);
  await page.getByRole("heading", { name: "Nothing asked yet" }).waitFor();
  await server.close();
  await page.getByRole("link", { name: "Costs" }).click();
  await page.getByText(AWAY).first().waitFor();
  // It would lead to the browser's own error page.
  expect(await page.getByRole("button", { name: "Reload the page" }).count()).toBe(0);
  await scene.http({ args: ["--port", String(port)] });
  await page.getByText("Nothing was charged in this period.").waitFor(SOON);
});

async function openPlan(context: TestContext) {
  const browser = await browserOrSkip(context);
  const scene = await openPageServer(context);
  const server = await scene.serve();
  const { body } = await server.post("/api/research", { query: QUERY, plan: true });
  const taskId: string = body.task_id;
  const { page } = await enterPage(browser, server);
  await page.goto(`/runs/${taskId}`);
  const plan = page.locator("textarea[aria-labelledby=plan-title]");
  await page.getByRole("button", { name: "Edit as text" }).click(SOON);
  await plan.waitFor(SOON);
  return { server, taskId, page, plan };
}

/** A plan that Google sends again is a list of steps at first. */
async function textOf(page: Page, plan: Locator): Promise<string> {
  const asText = page.getByRole("button", { name: "Edit as text" });
  if (await asText.isVisible()) await asText.click();
  return plan.inputValue({ timeout: 1_000 }).catch(() => "");
}

test("a plan that is being edited is not overwritten by a change from elsewhere, and both versions can be used (V2)", async (context) => {
  const { server, taskId, page, plan } = await openPlan(context);
  await plan.fill("My own plan: ask the neighbours.");
  await plan.focus();
  expect(await server.post(`/api/runs/${taskId}/plan`, { text: "Compare Norway and Japan", turn: 1 })).toMatchObject({
    status: 200,
  });
  const notice = page.locator(".plan .notice", { hasText: "The plan was changed elsewhere" });
  await notice.waitFor(SOON);
  expect(await plan.inputValue()).toBe("My own plan: ask the neighbours.");
  expect(await notice.innerText()).toContain("Compare Norway and Japan");
  const start = page.getByRole("button", { name: "Start research" });
  expect(await start.isDisabled()).toBe(true);
  await page.getByRole("button", { name: "Change the plan" }).click();
  await expect.poll(() => textOf(page, plan), SOON).toMatch(/Replace the plan with this one: My own plan/);
  expect(await notice.count()).toBe(0);

  await plan.fill("Yet another plan.");
  expect(await server.post(`/api/runs/${taskId}/plan`, { text: "Compare Chile and Peru", turn: 3 })).toMatchObject({
    status: 200,
  });
  await page.getByRole("button", { name: "Discard my text, use this plan" }).click(SOON);
  await expect.poll(() => textOf(page, plan), SOON).toContain("Compare Chile and Peru");
  expect(await start.isEnabled()).toBe(true);
});

test("what was written about a plan stays readable when the plan is approved elsewhere (V2)", async (context) => {
  const { server, taskId, page, plan } = await openPlan(context);
  await plan.fill("My own plan: ask the neighbours.");
  await server.post(`/api/runs/${taskId}/approve`, { turn: 1 });
  const unsent = page.locator("details.plan", { hasText: "which were not sent" });
  await unsent.getByText("My own plan: ask the neighbours.").waitFor(SOON);
});

/** The server gets the next question, but the page does not get its answer. */
async function loseNextAnswer(page: Page): Promise<void> {
  await page.route(
    "**/api/ask",
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
}

test("a search that is sent again after a lost answer is the same run, and a later one is another (F2)", async (context) => {
  const browser = await browserOrSkip(context);
  const scene = await openHttpScene(context, "good");
  const server = await scene.http();
  const { page } = await enterPage(browser, server);
  const total = async (): Promise<number> =>
    ((await (await server.request("/api/runs")).json()) as { total: number }).total;
  const ask = page.getByRole("button", { name: "Ask", exact: true });
  for (const runs of [1, 2]) {
    await page.goto("/");
    await page.fill("#question", "When is the next total solar eclipse?");
    await loseNextAnswer(page);
    await ask.click();
    await page.getByText(AWAY).waitFor();
    // Also after a reload.
    if (runs === 2) await page.reload();
    await ask.click();
    await page.waitForURL("**/runs/*");
    await page.locator(".report-text").waitFor(SOON);
    expect(await total()).toBe(runs);
  }
});

test("the same search sent twice at once is one run; with another id or question, or by another user, it is another (F2, T14)", async (context) => {
  const scene = await openPageServer(context);
  const server = await scene.serve();
  const ben = await scene.tokenOf("ben");
  const search = { query: "When is the next eclipse?", depth: "search", request_id: "1-2-3" };
  const idOf = async (change: object, token?: string): Promise<string> =>
    (await server.post("/api/ask", { ...search, ...change }, token)).body.task_id;
  const same = await Promise.all([idOf({}), idOf({}), idOf({})]);
  expect(new Set(same).size).toBe(1);
  expect(same[0]).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  await untilEnded(server, same[0] ?? "");
  expect(await idOf({})).toBe(same[0]);
  const others = [
    await idOf({ request_id: "4-5-6" }),
    await idOf({ query: "When is the next comet?" }),
    await idOf({}, ben),
  ];
  expect(new Set([...same, ...others]).size).toBe(4);
});

test("a follow-up that was typed and not asked survives a reload, and a refusal gives no wrong advice (V1)", async (context) => {
  const browser = await browserOrSkip(context);
  const server = await (await openPageServer(context)).serve();
  const { body } = await server.post("/api/research", { query: QUERY });
  await untilEnded(server, body.task_id);
  const { page } = await enterPage(browser, server);
  await page.goto(`/runs/${body.task_id}`);
  const question = page.getByLabel("Ask a follow-up");
  await question.fill("And in summer?");
  await page.reload();
  await question.waitFor();
  expect(await question.inputValue()).toBe("And in summer?");
  await page.goto("/");
  await page.fill("#question", "When is the next total solar eclipse?");
  await page.getByText("Options", { exact: true }).click();
  await page.getByLabel("Language").fill("not a language!");
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  const refusal = page.getByRole("alert");
  await refusal.waitFor();
  expect(await refusal.innerText()).toMatch(/^language /);
  expect(await refusal.innerText()).not.toContain("Reload");
});

/** A finished research and a follow-up on it, in a signed-in browser. */
async function openFollowup(context: TestContext) {
  const browser = await browserOrSkip(context);
  const scene = await openHttpScene(context);
  const [root, followup] = [sampleId(1), sampleId(2)];
  const times = { created_at: Date.now() - 60_000, completed_at: Date.now() };
  const report = (markdown: string) => ({ markdown, sources: [] });
  await insertSampleRuns(scene.configDir, [
    { row: { task_id: root, ...times }, report: report("## Depth\n\nThe lake is 40 metres deep.") },
    {
      row: { task_id: followup, ...times, parent_task_id: root, followup_context: "stored_report" },
      report: report("## Summer\n\nIt is less deep in summer."),
    },
  ]);
  const { page } = await enterPage(browser, await scene.http());
  return { page, root, followup };
}

test("an answer that arrives while the next question is typed does not take the focus (V1)", async (context) => {
  const { page, root, followup } = await openFollowup(context);
  const typed = Promise.withResolvers<void>();
  await page.route(`**/api/runs/${followup}/report*`, async (route) => {
    await typed.promise;
    await route.continue();
  });
  await page.goto(`/runs/${root}#turn-${followup}`);
  await page.getByText("The lake is 40 metres deep.").waitFor();
  await page.locator(`#turn-${followup}:focus`).waitFor();
  await page.getByLabel("Ask a follow-up").focus();
  await page.keyboard.type("And in ");
  typed.resolve();
  await page.getByText("It is less deep in summer.").waitFor();
  // What the answer does to the page is done before the next frame but one.
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  await page.keyboard.type("winter?");
  expect(await page.getByLabel("Ask a follow-up").inputValue()).toBe("And in winter?");
});

test("a follow-up can be read where its conversation cannot be loaded (V1)", async (context) => {
  const { page, followup } = await openFollowup(context);
  await page.route("**/api/runs/*/conversation", (route) => route.fulfill({ status: 500, body: "" }));
  await page.goto(`/runs/${followup}`);
  await page.getByText("It is less deep in summer.").waitFor();
});
