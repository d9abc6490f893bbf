/**
 * How a research can end or be delayed: Google's status, expiry, another key, a lost network, limits, and our own
 * deadline.
 */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSimulator } from "../../simulator/server.ts";
import {
  type Interactions,
  openResearch,
  QUERY,
  type ResearchScene,
  SLOW,
  startRun,
  statusOf,
  untilStatus,
} from "../kit/server/research.ts";
import { ROOT, type RunningServer, temporaryDirectory } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

const RESULTS = "get_research_results";
const WHY_PARTIAL = (message: string): string =>
  `The run failed before its report was complete (RESEARCH_FAILED): ${message}`;

/** For what a running process does only after pauses. */
const SHORT_PAUSES = { NODE_OPTIONS: `--import=${join(ROOT, "test/kit/clock/short-pauses.ts")}` };

/** The next poll is due in a minute: after a 404, and again when one was in flight that ends with a 404. */
const pollAgain = (scene: ResearchScene): unknown =>
  scene.sql("update research_tasks set next_poll_at = 0 where status = 'running_async'");

describe("an end at Google", () => {
  const endings: (() => Promise<void> | void)[] = [];
  let scene: ResearchScene;
  let server: RunningServer;
  beforeAll(async () => {
    scene = await openResearch({ onTestFinished: (end: () => Promise<void> | void) => void endings.unshift(end) });
    server = await scene.server();
  });
  afterAll(async () => {
    for (const end of endings) await end();
  });

  test.for<[string, string, boolean, Interactions]>([
    ["failed", "The research failed at Google.", false, {}],
    ["failed", "The research failed at Google.", true, { text: "half" }],
    ["incomplete", "The research ended before it was complete.", true, {}],
    ["incomplete", "The research ended before it was complete.", false, { steps: "none" }],
    ["incomplete", "The research ended before it was complete.", false, { steps: "thought", text: "none" }],
    ["budget_exceeded", "The research used up its budget at Google before it was complete.", true, {}],
    ["requires_action", "The research stopped because it needs an action that is not possible here.", false, {}],
    [
      "completed",
      "Google reported the research as completed but sent no report. What it sent is kept in the database.",
      false,
      { text: "none" },
    ],
  ])("with status `%s` is a failed run: %s (text: %s) (K2, P1)", async ([status, message, hasText, more]) => {
    scene.play({ duration_ms: 0, status, ...more });
    const task_id = await startRun(server, `${QUERY} ${JSON.stringify([status, hasText, more])}`);
    const ended = await untilStatus(server, task_id, "failed");
    expect(ended).toMatchObject({ error: { code: "RESEARCH_FAILED", message } });
    expect(ended["progress"]).toBeLessThan(100);
    const { isError, structured, text } = await server.call(RESULTS, { task_id });
    expect(isError).toBe(!hasText);
    expect(String(structured["report"] ?? "").length > 500).toBe(hasText);
    expect(text.includes(WHY_PARTIAL(message))).toBe(hasText);
    expect(structured).toMatchObject(
      hasText
        ? { success: true, partial: true, status: "failed", note: WHY_PARTIAL(message) }
        : {
            error: { code: "RESEARCH_FAILED", message: `This run failed before producing any text. ${message}` },
            task_id,
            status: "failed",
          },
    );
    const [kept] = scene.sql<{ raw: Uint8Array | null }>("select raw from research_results where task_id = ?", task_id);
    expect(kept?.raw?.length).toBeGreaterThan(50);
  });

  test.for<[string, string, Interactions]>([
    ["failed", "failed", {}],
    ["failed", "failed", { report: "# Less" }],
    ["incomplete", "failed", { text: "none" }],
    ["completed", "failed", { text: "none" }],
    ["cancelled", "cancelled", {}],
  ])(
    "with status `%s`, a %s run, and less text (%j) than a poll has shown keeps that text (S1)",
    async ([status, ended, more]) => {
      const draft = `# Lakes\n\n${"The lake of Kestria is 214 metres deep. ".repeat(30)}`;
      scene.play({ ...SLOW, status, draft, ...more });
      const task_id = await startRun(server, `${QUERY} ${JSON.stringify([status, more])}`);
      await waitFor(() =>
        expect(scene.sql("select 1 from research_results where task_id = ?", task_id)).toHaveLength(1),
      );
      scene.gemini.skip(8 * 60_000);
      await untilStatus(server, task_id, ended);
      const { structured } = await server.call(RESULTS, { task_id, section: "all" });
      expect(structured).toMatchObject({ partial: true, status: ended });
      expect(String(structured["report"]).trim()).toBe(draft.trim());
    },
  );

  test("by a cancel is a cancelled run; an unknown status is no end (P1)", async () => {
    scene.play({
      duration_ms: 0,
      create: [{ life: { status: "cancelled" } }, { life: { status: "hibernating" } }],
    });
    const cancelled = await startRun(server, "First question");
    const sleeping = await startRun(server, "Second question");
    await untilStatus(server, cancelled, "cancelled");
    const second = scene.gemini.ledger.acceptedStarts().at(-1);
    await waitFor(() => expect(scene.gemini.ledger.trafficOf(second?.id ?? "").polls.length).toBeGreaterThan(3));
    expect(await statusOf(server, sleeping)).toMatchObject({ status: "running_async" });
    const { structured } = await server.call(RESULTS, { task_id: sleeping });
    expect(structured).toMatchObject({
      error: { code: "RESEARCH_NOT_COMPLETED", message: "This run is still in progress." },
      status: "running_async",
      progress: expect.any(Number),
    });
  });
});

describe.concurrent("a polled run", () => {
  test("that Google does not find is polled on, and gets its report when it is found (P3)", async (context) => {
    const scene = await openResearch(context, { get: [{ fault: "http-404" }] });
    const server = await scene.server({ env: SHORT_PAUSES });
    const task_id = await startRun(server);
    await waitFor(() => expect(scene.gemini.ledger.interactionRequests()["get http-404"]).toBeGreaterThan(1));
    await waitFor(async () =>
      expect(await statusOf(server, task_id)).toMatchObject({
        status: "running_async",
        current_action: "Google does not find this research at the moment; trying again",
      }),
    );
    scene.play({ duration_ms: 0 });
    await waitFor(async () => {
      pollAgain(scene);
      expect(await statusOf(server, task_id)).toMatchObject({ status: "completed" });
    });
  });

  test("that Google does not find after a day fails as expired, in this wording (P3)", async (context) => {
    const scene = await openResearch(context, { ...SLOW, expires_after_ms: 50 });
    const server = await scene.server({ env: SHORT_PAUSES });
    const task_id = await startRun(server);
    await waitFor(() => expect(scene.gemini.ledger.interactionRequests()["get missing"]).toBeGreaterThan(1));
    expect(await statusOf(server, task_id)).toMatchObject({ status: "running_async" });
    scene.sql("update research_attempts set sent_at = sent_at - 86400000.0, created_at = created_at - 86400000.0");
    await waitFor(async () => {
      pollAgain(scene);
      expect(await statusOf(server, task_id)).toMatchObject({ status: "failed" });
    });
    const { error } = await statusOf(server, task_id);
    expect(error).toEqual({
      code: "RESEARCH_FAILED",
      message: "Research session expired on Gemini servers. Task was interrupted and cannot be recovered.",
    });
    const resumed = await server.call("resume_research", { task_id });
    expect(resumed.structured).toMatchObject({ success: true, status: "failed" });
  });

  test.for([403, 404] as const)(
    "polled with another key (%i) waits, names the key it needs, and continues with it (P3)",
    async (foreign_key, context) => {
      const scene = await openResearch(context, { ...SLOW, foreign_key });
      const first = await scene.server();
      const task_id = await startRun(first);
      await first.close();
      for (const GEMINI_API_KEY of ["another-key-0001", ""]) {
        scene.sql("update research_tasks set next_poll_at = 0, obstacle = null");
        const second = await scene.server({ env: { GEMINI_API_KEY } });
        await second.call("resume_research", { task_id });
        await waitFor(
          async () =>
            expect(await statusOf(second, task_id)).toMatchObject({
              status: "running_async",
              current_action: expect.stringMatching(
                /^Waiting: it was started with another API key \(its SHA-256 begins with [0-9a-f]{8}\); set GEMINI_API_KEY/,
              ),
            }),
          { timeout: 60_000 },
        );
        await second.close();
      }
      scene.gemini.skip(8 * 60_000);
      scene.sql("update research_tasks set next_poll_at = 0");
      const third = await scene.server();
      await third.call("resume_research", { task_id });
      await untilStatus(third, task_id, "completed");
    },
  );

  test("polled at another address waits and names the address it was started at (P3)", async (context) => {
    const [scene, elsewhere] = [await openResearch(context, SLOW), await openResearch(context)];
    const first = await scene.server();
    const task_id = await startRun(first);
    await first.close();
    scene.sql("update research_tasks set next_poll_at = 0");
    const second = await scene.server({ env: { GOOGLE_GEMINI_BASE_URL: elsewhere.gemini.url } });
    await second.call("resume_research", { task_id });
    const current_action = `Waiting: it was started at ${scene.gemini.url}; set GOOGLE_GEMINI_BASE_URL to that address to collect it`;
    await waitFor(async () => expect(await statusOf(second, task_id)).toMatchObject({ current_action }));
  });

  test("continues automatically when a lost network is back, and its status names the fault meanwhile (P4)", async (context) => {
    const folder = temporaryDirectory();
    context.onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const stateFile = join(folder, "runs.jsonl");
    const scenario = { name: "network", interactions: { ...SLOW } };
    const gemini = await startSimulator({ stateFile, scenario });
    const scene = await openResearch(context);
    const server = await scene.server({ env: { GOOGLE_GEMINI_BASE_URL: gemini.url } });
    const task_id = await startRun(server);
    await gemini.close();
    await waitFor(
      async () =>
        expect(await statusOf(server, task_id)).toMatchObject({
          status: "running_async",
          current_action: "Google cannot be reached; trying again",
        }),
      { timeout: 60_000 },
    );
    const back = await startSimulator({ stateFile, scenario, port: Number(new URL(gemini.url).port) });
    context.onTestFinished(() => back.close());
    await waitFor(
      async () => expect((await statusOf(server, task_id))["current_action"]).not.toContain("cannot be reached"),
      { timeout: 60_000 },
    );
    back.skip(8 * 60_000);
    await untilStatus(server, task_id, "completed");
    expect(back.ledger.acceptedStarts()).toHaveLength(1);
  });

  test("is not polled, like all others, for as long as a 429 with Retry-After asks (P4)", async (context) => {
    const scene = await openResearch(context, {
      ...SLOW,
      get: [{}, {}, {}, { fault: "http-429", retry_after: 3 }, {}],
    });
    const server = await scene.server();
    await startRun(server, "First question");
    await startRun(server, "Second question");
    const polls = (): number[] =>
      scene.gemini.ledger
        .acceptedStarts()
        .flatMap(({ id }) => scene.gemini.ledger.trafficOf(id).polls)
        .toSorted((a, b) => a - b);
    const limited = (): number => scene.gemini.ledger.interactionRequests()["get http-429"] ?? 0;
    await waitFor(() => expect(limited()).toBeGreaterThan(0), { interval: 5 });
    const at = Date.now();
    await waitFor(() => expect(polls().at(-1)).toBeGreaterThan(at + 2_000));
    // A poll in flight may still arrive.
    expect(polls().filter((time) => time > at + 1_000 && time < at + 2_800)).toEqual([]);
  });

  test("fails as timed out after max_wait_hours, keeps its text, and completes when it is resumed (I11, Q1)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const server = await scene.server();
    const task_id = await startRun(server, undefined, { max_wait_hours: 3 });
    const [row] = scene.sql<{ wait: number }>("select deadline_at - created_at as wait from research_tasks");
    expect(row?.wait).toBe(3 * 3_600_000);
    scene.sql(
      `insert into research_results (task_id, report_markdown, sources_json, citations_json, metadata_json, partial, saved_at)
       values (?, 'As far as it came.', '[]', '[]', '{}', 1, 0)`,
      task_id,
    );
    const running = await server.call(RESULTS, { task_id });
    expect(running.structured).toMatchObject({ error: { code: "RESEARCH_NOT_COMPLETED" } });
    scene.sql("update research_tasks set deadline_at = deadline_at - 20000000, created_at = created_at - 20000000");
    const { error } = await untilStatus(server, task_id, "failed");
    expect(error).toEqual({
      code: "RESEARCH_FAILED",
      message: "The research timed out: it was not finished after 3 hours. It can be checked again.",
    });
    expect((await server.call(RESULTS, { task_id })).structured).toMatchObject({
      partial: true,
      report: "As far as it came.",
    });
    const [run] = scene.gemini.ledger.acceptedStarts();
    expect(scene.gemini.ledger.trafficOf(run?.id ?? "").cancels).toEqual([]);
    const resumed = await server.call("resume_research", { task_id });
    expect(resumed.structured).toMatchObject({
      success: true,
      task_id,
      message: expect.stringContaining("polled again"),
    });
    scene.gemini.skip(8 * 60_000);
    expect(await untilStatus(server, task_id, "completed")).not.toHaveProperty("error");
    const { structured } = await server.call(RESULTS, { task_id });
    expect(structured["report"]).toContain("## Executive summary");
    expect(structured).not.toHaveProperty("partial");
    expect(scene.accepted()).toBe(1);
  });
});
