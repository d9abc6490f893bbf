/** The boundary around every operation: checked input, clean output, one shape of errors. */

import { describe, expect, test } from "vitest";
import { z } from "zod";
import { openApp } from "../../test/kit/store/operation-deps.ts";
import { AppError } from "../errors.ts";
import { systemClock } from "../platform/clock.ts";
import { defineOperation, type Call, type Operation, queryField, taskIdField } from "./operation.ts";
import { outcomeOfRun, perform, performDetachable, questionFor, refused } from "./perform.ts";

const CALL: Call = {
  owner: "local",
  client: "a-client",
  from: "network",
  signal: new AbortController().signal,
  progress: () => {},
};

type Output = Record<string, unknown>;
type Run = (input: { query?: string | undefined }, call: Call) => Output | Promise<Output>;

/** An operation with the given `run`. */
const operation = (run: Run): Operation =>
  defineOperation({
    name: "echo",
    title: "Echo",
    description: "Says it again.",
    input: z.strictObject({
      query: queryField("query").optional(),
      topic: z.string().optional(),
      task_id: taskIdField.optional(),
      count: z.number().max(3).optional(),
    }),
    output: z.looseObject({}),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    positional: undefined,
    run: async (_deps, input, call) => run(input, call),
    toText: (output) => `text of ${JSON.stringify(output)}`,
  });

describe("an answer", () => {
  test("is cleaned in its structure and in its text (A6, T17)", async () => {
    const { deps } = openApp();
    const echo = operation(({ query }) => ({ query, web: ["\u001B[31mred\u202E", { none: undefined }] }));
    expect(await perform(echo, deps, { input: { query: "  a question " }, call: CALL })).toEqual({
      failed: false,
      structured: { query: "a question", web: ["red", {}] },
      text: 'text of {"query":"a question","web":["red",{}]}',
    });
  });
});

describe("an input", () => {
  const refusal = async (input: unknown) => {
    const { deps } = openApp();
    let ran = false;
    const echo = operation(() => ({ ran: (ran = true) }));
    const outcome = await perform(echo, deps, { input: input, call: CALL });
    expect([ran, outcome.failed]).toEqual([false, true]);
    return outcome.failed && outcome.structured.error;
  };

  test.each([
    [{ query: " " }, "INVALID_QUERY", "query must not be empty.", "query"],
    [{ query: "?" }, "INVALID_QUERY", "query must have at least one letter or digit.", "query"],
    [{ topic: 1 }, "INVALID_QUERY", "topic must be of type string.", "topic"],
    [
      { task_id: "x" },
      "INVALID_TASK_ID",
      "task_id must be one that a tool returned, or its first 8 or more characters.",
      "task_id",
    ],
    [{ count: 4 }, "INVALID_INPUT", "count is not valid.", "count"],
  ])("%j is refused as %s (A6)", async (input, code, message, field) => {
    const advice = field === "task_id" ? { suggestion: "list_research shows the runs that are stored." } : {};
    expect(await refusal(input)).toEqual({ code, message, ...advice, details: { status: 400, field } });
  });

  test("of the wrong type, or with unknown parameters, is refused by name, with bounded text (A6)", async () => {
    expect(await refusal("text")).toEqual({
      code: "INVALID_INPUT",
      message: "The input must be of type object.",
      details: { status: 400 },
    });
    expect(await refusal({ one: 1, [`t${"o".repeat(60)}`]: 2 })).toEqual({
      code: "INVALID_INPUT",
      message: `There is no parameter "one", "t${"o".repeat(39)}".`,
      details: { status: 400 },
    });
  });
});

describe("an error", () => {
  const ADVICE =
    "Try again. get_research_results returns its text; resume_research with accept_possible_double_charge sends it again, as a run of its own if the user agrees, which may be charged twice.";

  test("of ours has its code, message, suggestion, details and run, in structure and text (A6)", () => {
    const { deps, lines } = openApp();
    const error = new AppError({
      code: "RESEARCH_FAILED",
      message: "It failed.\u0007",
      suggestion: "Try again.",
      next: [{ do: "read" }, { do: "restart" }],
      details: { path: "/a\u202E", lines: "one\ntwo" },
      run: { task_id: "t-1", status: "failed", progress: 40 },
    });
    expect(refused(error, deps)).toEqual({
      failed: true,
      structured: {
        success: false,
        error: {
          code: "RESEARCH_FAILED",
          message: "It failed.",
          suggestion: ADVICE,
          details: { path: "/a", lines: "one\ntwo" },
        },
        task_id: "t-1",
        status: "failed",
        progress: 40,
      },
      text: `RESEARCH_FAILED: It failed.\n${ADVICE}\ntask_id: t-1\nstatus: failed\nprogress: 40\npath: /a\nlines:\none\ntwo`,
      advice: { suggestion: "Try again.", next: [{ do: "read" }, { do: "restart" }] },
    });
    expect(lines).toEqual([]);
  });

  test("without details is one line (A6)", () => {
    const { deps } = openApp();
    const { structured, text } = refused(new AppError({ code: "CANCELLED", message: "It was cancelled." }), deps);
    expect(structured).toEqual({ success: false, error: { code: "CANCELLED", message: "It was cancelled." } });
    expect(text).toBe("CANCELLED: It was cancelled.");
  });

  test("that is a bug is logged; the caller gets only its id (A6, T18)", async () => {
    const { deps, lines } = openApp();
    const { structured } = await perform(
      operation(() => {
        throw new TypeError("secret detail");
      }),
      deps,
      { input: {}, call: CALL },
    );
    const id = /Unexpected error (\w{8}): TypeError: secret detail\n\s+at /.exec(lines[0] ?? "")?.[1];
    expect(lines).toHaveLength(1);
    expect(structured["error"]).toEqual({
      code: "UNEXPECTED_ERROR",
      message: `Unexpected error ${id}; see the log.`,
      suggestion: "Please report it with the log lines that contain this id.",
    });
  });

  test("of any type can be logged (A6, T18)", () => {
    const { deps, lines } = openApp();
    const bare = new Error("without a stack");
    delete bare.stack;
    refused(bare, deps);
    refused("only words", deps);
    expect(lines[0]).toMatch(/Unexpected error \w{8}: without a stack\n$/);
    expect(lines[1]).toMatch(/Unexpected error \w{8}: only words\n$/);
  });
});

describe("a call whose client accepts a task", () => {
  const openWaitingApp = () => {
    const { deps, background } = openApp();
    return { deps: { ...deps, clock: { ...deps.clock, sleep: systemClock.sleep } }, background };
  };
  const caller = { owner: "somebody", client: "a-client", from: "network" } as const;

  test("becomes a task when the time for a direct answer is over, and continues after its client disconnects (U1)", async () => {
    const { deps, background } = openWaitingApp();
    let seen: Call | undefined;
    const { promise: held, resolve: release } = Promise.withResolvers<Output>();
    const echo = operation((_input, call) => {
      seen = call;
      call.onRunCreated?.("t-1");
      return held;
    });
    const client = new AbortController();
    const call = { ...CALL, ...caller, signal: client.signal };
    expect(await performDetachable(echo, deps, { input: {}, call, answerWithinMs: 5 })).toEqual({ taskId: "t-1" });
    expect(seen).toMatchObject(caller);
    expect(seen?.returnWhen?.aborted).toBe(true);
    client.abort();
    expect(seen?.signal.aborted).toBe(false);
    expect(background).toHaveLength(1);
    release({});
    await background[0];
  });

  test("is answered directly when it ends in time, and can be cancelled until then (U1)", async () => {
    const { deps } = openWaitingApp();
    const quick = operation((_input, call) => {
      call.onRunCreated?.("t-1");
      expect(call.returnWhen?.aborted).toBe(false);
      return { a: 1 };
    });
    expect(await performDetachable(quick, deps, { input: {}, call: CALL, answerWithinMs: 20_000 })).toEqual({
      outcome: { failed: false, structured: { a: 1 }, text: 'text of {"a":1}' },
    });
    const client = new AbortController();
    const cancellable = operation(async (_input, call) => {
      call.onRunCreated?.("t-1");
      const aborted = new Promise((resolve) => call.signal.addEventListener("abort", resolve));
      client.abort();
      await aborted;
      return { cancelled: true };
    });
    const call = { ...CALL, signal: client.signal };
    expect(await performDetachable(cancellable, deps, { input: {}, call, answerWithinMs: 20_000 })).toMatchObject({
      outcome: { structured: { cancelled: true } },
    });
  });

  test("is a task if its answer leaves the run unfinished (U1)", async () => {
    const { deps } = openWaitingApp();
    const start: Operation = {
      ...operation((_input, call) => {
        call.onRunCreated?.("t-1");
        return { status: "running_async" };
      }),
      task: { kind: "agent", answer: async () => ({}), isUnfinished: ({ status }) => status === "running_async" },
    };
    expect(await performDetachable(start, deps, { input: {}, call: CALL, answerWithinMs: 20_000 })).toEqual({
      taskId: "t-1",
    });
  });

  test("that requested a task gets one as soon as its run is stored, else its outcome (U1)", async () => {
    const { deps } = openWaitingApp();
    const stored = operation(async (_input, call) => {
      expect(call.returnWhen?.aborted).toBe(true);
      call.onRunCreated?.("t-1");
      return { a: 1 };
    });
    const now = { input: {}, call: CALL, answerWithinMs: 0 };
    expect(await performDetachable(stored, deps, now)).toEqual({ taskId: "t-1" });
    const unstored = operation(() => ({ a: 1 }));
    expect(await performDetachable(unstored, deps, now)).toMatchObject({ outcome: { structured: { a: 1 } } });
    expect(await performDetachable(unstored, deps, { ...now, input: { query: "?" } })).toMatchObject({
      outcome: { failed: true },
    });
  });
});

describe("a task", () => {
  test("is answered from the store like its call", async () => {
    const { deps, stored } = openApp();
    const { owner } = stored.run;
    const asTask: Operation = {
      ...operation(() => ({})),
      task: {
        kind: "search",
        answer: async ({ clock }, { run }) => ({ of: run.taskId, now: clock.now(), web: "\u0007x" }),
      },
    };
    expect(await outcomeOfRun(asTask, deps, { owner, stored })).toMatchObject({
      failed: false,
      structured: { of: stored.run.taskId, now: deps.clock.now(), web: "x" },
    });
    const failing: Operation = {
      ...asTask,
      task: {
        kind: "search",
        answer: async () => {
          throw new AppError({ code: "RESEARCH_FAILED", message: "It failed." });
        },
      },
    };
    expect(await outcomeOfRun(failing, deps, { owner, stored })).toMatchObject({ failed: true });
    expect(
      await outcomeOfRun(
        operation(() => ({})),
        deps,
        { owner, stored },
      ),
    ).toMatchObject({ failed: false, structured: {} });
  });
});

test("a confirmation is requested only for valid input, and only if the client can ask", async () => {
  const { deps } = openApp();
  const subject = { operation: "ask", input: "" };
  const question = { ask: "Start it?", because: "It costs.", unasked: "set a limit", details: {}, subject };
  const asking: Operation = {
    ...operation(() => ({})),
    question: async (_deps, input, call) => ({ ...question, details: { input, owner: call.owner } }),
  };
  expect(await questionFor(asking, deps, { input: { query: " abc " }, call: CALL })).toEqual({
    ...question,
    details: { input: { query: "abc" }, owner: "local" },
  });
  expect(await questionFor(asking, deps, { input: undefined, call: CALL })).toMatchObject({ because: "It costs." });
  expect(await questionFor(asking, deps, { input: { query: "?" }, call: CALL })).toBeUndefined();
  expect(
    await questionFor(
      operation(() => ({})),
      deps,
      { input: {}, call: CALL },
    ),
  ).toBeUndefined();
});
