/**
 * `start_deep_research` through the front door: what every fault of the one paid request comes to, and identical
 * starts.
 */

import { writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test, type TestContext } from "vitest";
import { missingFromText } from "../kit/server/answer-leaves.ts";
import {
  openResearch,
  QUERY,
  SLOW,
  startRun,
  statusOf,
  untilStatus,
  type CreateFault,
} from "../kit/server/research.ts";
import { UNRESOLVABLE_HOST } from "../kit/services/unresolvable-host.ts";
import { waitFor } from "../kit/wait-for.ts";

const UUID_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const UNKNOWN = "It is not known whether the research was started.";
const START = "start_deep_research";

/** What the user reads, the state of the run, how many requests were sent, and how many of them Google accepted. */
type Row = [CreateFault, string, string, number, number];

const REFUSED: Row[] = [
  ["http-400", "EXECUTION_ERROR", "Google rejected the request (HTTP 400).", 1, 0],
  ["http-401", "GEMINI_UNAVAILABLE", "Google rejected the API key.", 1, 0],
  ["http-403", "GEMINI_UNAVAILABLE", "Google does not allow this key to use the model.", 1, 0],
  ["http-404", "EXECUTION_ERROR", "Google does not recognise the model deep-research-preview-04-2026.", 1, 0],
  ["http-413", "EXECUTION_ERROR", "The request is too large for Google.", 1, 0],
  ["http-429", "GEMINI_UNAVAILABLE", "Google's quota for this key is used up for now.", 3, 0],
  ["http-503-front-end", "GEMINI_UNAVAILABLE", "Google's service is overloaded or failing (HTTP 503).", 1, 0],
];

const UNREADABLE = `Google's answer could not be read. ${UNKNOWN}`;
const BROKE = `The connection broke after the request was sent. ${UNKNOWN}`;

const AMBIGUOUS: Row[] = [
  ["http-408", "START_UNKNOWN", `Google's service is overloaded or failing (HTTP 408). ${UNKNOWN}`, 1, 0],
  ["http-409", "START_UNKNOWN", `Google answered with HTTP 409. ${UNKNOWN}`, 1, 0],
  ["http-500", "START_UNKNOWN", `Google's service is overloaded or failing (HTTP 500). ${UNKNOWN}`, 1, 0],
  ["http-502", "START_UNKNOWN", `Google's service is overloaded or failing (HTTP 502). ${UNKNOWN}`, 1, 0],
  ["http-503", "START_UNKNOWN", `Google's service is overloaded or failing (HTTP 503). ${UNKNOWN}`, 1, 0],
  ["http-503-gateway", "START_UNKNOWN", `Google's service is overloaded or failing (HTTP 503). ${UNKNOWN}`, 1, 0],
  ["http-421", "START_UNKNOWN", `Google answered with HTTP 421. ${UNKNOWN}`, 1, 0],
  ["http-504", "START_UNKNOWN", `Google's service is overloaded or failing (HTTP 504). ${UNKNOWN}`, 1, 0],
  ["reset-before", "START_UNKNOWN", BROKE, 1, 0],
  ["html-200", "START_UNKNOWN", UNREADABLE, 1, 0],
  ["wrong-json", "START_UNKNOWN", UNREADABLE, 1, 0],
  ["accept-then-reset", "START_UNKNOWN", BROKE, 1, 1],
  ["accept-then-500", "START_UNKNOWN", `Google's service is overloaded or failing (HTTP 500). ${UNKNOWN}`, 1, 1],
  ["accept-then-malformed", "START_UNKNOWN", UNREADABLE, 1, 1],
  ["accept-then-html", "START_UNKNOWN", UNREADABLE, 1, 1],
];

/** The answer breaks off after the id. */
const CUT_AFTER_ID: CreateFault[] = ["reset-mid-body", "short-body", "short-gzip", "malformed-json"];

/** Forwards to Google, and resets a connection when a start arrives on it after another request: it has become stale. */
async function openStaleGateway({ onTestFinished }: Pick<TestContext, "onTestFinished">, target: string) {
  const gateway = createServer((client) => {
    const google = connect(Number(new URL(target).port), "127.0.0.1").on("error", () => undefined);
    let isUsed = false;
    client.on("error", () => undefined).on("close", () => google.destroy());
    client.on("data", (sent) => {
      if (isUsed && sent.subarray(0, 5).equals(Buffer.from("POST "))) client.resetAndDestroy();
      else google.write(sent);
      isUsed = true;
    });
    google.pipe(client);
  });
  await new Promise<void>((resolve) => gateway.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void gateway.close());
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a listening TCP server has no other kind of address
  return `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
}

describe.concurrent("the paid request", () => {
  test("has for each fault its state, its sentence, its number of requests and of charges (I3, I6, I8, I10, A6)", async (context) => {
    const scene = await openResearch(context);
    const server = await scene.server();
    for (const [fault, code, message, posts, taken] of [...AMBIGUOUS, ...REFUSED]) {
      const [postsBefore, takenBefore] = [scene.posts(), scene.accepted()];
      scene.play({ create: [{ fault }] });
      const { isError, structured, text } = await server.call(START, { query: `${QUERY} ${fault}` });
      const status = code === "START_UNKNOWN" ? "start_unknown" : "failed";
      expect({ fault, isError, ...structured }).toEqual({
        fault,
        isError: true,
        success: false,
        error: { code, message, suggestion: expect.any(String) },
        task_id: expect.stringMatching(UUID_4),
        status,
        progress: 0,
      });
      expect(structured["error"].suggestion).toContain(
        status === "failed" ? "Nothing was charged." : "It is not repeated automatically",
      );
      expect(missingFromText(text, structured)).toEqual([]);
      expect({ fault, posts: scene.posts() - postsBefore, taken: scene.accepted() - takenBefore }).toEqual({
        fault,
        posts,
        taken,
      });
      expect(await statusOf(server, structured["task_id"])).toMatchObject({ status, error: { code, message } });
    }
  });

  test("whose answer breaks off after the interaction id has been accepted, and its report is collected (I8)", async (context) => {
    const scene = await openResearch(context);
    const server = await scene.server();
    for (const fault of CUT_AFTER_ID) {
      scene.play({ create: [{ fault }] });
      await untilStatus(server, await startRun(server, `${QUERY} ${fault}`), "completed");
    }
    expect([scene.posts(), scene.accepted()]).toEqual([CUT_AFTER_ID.length, CUT_AFTER_ID.length]);
  });

  test("that is answered with 201 or 202 and an id is accepted, and its report is collected (I3, I8)", async (context) => {
    const scene = await openResearch(context, { create: [{ fault: "http-201" }, { fault: "http-202" }] });
    const server = await scene.server();
    const taskIds = [await startRun(server, "Created"), await startRun(server, "Accepted")];
    for (const taskId of taskIds) await untilStatus(server, taskId, "completed");
    expect([scene.posts(), scene.accepted()]).toEqual([2, 2]);
  });

  test("does not use a connection that a poll or an earlier start left open, which may be stale (I8)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const GOOGLE_GEMINI_BASE_URL = await openStaleGateway(context, scene.gemini.url);
    const server = await scene.server({ env: { GOOGLE_GEMINI_BASE_URL } });
    await startRun(server, "First question");
    const [{ id } = { id: "" }] = scene.gemini.ledger.acceptedStarts();
    await waitFor(() => expect(scene.gemini.ledger.trafficOf(id).polls.length).toBeGreaterThan(0));
    for (const query of ["Second question", "Third question"]) await startRun(server, query);
    expect([scene.posts(), scene.accepted()]).toEqual([3, 3]);
  });

  test("that meets a 429 with a date is repeated then, and accepted once (I3, I8)", async (context) => {
    const scene = await openResearch(context, { create: [{ fault: "http-429-retry-after" }, {}] });
    const server = await scene.server();
    await untilStatus(server, await startRun(server), "completed");
    expect([scene.posts(), scene.accepted()]).toEqual([2, 1]);
  });

  test("that meets a 429 with a date beyond its limit fails at once (I3, I6, I8)", async (context) => {
    const scene = await openResearch(context, { create: [{ fault: "http-429", retry_after: 600 }] });
    const { structured } = await (await scene.server()).call(START, { query: QUERY });
    expect(structured).toMatchObject({ error: { code: "GEMINI_UNAVAILABLE" }, status: "failed" });
    expect(scene.posts()).toBe(1);
  });

  test("to a closed port or an unknown host is GEMINI_UNAVAILABLE, and nothing was sent (I6, I8)", async (context) => {
    const scene = await openResearch(context);
    const addresses = [scene.gemini.url, `http://${UNRESOLVABLE_HOST}`];
    await scene.gemini.close();
    const answers = addresses.map(async (GOOGLE_GEMINI_BASE_URL) =>
      (await scene.server({ env: { GOOGLE_GEMINI_BASE_URL } })).call(START, { query: GOOGLE_GEMINI_BASE_URL }),
    );
    const messages = [
      `The connection to ${new URL(scene.gemini.url).host} was refused.`,
      "Can't reach Google. Are you online?",
    ];
    for (const [n, { structured }] of (await Promise.all(answers)).entries()) {
      expect(structured).toMatchObject({
        error: { code: "GEMINI_UNAVAILABLE", message: messages[n] },
        status: "failed",
      });
    }
  });

  test("is not sent without a key, and the answer says what is missing (I6, A3)", async (context) => {
    const scene = await openResearch(context);
    for (const GEMINI_API_KEY of ["", "YOUR_API_KEY_HERE"]) {
      const server = await scene.server({ env: { GEMINI_API_KEY } });
      const { isError, structured } = await server.call(START, { query: QUERY });
      expect(isError).toBe(true);
      expect(structured).toMatchObject({
        error: {
          code: "GEMINI_UNAVAILABLE",
          message: "No Gemini API key is set.",
          suggestion: expect.stringContaining("GEMINI_API_KEY"),
        },
      });
    }
    expect(scene.gemini.ledger.count()).toBe(0);
  });

  test("is not sent without a writable config directory: SQLITE_ERROR (B5, P5)", async (context) => {
    const scene = await openResearch(context);
    writeFileSync(join(scene.configDir, "a-file"), "");
    const server = await scene.server({ env: { GEMINI_SEARCH_CONFIG_DIR: join(scene.configDir, "a-file", "config") } });
    const { isError, structured } = await server.call(START, { query: QUERY });
    expect(isError).toBe(true);
    expect(structured).toEqual({
      success: false,
      error: {
        code: "SQLITE_ERROR",
        message: "The database cannot be written. A paid run could be lost, so nothing was started.",
        suggestion: expect.stringContaining("GEMINI_SEARCH_CONFIG_DIR"),
      },
    });
    expect(scene.gemini.ledger.count()).toBe(0);
  });
});

describe.concurrent("a repeated start", () => {
  test("from three processes, twenty-one times at once, is one paid start (I9, I8)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const servers = await Promise.all([scene.server(), scene.server(), scene.server()]);
    const calls = servers.flatMap((server) => Array.from({ length: 7 }, () => server.call(START, { query: QUERY })));
    const answers = (await Promise.all(calls)).map(({ structured }) => structured);
    expect(new Set(answers.map(({ task_id }) => task_id)).size).toBe(1);
    expect(answers.filter(({ joined }) => joined !== true)).toHaveLength(1);
    for (const answer of answers) expect(answer).toMatchObject({ success: true, status: "running_async" });
    expect([scene.posts(), scene.accepted()]).toEqual([1, 1]);
  });

  test("in another Unicode form, with other white space, invisible characters or another time limit is the same start (I9)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const server = await scene.server();
    const query = "How do Swiss cafés heat in winter?";
    const first = await startRun(server, query);
    for (const same of [
      query.normalize("NFD"),
      query.replaceAll(" ", "  "),
      query.replace(" ", "\n"),
      `\u200B${query}`,
    ])
      expect(await startRun(server, same)).toBe(first);
    expect(await startRun(server, query, { max_wait_hours: 9 })).toBe(first);
    const wishes = { max_wait_hours: 2, language: "de" };
    expect(await startRun(server, query.normalize("NFD"), wishes)).toBe(await startRun(server, query, wishes));
    expect(scene.accepted()).toBe(2);
  });

  test("with another question or model, after ten minutes, or with force_new is another paid start (I9)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const server = await scene.server();
    const first = await startRun(server);
    expect(await startRun(server)).toBe(first);
    expect(await startRun(server, `  ${QUERY} `, { enable_notifications: false })).toBe(first);
    const model = "deep-research-max-preview-04-2026";
    const others = [{ force_new: true }, { model }];
    const ids = [await startRun(server, "Another question")];
    for (const more of others) ids.push(await startRun(server, QUERY, more));
    scene.sql("update research_tasks set created_at = created_at - 600001");
    // It is not joined, but asked about, because the same question is being researched (I14).
    const { structured } = await server.call(START, { query: QUERY });
    expect(structured["error"]).toMatchObject({ code: "CONFIRMATION_NEEDED" });
    ids.push(await startRun(server, QUERY, { force_new: true }));
    expect(new Set([first, ...ids]).size).toBe(5);
    expect(scene.accepted()).toBe(5);
  });

  test("joins an unknown start, never restarts it, and does not join failed and cancelled runs (I9, I10)", async (context) => {
    const scene = await openResearch(context, { create: [{ fault: "accept-then-reset" }] });
    const server = await scene.server();
    const first = await server.call(START, { query: QUERY });
    const again = await server.call(START, { query: QUERY });
    expect(again.structured).toMatchObject({
      task_id: first.structured["task_id"],
      status: "start_unknown",
      error: {
        code: "START_UNKNOWN",
        message: expect.stringContaining(first.structured["error"].message),
        suggestion: expect.stringMatching(/interaction_id.*accept_possible_double_charge.*force_new.*cancel_research/),
      },
    });
    expect(again.structured["error"].message).toMatch(/^Nothing was sent and nothing is charged for this call/);
    expect([scene.posts(), scene.accepted()]).toEqual([1, 1]);

    scene.play({ create: [{ fault: "http-403" }, {}], speed: 1 });
    const failed = await server.call(START, { query: "Second question" });
    expect(failed.structured).toMatchObject({ status: "failed" });
    const running = await startRun(server, "Second question");
    expect((await server.call("cancel_research", { task_id: running })).structured["status"]).toBe("cancelled");
    const anew = await startRun(server, "Second question");
    expect(new Set([failed.structured["task_id"], running, anew]).size).toBe(3);
  });

  test("joins a finished run with its report (I9)", async (context) => {
    const scene = await openResearch(context);
    const server = await scene.server();
    const task_id = await startRun(server);
    await untilStatus(server, task_id, "completed");
    const { structured } = await server.call(START, { query: QUERY });
    expect(structured).toMatchObject({ task_id, status: "completed", mode: "async", joined: true });
    expect(structured["results"].report).toContain(`# ${QUERY.slice(0, -1)}`);
    expect(scene.accepted()).toBe(1);
  });
});
