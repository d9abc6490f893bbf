/** Plan first, through the front door: over MCP, with kills at every point of a turn, in a terminal and on the page. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { draftResearch, SUBMIT } from "../kit/browser/ask-form.ts";
import { browserInstalled, closePages, enterPage, sharedBrowser } from "../kit/browser/browser.ts";
import { KILL_POINTS } from "../kit/kills/kills.ts";
import { openKillWorld } from "../kit/kills/world.ts";
import { openHttpScene } from "../kit/server/http-server.ts";
import { openResearch, QUERY, type ResearchScene, untilStatus } from "../kit/server/research.ts";
import { openTasks, settled } from "../kit/server/tasks.ts";
import { openUserTerminal, terminals } from "../kit/server/terminal.ts";
import { waitFor } from "../kit/wait-for.ts";

const EDIT = "Compare Norway and Japan";

/** The paid requests in order: a plan, or a research. */
const paid = ({ gemini }: Pick<ResearchScene, "gemini">): string[] =>
  gemini.ledger.acceptedStarts().map(({ plan }) => (plan?.isApproved === false ? "plan" : "research"));

describe("a plan over MCP", () => {
  test("is read, changed and approved by any server, and each step is paid once (V2)", async (context) => {
    const scene = await openResearch(context);
    const first = await scene.server();
    const { structured } = await first.call("start_deep_research", { query: QUERY, plan: true });
    const task_id: string = structured["task_id"];
    expect(await untilStatus(first, task_id, "awaiting_approval")).toMatchObject({
      caution: expect.any(String),
      plan: expect.stringContaining("research plan"),
      estimated_cost: { likely_usd: expect.any(Number), max_usd: expect.any(Number) },
      next_step: expect.stringMatching(
        /approve true and plan_turn 1 starts the research if the user agrees \(about \$.*plan_edit/,
      ),
      progress: 0,
    });
    expect((await first.call("resume_research", { task_id, approve: true, plan_edit: EDIT })).structured).toMatchObject(
      {
        error: { code: "INVALID_INPUT" },
      },
    );
    await first.call("resume_research", { task_id, plan_edit: EDIT });
    await untilStatus(first, task_id, "awaiting_approval");
    process.kill(first.pid, "SIGKILL");
    const second = await scene.server({ era: "modern", env: { RESEARCH_SYNC_WINDOW_MS: "20000" } });
    const { structured: results, text } = await second.call("get_research_results", { task_id });
    expect(results).toMatchObject({ success: true, status: "awaiting_approval", plan: expect.stringContaining(EDIT) });
    expect(text).toContain(EDIT);
    const { structured: listed } = await second.call("list_research", { status: "awaiting_approval" });
    // The changed plan is a run in the place of the first, whose id stands for it.
    expect(listed["runs"]).toMatchObject([{ task_id: results["task_id"], status: "awaiting_approval" }]);
    expect(results["task_id"]).not.toBe(task_id);
    const approved = await second.call("resume_research", { task_id, approve: true });
    expect(approved.structured).toMatchObject({ success: true, message: expect.stringContaining("approved") });
    const again = await second.call("resume_research", { task_id, approve: true });
    expect(again.isError ? again.structured["error"].code : again.structured["message"]).toMatch(
      /nothing was sent|RESEARCH_ALREADY_COMPLETED|INVALID_INPUT/,
    );
    const { cost_so_far: cost } = await untilStatus(second, task_id, "completed");
    expect((await second.call("get_research_results", { task_id })).structured["report"]).toContain("heat pumps");
    expect(paid(scene)).toEqual(["plan", "plan", "research"]);
    const plans = scene.sql<{ micros: number }>("select micros from ledger where kind = 'plan' and state = 'settled'");
    expect(plans).toHaveLength(2);
    expect(cost * 1e6).toBeGreaterThan(plans.reduce((sum, { micros }) => sum + micros, 0));
  });

  test("ends the task of its start, is asked about at its price, and expires politely (V2, U1)", async (context) => {
    const scene = await openResearch(context);
    const server = await scene.server({
      era: "modern",
      env: { RESEARCH_SYNC_WINDOW_MS: "20000", RESEARCH_CONFIRM_ABOVE_USD: "1" },
    });
    const execution = await openTasks(server).session.callTool("start_deep_research", { query: QUERY, plan: true });
    const { structured } = await settled(execution);
    expect(structured).toMatchObject({ status: "awaiting_approval", plan: expect.any(String) });
    const { task_id } = structured;
    expect((await server.call("resume_research", { task_id, approve: true })).structured).toMatchObject({
      error: { code: "CONFIRMATION_NEEDED", message: expect.stringContaining("research will cost") },
    });
    expect(paid(scene)).toEqual(["plan"]);
    scene.sql("update research_tasks set deadline_at = 1 where task_id = ?", task_id);
    expect(await untilStatus(server, task_id, "failed")).toMatchObject({
      error: { code: "PLAN_EXPIRED" },
      plan: expect.any(String),
      next_step: expect.stringContaining("start_deep_research with the question and this plan"),
    });
    expect(paid(scene)).toEqual(["plan"]);
  });
});

/** Each point of the start protocol, in turn by a change and an approval; the one after which the id is known by both. */
const KILLS: { point: string; decision: { approve?: boolean; plan_edit?: string } }[] = [
  ...KILL_POINTS.start.map((point, index) => ({
    point,
    decision: index % 2 === 0 ? { approve: true } : { plan_edit: EDIT },
  })),
  { point: "after-id", decision: { plan_edit: EDIT } },
];

test("a kill during a plan, its change or its approval never pays twice and keeps the plan (V2, I8)", async () => {
  const here = await openKillWorld({ scenario: { name: "plans", interactions: { speed: 1_000, usage_after_ms: 0 } } });
  onTestFinished(here.close);
  const planner = here.begin();
  const kills = await Promise.all(
    KILLS.map(async ({ point, decision }, index) => {
      const answer = await planner.call("start_deep_research", { query: `${QUERY} ${index}`, plan: true });
      return { point, decision, task_id: answer?.task_id ?? "" };
    }),
  );
  const statusOfAll = () =>
    here.query<{ task_id: string; status: string; carries_on: string | null }>("select * from research_tasks");
  const untilNone = (...open: string[]) =>
    waitFor(() => expect(statusOfAll().filter(({ status }) => open.includes(status))).toEqual([]), {
      timeout: 60_000,
      interval: 50,
    });
  await untilNone("pending", "running_async");
  planner.closeStdin();
  await planner.ended;
  for (const { point, decision, task_id } of kills) {
    const life = here.begin({ failpoint: point });
    await life.call("resume_research", { task_id, ...decision });
    expect((await life.ended).killed).toBe(true);
  }
  const first = here.begin({ failpoint: "after-post" });
  await first.call("start_deep_research", { query: "What is lost?", plan: true });
  await first.ended;
  const survivor = here.begin();
  await survivor.call("list_research", {});
  await untilNone("pending", "running_async");
  const sentFor = (task_id: string) =>
    here.gemini.ledger.acceptedStarts().filter(({ labels }) => labels["run"] === task_id);
  for (const { point, decision, task_id } of kills) {
    const { task_id: decided = "", status } = statusOfAll().find((run) => run.carries_on === task_id) ?? {};
    // Either Google's answer was stored before the kill, or it is not known whether the request arrived.
    expect([point, status]).toEqual([point, point === "after-id" ? "completed" : "start_unknown"]);
    expect(await survivor.call("resume_research", { task_id, ...decision })).toMatchObject({
      success: point === "after-id" && decision.approve === undefined,
    });
    expect(here.query("select 1 from research_results where task_id = ?", task_id)).toHaveLength(1);
    // The paid request whose answer was lost is adopted by its id, free of charge.
    const lost = status === "start_unknown" ? sentFor(decided)[0]?.id : undefined;
    if (lost === undefined) continue;
    expect(await survivor.call("resume_research", { task_id, interaction_id: lost })).toMatchObject({ success: true });
  }
  const [lostPlan] = here.query<{ task_id: string; status: string }>(
    "select task_id, status from research_tasks where query = 'What is lost?'",
  );
  const { task_id = "", status } = lostPlan ?? {};
  const [sentPlan, ...more] = sentFor(task_id);
  expect([status, more]).toEqual(["start_unknown", []]);
  await survivor.call("resume_research", { task_id, interaction_id: sentPlan?.id });
  await untilNone("pending", "running_async");
  expect(statusOfAll()).toContainEqual(expect.objectContaining({ task_id, status: "completed" }));
  expect(statusOfAll().filter((run) => sentFor(run.task_id).length > 1)).toEqual([]);
});

const READY = (await terminals()) === "ready";

test.skipIf(!READY)(
  "a terminal shows the plan, changes it in an editor and starts the research (V2)",
  async (context) => {
    const scene = await openResearch(context);
    const editor = join(scene.configDir, "editor.sh");
    writeFileSync(editor, `#!/bin/sh\nprintf '\\n6. ${EDIT}\\n' >> "$1"\n`, { mode: 0o755 });
    const terminal = await openUserTerminal(context, { ...scene.env, EDITOR: editor }, { columns: 120, rows: 60 });
    await terminal.type(`gemini-search-mcp research --plan "${QUERY}"; echo "exit: $?"`);
    expect(await terminal.until(/\[approve \/ edit \/ later\]\s*$/)).toMatch(/research plan[^]*about \$\d/);
    await terminal.type("e");
    expect(await terminal.until(new RegExp(`${EDIT}[^]*\\[approve / edit / later\\]\\s*$`))).toContain(
      "Start this research",
    );
    await terminal.type("later");
    expect(await terminal.until(/^exit: 0$/m)).toMatch(/gemini-search-mcp approve [0-9a-f]{8}/);
    const [run] = scene.sql<{ task_id: string }>("select task_id from research_tasks");
    const id = run?.task_id.slice(0, 8) ?? "";
    const listed = await scene.command(["list"]);
    expect(listed.stdout).toContain("awaiting_approval");
    const printed = await scene.command(["plan", id]);
    expect(printed.stdout).toContain(EDIT);
    const approved = await scene.command(["approve", id, "--wait"]);
    expect([approved.code, approved.stdout]).toEqual([0, expect.stringContaining("heat pumps")]);
    expect(paid(scene)).toEqual(["plan", "plan", "research"]);
  },
);

const installed = await browserInstalled();

describe.skipIf(installed === "missing")("the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });
  afterAll(() => closePages(browser));

  test("shows the plan first, edits its steps with its cost, and starts the research (V2)", async (context) => {
    const interactions = { speed: 1_000, usage_after_ms: 0 };
    const scene = await openHttpScene(context, { name: "plans", interactions });
    const server = await scene.http({ env: { RESEARCH_POLL_INTERVAL_MS: "100", RESEARCH_MAX_RPS: "100" } });
    const { page, pageErrors } = await enterPage(browser, server);
    context.onTestFinished(() => page.context().close());
    await page.goto("/");
    await draftResearch(page, QUERY);
    await page.getByRole("checkbox", { name: "Show me the plan first", exact: false }).check();
    await page.locator(`${SUBMIT}:enabled`, { hasText: "Show the plan" }).click();
    await page.waitForURL("**/runs/*");
    const steps = page.locator(".plan-steps textarea");
    await steps.first().waitFor();
    await page.locator(".badge", { hasText: "Waiting for approval" }).first().waitFor();
    expect(await page.locator(".plan").innerText()).toMatch(/about \$\d/);
    expect(await page.locator(".plan .plan-text").allInnerTexts()).toEqual([
      expect.stringMatching(/^Here is a research plan for [^*]+:$/),
      expect.stringMatching(/^Tell me what to change/),
    ]);
    await page.getByRole("button", { name: "Remove step 1" }).click();
    await page.getByRole("button", { name: "Add a step" }).click();
    await steps.last().fill(EDIT);
    expect(await page.getByRole("button", { name: "Start research" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Change the plan" }).click();
    await page.getByText("1 change so far").waitFor();
    await page.getByRole("button", { name: "Edit as text" }).click();
    expect(await page.locator(".plan textarea").inputValue()).toContain(EDIT);
    await page.getByRole("button", { name: /^Start research · about \$\d/ }).click();
    await page.locator(".report-text").waitFor();
    expect(paid(scene)).toEqual(["plan", "plan", "research"]);
    expect(pageErrors).toEqual([]);
  });
});
