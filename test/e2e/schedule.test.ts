/** Schedules on every surface: made, started by a worker, announced, bounded by their budget, changed and ended. */

import type { ElicitResult } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { browserInstalled, enterPage, openBrowser } from "../kit/browser/browser.ts";
import { openPageServer } from "../kit/browser/page-api.ts";
import { askingClient } from "../kit/server/asking-client.ts";
import { openHttpScene } from "../kit/server/http-server.ts";
import { openResearch, type ResearchScene } from "../kit/server/research.ts";
import type { Era } from "../kit/server/server.ts";
import { openReceiver } from "../kit/services/webhook-receiver.ts";
import { onPostgres } from "../kit/store/databases.ts";
import { waitFor } from "../kit/wait-for.ts";

const QUERY = "What is new about heat pumps?";
const WEEKLY = { query: QUERY, every: "week", on: "friday", at: "7:05", time_zone: "Europe/Berlin", budget_usd: 20 };
const YES: ElicitResult = { action: "accept", content: {} };
const ALL = { GEMINI_SEARCH_TOOLS: "all" };
const ERAS: Era[] = ["legacy", "modern"];

const answerSchema = z.object({
  schedules: z.array(z.looseObject({ schedule_id: z.string(), state: z.string(), problem: z.string().optional() })),
});

const schedulesIn = (json: unknown) => answerSchema.parse(json).schedules;

/** Three occurrences were missed: the machine was asleep. */
const sleepThrough = (scene: Pick<ResearchScene, "sql">): unknown =>
  scene.sql("update schedules set next_at = ?", Date.now() - 3 * 86_400_000);

describe.each(ERAS)("a %s client", (era) => {
  const tool = "schedule_research";

  test("schedules a research once the user has agreed to its price and budget (I15)", async (context) => {
    const scene = await openResearch(context);
    const client = await askingClient(context, scene, { era, answer: YES, env: ALL });
    const created = await client.call({ action: "create", ...WEEKLY, until: "2099-12-31" }, { tool });
    expect(client.dialogs.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^Repeat this research every Friday at 07:05 \(Europe\/Berlin\) until 2099-12-31\? About \$\d\.\d+ each \(up to \$\d\.?\d*\), about \$\d,\d+ for 1000 runs\. No run starts unless its usual upper price is left of \$20; one run in ten costs more than that\.$/,
      ),
    ]);
    const [made] = schedulesIn(created.structured);
    expect(made).toMatchObject({ query: QUERY, depth: "research", state: "active", used_usd: 0, on: "friday" });
    const schedule_id = made?.schedule_id ?? "";
    const act = async (action: string, more = {}) => {
      const { structured } = await client.call({ action, schedule_id, ...more }, { tool });
      return schedulesIn(structured)[0];
    };
    expect(await act("pause")).toMatchObject({ state: "paused" });
    // A pause is the user's.
    expect(await act("resume")).toMatchObject({ state: "active" });
    expect(client.dialogs).toHaveLength(2);
    // Not dearer: not asked about.
    expect(await act("change", { budget_usd: 15, until: "2099-12-30" })).toMatchObject({ budget_usd: 15 });
    expect(client.dialogs).toHaveLength(2);
    expect(await act("change", { budget_usd: 16 })).toMatchObject({ budget_usd: 16 });
    expect(await act("change", { until: "2099-12-31" })).toMatchObject({ until: "2099-12-31" });
    expect(await act("change", { every: "day" })).toMatchObject({ every: "day" });
    expect(client.dialogs).toHaveLength(5);
    expect((await client.call({ action: "list" }, { tool })).text).toContain(`${schedule_id}: research every day`);
    expect(await act("end")).toBeUndefined();
    expect(schedulesIn((await client.call({ action: "list" }, { tool })).structured)).toEqual([]);
    expect(scene.posts()).toBe(0);
  });

  test("schedules nothing without a yes, and no parameter is one (I15, I13)", async (context) => {
    const scene = await openResearch(context);
    const client = await askingClient(context, scene, { era, answer: { action: "decline" }, env: ALL });
    expect((await client.call({ action: "create", ...WEEKLY }, { tool })).structured).toMatchObject({
      error: { code: "DECLINED" },
    });
    const server = await scene.server({ era, env: ALL });
    expect((await server.call(tool, { action: "create", ...WEEKLY })).structured).toMatchObject({
      error: { code: "CONFIRMATION_NEEDED", suggestion: expect.stringContaining('gemini-search-mcp schedule "…"') },
    });
    expect((await server.call(tool, { action: "create", ...WEEKLY, confirmed: true })).structured).toMatchObject({
      error: { code: "INVALID_INPUT" },
    });
    expect((await server.call(tool, { action: "list" })).structured).toMatchObject({ schedules: [] });
  });
});

test("a yes on the page counts only with the amount that it agrees to (I15)", async (context) => {
  const server = await (await openPageServer(context)).serve();
  const create = { action: "create", ...WEEKLY };
  const refused = await server.post("/api/schedules", create);
  const { max_usd: agreedTo, ...unlimited } = refused.body.error.details.question.subject;
  expect(agreedTo).toBe(WEEKLY.budget_usd);
  const answer = await server.post("/api/schedules", { ...create, agreed: unlimited });
  expect(answer.body).toMatchObject({ error: { code: "CONFIRMATION_NEEDED" } });
  const made = await server.post("/api/schedules", { ...create, agreed: { ...unlimited, max_usd: agreedTo } });
  expect(made).toMatchObject({ status: 200, body: { schedules: [{ budget_usd: WEEKLY.budget_usd }] } });
});

test("another time is asked about if a run would be earlier, and resuming is asked about (I15)", async (context) => {
  const scene = await openResearch(context);
  const made = await scene.command(["schedule", QUERY, "--every", "day", "--budget", "20", "--yes", "--json"]);
  const [{ schedule_id: id } = { schedule_id: "" }] = schedulesIn(JSON.parse(made.stdout));
  const asked = "CONFIRMATION_NEEDED";
  // The run of today has started: the next one is in two days.
  const inTwoDays = Date.now() + 2 * 86_400_000;
  scene.sql("update schedules set next_at = ?", inTwoDays);
  for (const [flag, value] of [
    ["--at", "08:05"],
    ["--time-zone", "Pacific/Auckland"],
  ] as const)
    expect((await scene.command(["schedule", "change", id, flag, value])).stderr).toContain(asked);
  expect(scene.sql("select next_at from schedules")).toEqual([{ next_at: inTwoDays }]);
  await scene.command(["schedule", "pause", id]);
  expect((await scene.command(["schedule", "resume", id])).stderr).toContain(asked);
  expect(scene.sql("select paused from schedules")).toEqual([{ paused: 1 }]);
  expect((await scene.command(["schedule", "resume", id, "--yes"])).code).toBe(0);
  expect(scene.sql("select paused from schedules")).toEqual([{ paused: 0 }]);
});

test("what was missed is one run, late; a worker starts it, and the second one is announced by what changed (I17, O4)", async (context) => {
  const scene = await openResearch(context);
  const made = await scene.command(["schedule", QUERY, "--every", "day", "--budget", "6.5", "--yes", "--json"]);
  const [{ schedule_id: id } = { schedule_id: "" }] = schedulesIn(JSON.parse(made.stdout));
  const work = async (): Promise<void> => {
    sleepThrough(scene);
    expect((await scene.command(["worker", "--until-idle"])).code).toBe(0);
  };
  await work();
  expect(scene.sql("select kind, status, client, parent_task_id, schedule_id from research_tasks")).toEqual([
    { kind: "agent", status: "completed", client: "schedule", parent_task_id: null, schedule_id: id },
  ]);
  expect(scene.accepted()).toBe(1);
  await work();
  expect(scene.accepted()).toBe(2);
  expect(scene.sql("select kind, payload_json from notification_outbox order by outbox_id")).toMatchObject([
    { kind: "completed" },
    { kind: "changed", payload_json: expect.stringMatching(/^\{"title":"What Changed","body":"[0-9a-f]{8}: /) },
  ]);
  // A run is not a follow-up on the one before it, and is listed like any other.
  const listed = await scene.command(["list"]);
  expect(listed.stdout.trim().split("\n")).toHaveLength(2);
  // One that ran before the clock was set back does not come again.
  const [{ next_at: next } = { next_at: 0 }] = scene.sql<{ next_at: number }>("select next_at from schedules");
  expect(next).toBeGreaterThan(Date.now());
});

test("a run for which the budget has no room is not sent, the schedule says why, and its webhooks do once (I18, I19)", async (context) => {
  const scene = await openResearch(context);
  const receiver = await openReceiver();
  await scene.command(["webhook", "add", receiver.url, "--events", "budget.threshold", "--private"]);
  await scene.command(["schedule", QUERY, "--every", "day", "--budget", "3", "--yes"]);
  for (let round = 0; round < 4; round += 1) {
    sleepThrough(scene);
    await scene.command(["worker", "--until-idle"]);
  }
  const spent = scene.accepted();
  expect(spent).toBeGreaterThan(0);
  expect(spent).toBeLessThan(4);
  const { stdout } = await scene.command(["schedule", "list", "--json"]);
  const [schedule] = schedulesIn(JSON.parse(stdout));
  expect(schedule).toMatchObject({
    state: "active",
    problem: "The last run was not started: the budget of the schedule has no room for it.",
  });
  expect(receiver.received.map(({ text }) => JSON.parse(text))).toMatchObject([
    {
      type: "budget.threshold",
      data: { schedule_id: schedule?.schedule_id, title: QUERY, message: schedule?.problem },
    },
  ]);
  // A higher budget is another question.
  const id = schedule?.schedule_id ?? "";
  const refused = await scene.command(["schedule", "change", id, "--budget", "30"]);
  expect(refused.stderr).toContain("CONFIRMATION_NEEDED");
  await scene.command(["schedule", "change", id, "--budget", "30", "--yes"]);
  sleepThrough(scene);
  await scene.command(["worker", "--until-idle"]);
  expect(scene.accepted()).toBe(spent + 1);
});

// With a file that cannot be written, which PostgreSQL does not have.
test.for(onPostgres ? [] : ["the file"])(
  "nothing is scheduled where it would be lost, or for a model without a price (I15, I18, I19)",
  async (_, context) => {
    const scene = await openResearch(context);
    const args = ["schedule", QUERY, "--every", "day", "--depth", "search", "--budget", "3", "--yes"];
    const lost = await scene.command(args, { env: { DEEP_RESEARCH_DB: "/dev/null/research.db" } });
    expect(lost.code).toBe(1);
    expect(lost.stderr).toContain("SQLITE_ERROR: Schedules are stored in the database, which cannot be written.");
    const unpriced = await scene.command(args, { env: { GEMINI_MODEL: "gemini-2.5-unpriced" } });
    expect(unpriced.stderr).toContain("No price is known for the model");
    expect(scene.sql("select schedule_id from schedules")).toEqual([]);
  },
);

test("without a key an occurrence waits, and starts late when a process has one (I19)", async (context) => {
  const scene = await openResearch(context);
  await scene.command(["schedule", QUERY, "--every", "day", "--depth", "search", "--budget", "3", "--yes"]);
  sleepThrough(scene);
  const keyless = scene.startCommand(["worker"], { env: { GEMINI_API_KEY: "" } });
  await waitFor(() => expect(scene.sql("select problem from schedules")).toEqual([{ problem: "unavailable" }]));
  keyless.child.kill("SIGKILL");
  await keyless.ended;
  expect(scene.sql("select task_id from research_tasks")).toEqual([]);
  expect((await scene.command(["worker", "--until-idle"])).code).toBe(0);
  expect(scene.sql("select kind, status from research_tasks")).toEqual([{ kind: "search", status: "completed" }]);
  expect(scene.sql("select problem from schedules")).toEqual([{ problem: null }]);
});

test("a deep search is repeated, too, and its end is announced once it has one (I15, O10)", async (context) => {
  const scene = await openResearch(context);
  const args = ["schedule", QUERY, "--every", "day", "--depth", "deep_search", "--budget", "3", "--yes"];
  expect((await scene.command(args)).code).toBe(0);
  sleepThrough(scene);
  expect((await scene.command(["worker", "--until-idle"])).code).toBe(0);
  const [run, ...others] = scene.sql<{ task_id: string }>(
    "select task_id, kind, status, client from research_tasks where schedule_id is not null",
  );
  expect([run, others]).toMatchObject([{ kind: "deep_search", status: "completed", client: "schedule" }, []]);
  expect(scene.sql("select task_id, kind from notification_outbox")).toEqual([
    { task_id: run?.task_id, kind: "completed" },
  ]);
  const { stdout } = await scene.command(["schedule", "list", "--json"]);
  expect(schedulesIn(JSON.parse(stdout))).toMatchObject([
    { last: { status: "completed" }, used_usd: expect.any(Number) },
  ]);
});

test("a stdio server starts what is due of its own user, and leaves the schedules of others alone (I19)", async (context) => {
  const scene = await openResearch(context);
  const args = (query: string) => ["schedule", query, "--every", "day", "--depth", "search", "--budget", "3", "--yes"];
  for (const query of ["Whose is this?", QUERY]) expect((await scene.command(args(query))).code).toBe(0);
  scene.sql("update schedules set owner = 'token:anna' where input_json like '%Whose%'");
  sleepThrough(scene);
  // The other one has been due for longer.
  scene.sql("update schedules set next_at = 1 where owner <> 'local'");
  await scene.server();
  const runs = (): unknown[] => scene.sql("select owner, query, status from research_tasks");
  await waitFor(() => expect(runs()).toEqual([{ owner: "local", query: QUERY, status: "completed" }]), {
    timeout: 20_000,
    interval: 100,
  });
  const [other] = scene.sql<{ next_at: number }>("select next_at from schedules where owner <> 'local'");
  expect(other?.next_at).toBe(1);
  // A worker serves all users.
  expect((await scene.command(["worker", "--until-idle"])).code).toBe(0);
  expect(scene.sql("select status from research_tasks where owner <> 'local'")).toEqual([{ status: "completed" }]);
});

test("a worker that leaves when it is idle does not wait for schedules, and status says that none runs (I19, P7)", async (context) => {
  const scene = await openResearch(context);
  await scene.command(["schedule", QUERY, "--every", "day", "--budget", "3", "--yes"]);
  expect((await scene.command(["worker", "--until-idle"])).code).toBe(0);
  const status = await scene.command(["status"]);
  expect(status.code).toBe(1);
  expect(status.stdout).toContain(
    "1 schedule is active, but no worker is running. Keep one running: gemini-search-mcp worker",
  );
});

test.skipIf((await browserInstalled()) === "missing")(
  "a report is repeated from its menu, after a question, and the schedule is paused, changed and ended on the page (I15)",
  async (context) => {
    const browser = await openBrowser(context);
    if (browser === undefined) return;
    const scene = await openHttpScene(context);
    const { stdout } = await scene.command(["search", QUERY, "--json"]);
    const taskId = z.object({ metadata: z.object({ task_id: z.string() }) }).parse(JSON.parse(stdout)).metadata.task_id;
    const { page, pageErrors } = await enterPage(browser, await scene.http());
    await page.goto(`/runs/${taskId}`);
    await page.getByText("More", { exact: true }).click();
    await page.getByRole("link", { name: "Repeat…" }).click();
    await page.getByLabel("Every").selectOption("month");
    await page.getByLabel("On", { exact: true }).selectOption("last");
    await page.getByLabel("Budget").fill("5");
    await page.getByRole("button", { name: "Repeat…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("This search would be repeated every month on its last day at 07:00").waitFor();
    await dialog.getByText("No run starts unless its usual upper price is left of $5.").waitFor();
    await dialog.getByRole("button", { name: "I agree" }).click();
    const entry = page.getByRole("article", { name: QUERY });
    await entry.getByText("every month on its last day").waitFor();
    await entry.getByRole("button", { name: "Pause" }).click();
    await entry.getByText("paused").waitFor();
    await entry.getByRole("button", { name: "Resume…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "I agree" }).click();
    await entry.getByText(/next /).waitFor();
    await entry.getByRole("button", { name: "Change…" }).click();
    await entry.getByLabel("Budget").fill("4");
    // Not dearer.
    await entry.getByRole("button", { name: "Change…" }).click();
    await entry.getByText("of $4").waitFor();
    await entry.getByRole("button", { name: "End…" }).click();
    await page.getByRole("button", { name: "End it" }).click();
    await page.getByText("Nothing is repeated.").waitFor();
    await page.goto("/");
    await page.getByRole("link", { name: "Schedules" }).click();
    await page.getByRole("heading", { name: "Schedules" }).waitFor();
    expect(pageErrors).toEqual([]);
  },
);
