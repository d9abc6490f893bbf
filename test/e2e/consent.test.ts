/** A yes is a yes to something: to one plan, one attempt, one input and one price, in both protocol eras. */

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ElicitResult } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { askingClient } from "../kit/server/asking-client.ts";
import { openHttpScene } from "../kit/server/http-server.ts";
import { openResearch, QUERY, type ResearchScene, SLOW, statusOf, untilStatus } from "../kit/server/research.ts";
import { type Era, ROOT, type RunningServer, temporaryDirectory } from "../kit/server/server.ts";
import { envelope, openTasks } from "../kit/server/tasks.ts";

const YES: ElicitResult = { action: "accept", content: {} };
const ERAS: Era[] = ["legacy", "modern"];
const ALWAYS = { RESEARCH_CONFIRM_ABOVE_USD: "0" };
const LOST = { fault: "accept-then-reset" as const };
const SHIFTED_CLOCK = join(ROOT, "test/kit/clock/shifted-clock.ts");
const RESTART = { accept_possible_double_charge: true };
const RESUME = { tool: "resume_research" };
const JOINED =
  "Nothing was sent and nothing is charged for this call: another call has sent this start again, or resolved it.";

/** A run whose first plan waits for approval. */
async function plannedRun(server: RunningServer): Promise<string> {
  const { structured } = await server.call("start_deep_research", { query: QUERY, plan: true });
  await untilStatus(server, structured["task_id"], "awaiting_approval");
  return structured["task_id"];
}

const researches = ({ gemini }: ResearchScene): number =>
  gemini.ledger.acceptedStarts().filter(({ plan }) => plan?.isApproved !== false).length;

describe.each(ERAS)("a yes in a dialog of a %s client", (era) => {
  test("to a plan does not start another plan that was written while the dialog was open (V2, T28)", async (context) => {
    const scene = await openResearch(context);
    const window = await scene.server();
    const task_id = await plannedRun(window);
    const answer = async (): Promise<ElicitResult> => {
      await window.call("resume_research", { task_id, plan_edit: "Compare all countries of Europe" });
      await untilStatus(window, task_id, "awaiting_approval");
      return YES;
    };
    const asked = await askingClient(context, scene, { era, env: ALWAYS, answer });
    const { structured } = await asked.call({ task_id, approve: true }, RESUME);
    expect(structured).toMatchObject({
      success: false,
      error: {
        code: "CONFIRMATION_NEEDED",
        message: "The plan was changed meanwhile. Nothing was sent and nothing was charged.",
      },
      status: "awaiting_approval",
    });
    expect(asked.dialogs).toHaveLength(1);
    expect(researches(scene)).toBe(0);
    const sure = await askingClient(context, scene, { era, env: ALWAYS, answer: YES });
    expect((await sure.call({ task_id, approve: true }, RESUME)).isError).toBe(false);
    expect(researches(scene)).toBe(1);
  });

  test("to a restart that another window has made meanwhile sends nothing and says so (Q1, I8)", async (context) => {
    const scene = await openResearch(context, { ...SLOW, create: [LOST, {}] });
    const window = await scene.server({ agrees: true });
    const { task_id } = (await window.call("start_deep_research", { query: QUERY })).structured;
    const answer = async (): Promise<ElicitResult> => {
      await window.call("resume_research", { task_id, ...RESTART });
      return YES;
    };
    const asked = await askingClient(context, scene, { era, env: ALWAYS, answer });
    const { structured } = await asked.call({ task_id, ...RESTART }, RESUME);
    expect(structured).toMatchObject({ success: true, status: "running_async", message: JOINED });
    expect([asked.dialogs.length, scene.posts()]).toEqual([1, 2]);
  });

  test("to a restart does not repeat the next start, which is unknown, too (Q1, I8)", async (context) => {
    const scene = await openResearch(context, { ...SLOW, create: [LOST, LOST, {}] });
    const window = await scene.server({ agrees: true });
    const { task_id } = (await window.call("start_deep_research", { query: QUERY })).structured;
    const answer = async (): Promise<ElicitResult> => {
      await window.call("resume_research", { task_id, ...RESTART });
      return YES;
    };
    const asked = await askingClient(context, scene, { era, env: ALWAYS, answer });
    const { structured } = await asked.call({ task_id, ...RESTART }, RESUME);
    expect(structured).toMatchObject({ status: "start_unknown", message: JOINED });
    expect(scene.posts()).toBe(2);
  });
});

test("a decision on a plan can name the plan that was seen; any other is refused (V2)", async (context) => {
  const scene = await openResearch(context);
  const server = await scene.server();
  const task_id = await plannedRun(server);
  await server.call("resume_research", { task_id, plan_edit: "Compare Norway and Japan", plan_turn: 1 });
  const { plan_turn, next_step } = await untilStatus(server, task_id, "awaiting_approval");
  expect([plan_turn, next_step]).toEqual([2, expect.stringContaining("approve true and plan_turn 2 starts")]);
  for (const decision of [{ approve: true }, { plan_edit: "Only Norway" }]) {
    const { structured } = await server.call("resume_research", { task_id, ...decision, plan_turn: 1 });
    expect(structured["error"]).toMatchObject({ code: "CONFIRMATION_NEEDED" });
  }
  expect(scene.accepted()).toBe(2);
  const { structured } = await server.call("resume_research", { task_id, approve: true, plan_turn });
  expect(structured).toMatchObject({ success: true, message: expect.stringContaining("approved") });
  expect(researches(scene)).toBe(1);
});

test("twelve knowing restarts at once send one request, although that is lost, too (Q1, I8)", async (context) => {
  const scene = await openResearch(context, { ...SLOW, create: [LOST, LOST, LOST, {}] });
  const server = await scene.server({ agrees: true });
  const { task_id } = (await server.call("start_deep_research", { query: QUERY })).structured;
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => server.call("resume_research", { task_id, ...RESTART })),
  );
  expect(scene.posts()).toBe(2);
  const messages = answers.map(({ structured }) => structured["message"] ?? structured["error"].message);
  expect(messages.filter((message) => message !== JOINED)).toEqual([expect.stringContaining("not known")]);
  expect(await statusOf(server, task_id)).toMatchObject({ status: "start_unknown" });
});

describe("a yes over the 2026 protocol", () => {
  const _meta = envelope({ elicitation: { form: {} } });
  const call = (more: object = {}, input: object = { query: QUERY }) => ({
    name: "start_deep_research",
    arguments: input,
    _meta,
    ...more,
  });
  const accepted = { inputResponses: { confirm: YES } };
  const ASKED = {
    resultType: "input_required",
    inputRequests: { confirm: { params: { message: expect.stringContaining("Start this research for about $1.10") } } },
    requestState: expect.any(String),
  };

  test("that nobody was asked for, or whose state is not ours, asks the user (T28)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const { raw } = openTasks(await scene.server({ era: "modern", env: ALWAYS }));
    const first = await raw("tools/call", call());
    expect(first.result).toMatchObject(ASKED);
    const state: string = first.result?.["requestState"];
    const forged = `${state.slice(0, -4)}AAAA`;
    for (const more of [{}, { requestState: "" }, { requestState: "jobs" }, { requestState: forged }]) {
      expect((await raw("tools/call", call({ ...accepted, ...more }))).result).toMatchObject(ASKED);
    }
    expect(scene.posts()).toBe(0);
    // Another process of the same server, as behind a load balancer.
    const other = openTasks(await scene.server({ era: "modern", env: ALWAYS }));
    const started = await other.raw("tools/call", call({ ...accepted, requestState: state }));
    expect(started.result).toMatchObject({ structuredContent: { status: "running_async" } });
    expect(scene.posts()).toBe(1);
  });

  test("that comes after ten minutes asks the user again (T28)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const directory = temporaryDirectory();
    context.onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const shift = join(directory, "shift");
    const clock = { TEST_CLOCK_SHIFT_FILE: shift, NODE_OPTIONS: `--import=${SHIFTED_CLOCK}` };
    const { raw } = openTasks(await scene.server({ era: "modern", env: { ...ALWAYS, ...clock } }));
    const late: unknown = (await raw("tools/call", call())).result?.["requestState"];
    writeFileSync(shift, "601000");
    const again = await raw("tools/call", call({ ...accepted, requestState: late }));
    expect(again.result).toMatchObject(ASKED);
    expect(scene.posts()).toBe(0);
    const requestState: unknown = again.result?.["requestState"];
    const started = await raw("tools/call", call({ ...accepted, requestState }));
    expect(started.result).toMatchObject({ structuredContent: { status: "running_async" } });
  });

  test("for another input or a lower price starts nothing (T28)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const { raw } = openTasks(await scene.server({ era: "modern", env: ALWAYS }));
    const { result } = await raw("tools/call", call());
    const requestState: unknown = result?.["requestState"];
    const dearer = { query: QUERY, model: "deep-research-max-preview-04-2026" };
    const expectRefusals = async (): Promise<void> => {
      for (const input of [dearer, { query: "Who builds heat pumps in Norway?" }, { query: QUERY, force_new: true }]) {
        const refused = await raw("tools/call", call({ ...accepted, requestState }, input));
        expect(refused.result).toMatchObject({
          isError: true,
          structuredContent: {
            error: {
              code: "CONFIRMATION_NEEDED",
              message: expect.stringMatching(/^This is not what the user agreed to\./),
            },
          },
        });
      }
    };
    await expectRefusals();
    expect(scene.posts()).toBe(0);
    const started = await raw("tools/call", call({ ...accepted, requestState }));
    expect(started.result).toMatchObject({ structuredContent: { status: "running_async" } });
    // Nor do they get the run that the yes has started.
    await expectRefusals();
    expect(scene.posts()).toBe(1);
  });

  test("pays once, however often it arrives, even for a start that must not join (T28)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const { raw } = openTasks(await scene.server({ era: "modern", env: ALWAYS }));
    const input = { query: QUERY, force_new: true };
    const requestState: unknown = (await raw("tools/call", call({}, input))).result?.["requestState"];
    const legs = [1, 2, 3].map(() => raw("tools/call", call({ ...accepted, requestState }, input)));
    const ids = (await Promise.all(legs)).map(({ result }) => result?.["structuredContent"]?.["task_id"]);
    expect([new Set(ids).size, typeof ids[0]]).toEqual([1, "string"]);
    expect(scene.posts()).toBe(1);
  });

  test("of another user asks this one (T28)", async (context) => {
    const scene = await openHttpScene(context, { name: "slow", interactions: SLOW });
    const ann = (await scene.command(["token", "add", "ann"])).stdout.trim();
    const server = await scene.http({ env: { ...ALWAYS, RESEARCH_SYNC_WINDOW_MS: "0" } });
    const { raw } = openTasks(await server.connect("modern"));
    const requestState: unknown = (await raw("tools/call", call())).result?.["requestState"];
    const hers = openTasks(await server.connect("modern", ann));
    expect((await hers.raw("tools/call", call({ ...accepted, requestState }))).result).toMatchObject(ASKED);
    expect(scene.gemini.ledger.acceptedStarts()).toEqual([]);
    expect((await raw("tools/call", call({ ...accepted, requestState }))).result).toMatchObject({
      structuredContent: { status: "running_async" },
    });
  });
});
