/** Confirmation of costs in the client's dialog, in both protocol eras; the model cannot confirm. */

import type { ElicitResult } from "@modelcontextprotocol/client";
import { describe, expect, test, vi } from "vitest";
import { type AskingOptions, askingClient } from "../kit/server/asking-client.ts";
import { openResearch, QUERY, SLOW, startRun } from "../kit/server/research.ts";
import type { Era } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

const COMPLEX =
  "Compare the EV battery market in China, the US and Europe from 2015 to 2025: technology trends, market share of each manufacturer, and regulatory outlook.";
const DEAR = { query: COMPLEX, model: "deep-research-max-preview-04-2026" };
const ALWAYS = { RESEARCH_CONFIRM_ABOVE_USD: "0" };
const YES: ElicitResult = { action: "accept", content: {} };
const ERAS: Era[] = ["legacy", "modern"];
const DECLINED = {
  success: false,
  error: {
    code: "DECLINED",
    message: "The user declined. Nothing was started, charged or deleted.",
    suggestion: expect.stringContaining("Do not try again"),
  },
};

describe.each(ERAS)("a %s client with elicitation", (era) => {
  test("is asked before a start above the limit, with figures only, and a yes starts it once (T28)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const client = await askingClient(context, scene, { era, answer: YES });
    const { isError, structured } = await client.call(DEAR);
    expect(client.dialogs).toEqual([
      {
        message: "Start this research for about $7.50 (up to $14)? Your limit is $5.",
        schema: { type: "object", properties: {} },
      },
    ]);
    expect(isError).toBe(false);
    expect(structured).toMatchObject({ success: true, status: "running_async" });
    expect(scene.posts()).toBe(1);
  });

  test.for<[string, AskingOptions["answer"]]>([
    ["a decline", { action: "decline" }],
    ["a closed dialog, as headless clients answer", { action: "cancel" }],
    ["a decline with content", { action: "decline", content: { confirm: true } }],
  ])("that answers %s is asked once, and nothing is started (T28)", async ([_name, answer], context) => {
    const scene = await openResearch(context, SLOW);
    const client = await askingClient(context, scene, { era, answer });
    const { isError, structured } = await client.call(DEAR);
    expect(isError).toBe(true);
    expect(structured).toEqual(DECLINED);
    expect(client.dialogs).toHaveLength(1);
    expect(scene.posts()).toBe(0);
  });

  test("that accepts without content confirms the start: one key, no box to tick (T28)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const client = await askingClient(context, scene, { era, answer: { action: "accept" } });
    expect((await client.call(DEAR)).isError).toBe(false);
    expect([client.dialogs.length, scene.posts()]).toEqual([1, 1]);
  });

  test("is asked once what a vague question means, then about its cost, and starts it with the answer (V7)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const answers: ElicitResult[] = [{ action: "accept", content: { details: " jobs in Germany\u200B " } }, YES];
    const asked = await askingClient(context, scene, { era, env: ALWAYS, answer: () => answers.shift() ?? YES });
    expect((await asked.call({ query: "AI" })).structured).toMatchObject({ status: "running_async" });
    expect(asked.dialogs).toEqual([
      {
        message: expect.stringMatching(/^What should it focus on\? \(about \$\d\.\d\d\) Empty: as asked\.$/),
        schema: { type: "object", properties: { details: { type: "string", title: "Details" } } },
      },
      { message: expect.stringMatching(/^Start this research for about/), schema: { type: "object", properties: {} } },
    ]);
    const skipping = await askingClient(context, scene, { era, answer: { action: "accept" } });
    // The same start joins its run, also the one that was made more precise: nothing is asked.
    expect((await skipping.call({ query: "AI" })).structured).toMatchObject({ joined: true });
    // With other options it is another start.
    const plan = await skipping.call({ query: "AI", plan: true });
    expect(plan.structured).not.toHaveProperty("joined");
    for (const query of ["Music", "Music", QUERY]) expect((await skipping.call({ query })).isError).toBe(false);
    expect(skipping.dialogs).toHaveLength(1);
    const started = scene.gemini.ledger.acceptedStarts().map(({ query }) => query);
    expect(started).toEqual(["AI\n\nWhat is meant: jobs in Germany", "AI", "Music", QUERY]);
  });

  test.for<[string, AskingOptions["answer"]]>([
    ["declines", { action: "decline" }],
    ["closes, as Esc does,", { action: "cancel" }],
    ["declines with an answer", { action: "decline", content: { details: "jobs" } }],
    ["types no into", { action: "accept", content: { details: " No. " } }],
  ])("that %s the clarifying question starts nothing, and is told so (V7)", async ([_name, answer], context) => {
    const scene = await openResearch(context, SLOW);
    const client = await askingClient(context, scene, { era, answer });
    const { isError, structured } = await client.call({ query: "heat pumps" });
    expect([isError, client.dialogs.length, scene.posts()]).toEqual([true, 1, 0]);
    expect(structured["error"]).toEqual({
      code: "DECLINED",
      message: "The user did not say what the research should focus on. Nothing was started and nothing was charged.",
      suggestion: "Ask the user what the research is for, then start it with a more precise query.",
    });
    expect(scene.sql("select status from research_tasks")).toEqual([]);
  });

  test("is not asked about cheap, invalid or free calls", async (context) => {
    const scene = await openResearch(context, SLOW);
    const client = await askingClient(context, scene, { era, answer: { action: "decline" } });
    expect((await client.call({ query: QUERY })).isError).toBe(false);
    const invalid = await client.call({ ...DEAR, query: "?" });
    expect(invalid.structured["error"]).toMatchObject({ code: "INVALID_QUERY", details: { field: "query" } });
    const unknown = await client.call({ ...DEAR, confirm: true });
    expect(unknown.structured["error"]).toMatchObject({ code: "INVALID_INPUT" });
    expect((await client.call(DEAR, { tool: "estimate_research_cost" })).isError).toBe(false);
    expect(client.dialogs).toEqual([]);
    expect(scene.posts()).toBe(1);
  });

  test("is not asked again for a start that joins the run, but is for a forced one (I9)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const client = await askingClient(context, scene, { era, answer: YES });
    const first = await client.call(DEAR);
    const second = await client.call(DEAR);
    expect(second.structured).toMatchObject({ task_id: first.structured["task_id"], joined: true });
    expect(client.dialogs).toHaveLength(1);
    const forced = await client.call({ ...DEAR, force_new: true });
    expect(forced.structured["task_id"]).not.toBe(first.structured["task_id"]);
    expect(client.dialogs).toHaveLength(2);
    expect(scene.posts()).toBe(2);
  });

  test("is asked by RESEARCH_CONFIRM_ABOVE_USD: always at 0, less often above, always without a price (T28)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const always = await askingClient(context, scene, { era, answer: { action: "decline" }, env: ALWAYS });
    expect((await always.call({ query: QUERY })).structured).toEqual(DECLINED);
    expect(always.dialogs[0]?.message).toBe("Start this research for about $1.10 (up to $2.20)?");
    const limit = { RESEARCH_CONFIRM_ABOVE_USD: "7.5" };
    const seldom = await askingClient(context, scene, { era, answer: { action: "decline" }, env: limit });
    expect((await seldom.call({ ...DEAR, model: "deep-thought-42" })).structured).toEqual(DECLINED);
    expect(seldom.dialogs.map(({ message }) => message)).toEqual(["Start this research? Its cost is unknown."]);
    expect(scene.posts()).toBe(0);
    expect((await seldom.call(DEAR)).isError).toBe(false);
    expect(seldom.dialogs).toHaveLength(1);
    expect(scene.posts()).toBe(1);
  });

  test("is asked if its capability names no mode, and not if it supports URLs only", async (context) => {
    const scene = await openResearch(context, SLOW);
    const pages = await askingClient(context, scene, { era, answer: YES, elicitation: { url: {} } });
    expect((await pages.call(DEAR)).structured["error"]).toMatchObject({ code: "CONFIRMATION_NEEDED" });
    expect([pages.dialogs.length, scene.posts()]).toEqual([0, 0]);
    const plain = await askingClient(context, scene, { era, answer: YES, elicitation: {} });
    expect((await plain.call(DEAR)).isError).toBe(false);
    expect([plain.dialogs.length, scene.posts()]).toEqual([1, 1]);
  });

  test("is asked before every restart, with a warning that it may be charged twice (Q1)", async (context) => {
    const scene = await openResearch(context, { ...SLOW, create: [{ fault: "accept-then-reset" }, {}] });
    const { structured } = await (await scene.server()).call("start_deep_research", { query: QUERY });
    const { task_id } = structured;
    const again = { task_id, accept_possible_double_charge: true };
    const no = await askingClient(context, scene, { era, answer: { action: "decline" } });
    expect((await no.call({ task_id }, { tool: "resume_research" })).structured["error"].code).toBe("START_UNKNOWN");
    expect(no.dialogs).toEqual([]);
    expect((await no.call(again, { tool: "resume_research" })).structured).toEqual(DECLINED);
    expect(no.dialogs).toMatchObject([{ message: expect.stringContaining("counts the first start too") }]);
    expect(scene.posts()).toBe(1);
    const yes = await askingClient(context, scene, { era, answer: YES });
    const { structured: restarted } = await yes.call(again, { tool: "resume_research" });
    expect(restarted).toMatchObject({ success: true, task_id: expect.not.stringMatching(task_id) });
    expect([yes.dialogs.length, scene.posts()]).toEqual([1, 2]);
  });
});

describe.each(ERAS)("a %s client without elicitation", (era) => {
  test("gets an error with the figures and what the user can do; nothing is started (A6)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const server = await scene.server({ era });
    const { isError, structured, text } = await server.call("start_deep_research", DEAR);
    expect(isError).toBe(true);
    expect(structured).toMatchInlineSnapshot(`
      {
        "error": {
          "code": "CONFIRMATION_NEEDED",
          "details": {
            "estimated_cost_usd": 7.5,
            "limit_usd": 5,
          },
          "message": "This research will cost about $7.50 (up to $14) with deep-research-max-preview-04-2026, more than your limit of $5. This needs the user's approval, which this client cannot ask for. Nothing was started.",
          "suggestion": "Ask the user. To approve it, the user can raise RESEARCH_CONFIRM_ABOVE_USD for this server, or decide on the page (gemini-search-mcp open) or in a terminal: gemini-search-mcp research "…"",
        },
        "success": false,
      }
    `);
    expect(text).toContain("estimated_cost_usd: 7.5");
    expect(text).not.toContain("EV battery");
    expect(scene.posts()).toBe(0);
    await startRun(server);
    expect(scene.posts()).toBe(1);
  });

  test("gets the error of invalid input before any confirmation (I1)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const server = await scene.server({ era, env: { GEMINI_API_KEY: "" } });
    const { structured } = await server.call("start_deep_research", DEAR);
    expect(structured["error"].code).toBe("GEMINI_UNAVAILABLE");
    expect(scene.posts()).toBe(0);
  });
});

describe("a legacy client whose user is being asked", () => {
  test("receives progress, and its cancel closes the dialog", async (context) => {
    const scene = await openResearch(context, SLOW);
    const progress = vi.fn<() => void>();
    const gone = Promise.withResolvers<void>();
    const answer = (signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          gone.resolve();
          reject(new Error("gone"));
        });
      });
    const client = await askingClient(context, scene, { era: "legacy", answer });
    const controller = new AbortController();
    const called = client.call(DEAR, { signal: controller.signal, onProgress: progress });
    await waitFor(() => expect(progress).toHaveBeenCalled(), { interval: 10 });
    // A cancel that arrives earlier opens no dialog.
    await waitFor(() => expect(client.dialogs).toHaveLength(1), { interval: 10 });
    controller.abort(new Error("enough"));
    await expect(called).rejects.toThrow("enough");
    await gone.promise;
    expect(scene.posts()).toBe(0);
  });

  test("gets an error when its dialog fails, and nothing is started (T28, V7)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const answer = () => {
      throw new Error("no window");
    };
    const client = await askingClient(context, scene, { era: "legacy", answer });
    expect((await client.call({ query: "heat pumps" })).structured["error"]).toMatchObject({ code: "DECLINED" });
    const { structured } = await client.call(DEAR);
    expect(structured["error"]).toMatchObject({ code: "CONFIRMATION_NEEDED", details: { estimated_cost_usd: 7.5 } });
    expect(client.dialogs).toHaveLength(2);
    expect(scene.posts()).toBe(0);
  });
});
