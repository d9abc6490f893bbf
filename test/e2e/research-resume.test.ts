/**
 * `resume_research` through the front door: adopting, polling again, restarting with consent, and continuing a deep
 * search.
 */

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import {
  openResearch,
  QUERY,
  type ResearchScene,
  SLOW,
  startRun,
  statusOf,
  untilStatus,
} from "../kit/server/research.ts";
import { openScene } from "../kit/server/scene.ts";
import type { RunningServer, ToolResult } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

const resume = (server: RunningServer, task_id: string, more: object = {}): Promise<ToolResult> =>
  server.call("resume_research", { task_id, ...more });

const RESTART = { accept_possible_double_charge: true };
/** A restart is always asked about. */
const AGREES = { agrees: true };

const urlsOf = ({ sources }: ToolResult["structured"]): string[] =>
  sources.map(({ url }: { url: string }): string => url);

/** A start that Google accepted and whose response was lost. */
async function lostStart(scene: ResearchScene, server: RunningServer): Promise<{ task_id: string; id: string }> {
  const { structured } = await server.call("start_deep_research", { query: QUERY });
  expect(structured).toMatchObject({ status: "start_unknown" });
  return { task_id: structured["task_id"], id: scene.gemini.ledger.acceptedStarts()[0]?.id ?? "" };
}

const LOST = { create: [{ fault: "accept-then-reset" as const }, {}] };

describe("an unknown start", () => {
  test("is described as such by every tool (Q1, K2)", async (context) => {
    const scene = await openResearch(context, LOST);
    const server = await scene.server(AGREES);
    const { task_id } = await lostStart(scene, server);
    expect(await statusOf(server, task_id)).toMatchObject({
      status: "start_unknown",
      error: { code: "START_UNKNOWN", suggestion: expect.stringContaining("resume_research") },
    });
    const { structured } = await server.call("get_research_results", { task_id });
    expect(structured).toMatchObject({
      error: {
        code: "RESEARCH_NOT_COMPLETED",
        message: "It is not known whether Google started this research, so there is no report.",
        suggestion: expect.stringContaining("resume_research"),
      },
      status: "start_unknown",
      progress: 0,
    });
  });

  test("is resumed with the id that the user found, without another start (Q1)", async (context) => {
    const scene = await openResearch(context, LOST);
    const server = await scene.server(AGREES);
    const { task_id, id } = await lostStart(scene, server);
    for (const interaction_id of ["x", "../v1_abc", 7]) {
      expect((await resume(server, task_id, { interaction_id })).structured).toMatchObject({
        error: { code: "INVALID_INPUT", details: { field: "interaction_id" } },
      });
    }
    const { isError, structured } = await resume(server, task_id, { interaction_id: ` ${id} ` });
    expect(isError).toBe(false);
    expect(structured).toEqual({
      success: true,
      task_id,
      status: "running_async",
      message: "The interaction was adopted; the run is polled again.",
      check_status_command: `check_research_status(task_id='${task_id}')`,
    });
    expect(await untilStatus(server, task_id, "completed")).not.toHaveProperty("error");
    expect([scene.posts(), scene.accepted()]).toEqual([1, 1]);
    const again = await resume(server, task_id, { interaction_id: id });
    expect(again.structured["error"]).toMatchObject({ code: "INVALID_INPUT" });
  });

  test("cannot adopt an id of another run (Q1)", async (context) => {
    const scene = await openResearch(context, { create: [{ life: SLOW }, ...LOST.create] });
    const server = await scene.server(AGREES);
    const other = await startRun(server, "Somebody else's question");
    const [held] = scene.gemini.ledger.acceptedStarts();
    const { task_id } = await lostStart(scene, server);
    const { structured } = await resume(server, task_id, { interaction_id: held?.id });
    expect(structured["error"]).toMatchObject({ code: "INVALID_INPUT", details: { field: "interaction_id" } });
    expect(await statusOf(server, task_id)).toMatchObject({ status: "start_unknown" });
    expect(await statusOf(server, other)).toMatchObject({ status: "running_async" });
  });

  test("that two calls resume with the same id at the same moment is adopted by one, and the other is refused (Q1)", async (context) => {
    const scene = await openResearch(context, {
      create: [{ fault: "accept-then-reset" }],
      get: [{ latency_ms: 300 }],
    });
    const servers = [await scene.server(AGREES), await scene.server(AGREES)] as const;
    const { task_id: first, id } = await lostStart(scene, servers[0]);
    const { structured } = await servers[1].call("start_deep_research", { query: "Which lake is the deepest?" });
    const second = structured["task_id"];
    const answers = await Promise.all([
      resume(servers[0], first, { interaction_id: id }),
      resume(servers[1], second, { interaction_id: id }),
    ]);
    expect(answers.filter(({ isError }) => isError)).toHaveLength(1);
    const refused = answers.find(({ isError }) => isError)?.structured;
    expect(refused).toMatchObject({ error: { code: "INVALID_INPUT" }, status: "start_unknown" });
    const holders = scene.sql("select task_id from research_tasks where interaction_id is not null");
    expect(holders).toHaveLength(1);
  });

  test("adopted by one process while another restarts it has both interactions polled to their end (I8, Q1)", async (context) => {
    const scene = await openResearch(context, {
      create: [{ fault: "accept-then-reset" }, { latency_ms: 5_000 }],
      get: [{ latency_ms: 4_000 }, {}],
    });
    const [server, other] = [await scene.server(AGREES), await scene.server(AGREES)];
    const { task_id, id } = await lostStart(scene, server);
    await statusOf(other, task_id);
    const adopting = resume(server, task_id, { interaction_id: id });
    // The id is being checked at Google; whichever of the two is stored first, both must be polled.
    await sleep(300);
    const restarting = resume(other, task_id, RESTART);
    expect((await adopting).structured).toMatchObject({ success: true });
    await restarting;
    expect(scene.accepted()).toBe(2);
    const ids = scene.gemini.ledger.acceptedStarts().map((start) => start.id);
    const completed = (): unknown[] =>
      scene
        .sql("select interaction_id from research_tasks where status = 'completed' and interaction_id is not null")
        .map(({ interaction_id }) => interaction_id);
    await expect.poll(() => new Set(completed())).toEqual(new Set(ids));
  });

  test("adopted while its restart waits to be sent again is not restarted, and the answer says so (I8, Q1)", async (context) => {
    const scene = await openResearch(context, {
      ...SLOW,
      create: [{ fault: "accept-then-reset" }, { fault: "http-429", retry_after: 15 }, {}],
    });
    const [server, other] = [await scene.server(AGREES), await scene.server(AGREES)];
    const { task_id, id } = await lostStart(scene, server);
    const restarting = resume(server, task_id, RESTART);
    await waitFor(() => expect(scene.posts()).toBe(2));
    expect((await resume(other, task_id, { interaction_id: id })).structured).toMatchObject({ success: true });
    expect((await restarting).structured).toMatchObject({
      success: true,
      task_id,
      status: "running_async",
      message: expect.stringMatching(/^Nothing was sent/),
    });
    expect([scene.posts(), scene.accepted()]).toEqual([2, 1]);
  });

  test("is restarted only with the user's consent, once (Q1, I8)", async (context) => {
    const scene = await openResearch(context, LOST);
    const server = await scene.server(AGREES);
    const { task_id } = await lostStart(scene, server);
    const refused = await resume(server, task_id);
    expect(refused.isError).toBe(true);
    expect(refused.structured).toEqual({
      success: false,
      error: {
        code: "START_UNKNOWN",
        message: "It is not known whether this research was started; starting it again may be charged twice.",
        suggestion: expect.stringContaining("accept_possible_double_charge"),
      },
      task_id,
      status: "start_unknown",
      progress: 0,
    });
    const silent = await (await scene.server()).call("resume_research", { task_id, ...RESTART });
    expect(silent.structured["error"]).toMatchObject({
      code: "CONFIRMATION_NEEDED",
      // Twice the $1.10 (up to $2.20) of one start.
      message: expect.stringMatching(
        /^This research will cost about \$2\.20 \(up to \$4\.40\) .*This needs the user's approval/,
      ),
      suggestion: expect.not.stringContaining("RESEARCH_CONFIRM_ABOVE_USD"),
    });
    expect(scene.posts()).toBe(1);
    const [first, second] = await Promise.all([resume(server, task_id, RESTART), resume(server, task_id, RESTART)]);
    expect(
      [first, second].filter(({ structured }) => structured["message"]?.startsWith("The research was started again")),
    ).toHaveLength(1);
    const { task_id: again } = await untilStatus(server, task_id, "completed");
    expect([scene.posts(), scene.accepted()]).toEqual([2, 2]);
    const labels = scene.gemini.ledger.acceptedStarts().map((start) => start.labels);
    expect(labels.map(({ run }) => run)).toEqual([task_id, again]);
    expect(again).not.toBe(task_id);
  });

  test("whose restart Google refuses stays unknown, and can still be adopted (Q1, I10)", async (context) => {
    const scene = await openResearch(context, {
      create: [{ fault: "accept-then-reset" }, { fault: "http-402" }, { fault: "http-500" }],
    });
    const server = await scene.server(AGREES);
    const { task_id, id } = await lostStart(scene, server);
    for (const [message, suggestion] of [
      [/credits.* still unknown whether Google accepted the earlier start\.$/, /^Add credits .* is not repeated/],
      [/^Google's service is overloaded or failing \(HTTP 500\)\./, /^It is not repeated/],
    ] as const) {
      const { isError, structured } = await resume(server, task_id, RESTART);
      expect(isError).toBe(true);
      const error = { message: expect.stringMatching(message), suggestion: expect.stringMatching(suggestion) };
      expect(structured).toMatchObject({ error: { code: "START_UNKNOWN", ...error }, status: "start_unknown" });
    }
    await resume(server, task_id, { interaction_id: id });
    await untilStatus(server, task_id, "completed");
    expect([scene.posts(), scene.accepted()]).toEqual([3, 1]);
  });

  test("whose id the database had refused is resolved from orphans.jsonl (P5, Q1)", async (context) => {
    const scene = await openResearch(context, LOST);
    const first = await scene.server(AGREES);
    const { task_id, id } = await lostStart(scene, first);
    await first.close();
    const [attempt] = scene.sql<{ attempt_id: string }>("select attempt_id from research_attempts");
    const file = join(scene.configDir, "orphans.jsonl");
    const line = JSON.stringify({ attempt_id: attempt?.attempt_id, interaction_id: id });
    writeFileSync(
      file,
      `not json\n${JSON.stringify({ attempt_id: "nobody's", interaction_id: "v1_none" })}\n${line}\n{"attempt`,
    );
    const { code, stderr } = await scene.command(["worker", "--until-idle"]);
    expect(code).toBe(0);
    expect(stderr).toContain("[INFO] 1 research run recovered from orphans.jsonl.");
    expect(existsSync(file)).toBe(false);
    expect(scene.sql("select task_id, status, interaction_id from research_tasks")).toEqual([
      { task_id, status: "completed", interaction_id: id },
    ]);
    expect(scene.accepted()).toBe(1);
  });
});

describe("a run that cannot be resumed", () => {
  test("is refused with its reason: completed, cancelled, refused by Google, a search, unknown (A6, Q1)", async (context) => {
    const scene = await openResearch(context, {
      create: [{ life: { duration_ms: 0 } }, { fault: "http-403" }, { life: SLOW }],
    });
    const server = await scene.server(AGREES);
    const done = await startRun(server, "First question");
    await untilStatus(server, done, "completed");
    const refused = (await server.call("start_deep_research", { query: "Second question" })).structured["task_id"];
    const cancelled = await startRun(server, "Third question");
    await server.call("cancel_research", { task_id: cancelled });
    const search = (await server.call("search", { query: QUERY })).structured["metadata"].task_id;
    const answers = [
      [done, "RESEARCH_ALREADY_COMPLETED", "nothing to retry"],
      [refused, "RESEARCH_FAILED", "cannot be retried: it was never started at Google."],
      [cancelled, "RESEARCH_FAILED", "cannot be retried: it was cancelled."],
      [search, "INVALID_INPUT", "A single search"],
      [crypto.randomUUID(), "TASK_NOT_FOUND", "no run"],
    ] as const;
    for (const [task_id, code, message] of answers) {
      const { isError, structured } = await resume(server, task_id, RESTART);
      expect([isError, structured["error"]]).toMatchObject([true, { code, message: expect.stringContaining(message) }]);
    }
    expect(scene.posts()).toBe(3);
  });
});

describe("an interrupted deep_search", () => {
  test("has one continuation however many processes resume it at once (Q1)", async (context) => {
    const scene = await openResearch(context);
    scene.gemini.setScenario({ name: "dies", tasks: { verify: [{ fault: "hang" }] } });
    const stop = new AbortController();
    const servers = await Promise.all([scene.server(), scene.server()]);
    const lost = servers[0].call("deep_search", { query: QUERY }, { signal: stop.signal }).catch(() => "lost");
    await waitFor(() => expect(scene.gemini.ledger.countByKind()).toMatchObject({ verify: 1 }));
    stop.abort();
    await lost;
    const [parent] = await waitFor(() => {
      const runs = scene.sql<{ task_id: string }>("select task_id from research_tasks where status = 'cancelled'");
      expect(runs).toHaveLength(1);
      return runs;
    });
    // Many at once, so that some coincide.
    const parents = Array.from({ length: 12 }, () => crypto.randomUUID());
    const columns = (table: string): string =>
      scene
        .sql<{ name: string }>(`select name from pragma_table_info('${table}') where name <> 'task_id'`)
        .map(({ name }) => name)
        .join(", ");
    for (const id of parents) {
      for (const table of ["research_tasks", "research_events"]) {
        const rest = columns(table);
        const copy = `insert into ${table} (task_id, ${rest}) select ?, ${rest} from ${table} where task_id = ?`;
        scene.sql(copy, id, parent?.task_id ?? "");
      }
    }
    const answers = await Promise.all(
      parents.flatMap((id) => [...servers, ...servers].map(async (server) => ({ id, ...(await resume(server, id)) }))),
    );
    for (const id of parents) {
      const same = answers.filter((answer) => answer.id === id);
      expect(new Set(same.map(({ structured }) => structured["task_id"])).size).toBe(1);
      const begun = same.filter(({ structured }) =>
        structured["message"].startsWith("The search continues at round 2"),
      );
      expect(begun).toHaveLength(1);
    }
    const children = scene.sql<{ n: number }>(
      "select count(*) as n from research_tasks where parent_task_id is not null",
    );
    expect(children).toEqual([{ n: parents.length }]);
  });

  test("whose continuation was interrupted too continues from there: no finished round is paid again (Q1, G8)", async (context) => {
    const hang = { name: "dies", tasks: { verify: [{ fault: "hang" as const }] } };
    const scene = await openScene(context, hang);
    const first = await scene.server();
    const stop = new AbortController();
    let parent = "";
    const lost = first
      .call(
        "deep_search",
        { query: QUERY, max_iterations: 4 },
        { signal: stop.signal, onProgress: (text) => (parent ||= /run ([0-9a-f]{8})\)/.exec(text)?.[1] ?? "") },
      )
      .catch(() => "lost");
    const asked = (times: number): Promise<void> =>
      waitFor(() => expect(scene.gemini.ledger.count("verify")).toBe(times));
    await asked(1);
    stop.abort();
    await lost;
    await untilStatus(first, parent, "cancelled");
    const child = (await resume(first, parent)).structured["task_id"];
    await asked(2);
    expect((await resume(first, parent)).structured["task_id"]).toBe(child);
    await first.call("cancel_research", { task_id: child });
    await untilStatus(first, child, "cancelled");
    const grandchild = (await resume(first, parent)).structured["task_id"];
    expect([parent, child]).not.toContain(grandchild);
    await asked(3);
    for (const task_id of [parent, child, grandchild]) {
      expect((await resume(first, task_id)).structured["task_id"] ?? grandchild).toBe(grandchild);
    }
    expect(scene.gemini.ledger.countByKind()).toEqual({ deep_search: 1, verify: 3 });
  });

  test("continues at its next round after a kill -9, without paying for a finished one again (Q1, P2, G8, V6)", async (context) => {
    const scene = await openScene(context, { name: "dies", tasks: { verify: [{ fault: "hang" }] } });
    const first = await scene.server();
    const lost = first.call("deep_search", { query: QUERY, max_iterations: 4, language: "de" }).catch(() => "lost");
    await waitFor(() => expect(scene.gemini.ledger.countByKind()).toMatchObject({ verify: 1 }));
    process.kill(first.pid, "SIGKILL");
    await lost;

    scene.gemini.setScenario("good");
    const server = await scene.server();
    const { runs } = (await server.call("list_research", {})).structured;
    const interrupted: string = runs[0].task_id;
    expect(runs[0]).toMatchObject({ kind: "deep_search", status: "failed" });
    expect((await statusOf(server, interrupted))["error"]).toMatchObject({ code: "INTERRUPTED" });
    const partial = (await server.call("get_research_results", { task_id: interrupted })).structured;
    expect(partial).toMatchObject({ success: true, partial: true, status: "failed", verified: false });

    const { structured } = await resume(server, interrupted);
    const { task_id } = structured;
    expect(structured).toMatchObject({
      success: true,
      status: "running",
      message: "The search continues at round 2 as a new run.",
    });
    expect(task_id).not.toBe(interrupted);
    await untilStatus(server, task_id, "completed");
    const whole = (await server.call("get_research_results", { task_id })).structured;
    expect(whole).toMatchObject({ success: true, verified: true, query: QUERY });
    expect(whole).not.toHaveProperty("partial");
    // Numbered by their first use in the answer of this run.
    expect(urlsOf(whole)).toEqual(expect.arrayContaining(urlsOf(partial)));
    expect(urlsOf(whole).length).toBeGreaterThan(urlsOf(partial).length);
    // One first round in total, the killed round, and rounds 2 and 3 of the second run.
    expect(scene.gemini.ledger.countByKind()).toEqual({ deep_search: 1, verify: 3 });
    expect(new Set(scene.gemini.ledger.entries().map(({ wishes }) => wishes))).toEqual(
      new Set(["Language of the answer: German (de)."]),
    );
    expect((await resume(server, task_id)).structured["error"]).toMatchObject({ code: "RESEARCH_ALREADY_COMPLETED" });
    // A client that asks again gets the run it has paid for.
    expect((await resume(server, interrupted)).structured).toMatchObject({ task_id, status: "completed" });
    expect(scene.gemini.ledger.countByKind()).toEqual({ deep_search: 1, verify: 3 });
  });

  test("without a finished round cannot be resumed (Q1)", async (context) => {
    const scene = await openScene(context, { name: "refused", tasks: { deep_search: [{ fault: "http-403" }] } });
    const server = await scene.server();
    const { task_id } = (await server.call("deep_search", { query: QUERY })).structured;
    expect((await resume(server, task_id)).structured).toMatchObject({
      error: { code: "INVALID_INPUT", message: "This search has no finished round to continue from; ask it again." },
    });
  });
});
