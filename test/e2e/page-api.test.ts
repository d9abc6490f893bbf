/** The dashboard's API over real HTTP: every route of src/web/wire.ts. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { firstScripts } from "../kit/browser/first-scripts.ts";
import { openPageServer, type PageServer, untilEnded } from "../kit/browser/page-api.ts";
import { QUERY, SLOW } from "../kit/server/research.ts";
import { ROOT } from "../kit/server/server.ts";

const UNKNOWN_ID = "00000000-0000-4000-8000-000000000000";

async function started(server: PageServer, more: object = {}, token?: string): Promise<string> {
  const { status, body } = await server.post("/api/research", { query: QUERY, agreed: false, ...more }, token);
  expect({ status, body }).toMatchObject({ status: 200, body: { status: "running_async" } });
  return body.task_id;
}

describe("the files of the page", () => {
  test("the shell is served at every address of the page, and the files are those of the build (A9)", async (context) => {
    const server = await (await openPageServer(context)).serve();
    for (const path of ["/", "/costs", `/runs/${UNKNOWN_ID}`]) {
      const { status, headers, body } = await server.browse(path);
      expect({ path, status, type: headers.get("content-type") }).toEqual({
        path,
        status: 200,
        type: "text/html; charset=utf-8",
      });
      expect(body).toContain('<div id="page"></div>');
      expect(body).not.toMatch(/ style=|<style| on\w+=/);
    }
    const { headers, body } = await server.browse("/assets/page.js");
    expect(body).toBe(readFileSync(join(ROOT, "dist/page/page.js"), "utf8"));
    const weight = firstScripts(join(ROOT, "dist/page")).reduce((sum, { length }) => sum + length, 0);
    expect(weight).toBeGreaterThan(gzipSync(body).length);
    expect(weight).toBeLessThanOrEqual(30 * 1_024);
    expect(headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(headers.get("cache-control")).toBe("no-cache");
    const again = await server.browse("/assets/page.js", { "if-none-match": headers.get("etag") ?? "" });
    expect(again.status).toBe(304);
    expect((await server.browse("/assets/page.css")).headers.get("content-type")).toBe("text/css; charset=utf-8");
  });

  test("no other file is served (A9)", async (context) => {
    const server = await (await openPageServer(context)).serve();
    for (const name of ["..%2fmain.js", "%2e%2e/main.js", "page.js%00", "..%5cmain.js", "", "PAGE.JS", "constructor"])
      // Some are no longer paths of the page when they are sent.
      expect([401, 404], name).toContain((await server.browse(`/assets/${name}`)).status);
  });
});

describe("the page's API", () => {
  test("estimates first, answers a start once Google accepted it, and joins an identical one (I1, I3, I9)", async (context) => {
    const scene = await openPageServer(context, SLOW);
    const server = await scene.serve({ RESEARCH_SYNC_WINDOW_MS: "20000" });
    const estimate = await server.post("/api/estimate", { query: QUERY });
    expect(estimate.body).toMatchObject({ estimated_cost: { likely_usd: expect.any(Number) } });
    expect(estimate.body).not.toHaveProperty("question");
    const { status, body } = await server.post("/api/research", { query: QUERY, agreed: false });
    expect({ status, body }).toMatchObject({ status: 200, body: { status: "running_async" } });
    expect(scene.accepted()).toBe(1);
    expect((await server.get(`/api/runs/${body.task_id}`)).body).toMatchObject({
      status: "running_async",
      client: "page",
      actions: ["cancel"],
      estimated_usd: estimate.body.estimated_cost.likely_usd,
      has_report: false,
    });
    const joined = await server.post("/api/research", { query: QUERY, agreed: false });
    expect(joined.body).toMatchObject({ task_id: body.task_id, joined: true });
    expect(scene.posts()).toBe(1);
  });

  test("starts an expensive research only with the user's consent (I8)", async (context) => {
    const scene = await openPageServer(context, SLOW);
    const server = await scene.serve({ RESEARCH_CONFIRM_ABOVE_USD: "0" });
    const { body } = await server.post("/api/estimate", { query: QUERY });
    const { text, subject } = body.question;
    expect(text).toMatch(/^This research will cost about \$/);
    const cheaper = { ...subject, max_usd: subject.max_usd - 0.5 };
    for (const agreed of [false, undefined, "true", true, 1, {}, cheaper]) {
      const refused = await server.post("/api/research", { query: QUERY, agreed });
      expect(refused).toMatchObject({
        status: 409,
        body: { success: false, error: { code: "CONFIRMATION_NEEDED", details: { question: body.question } } },
      });
    }
    expect(scene.posts()).toBe(0);
    await started(server, { agreed: subject });
    expect(scene.accepted()).toBe(1);
  });

  test("asks for consent to that very start: not for one that joins, but for a second one beside it (I9)", async (context) => {
    const scene = await openPageServer(context, SLOW);
    const server = await scene.serve({ RESEARCH_CONFIRM_ABOVE_USD: "0" });
    const questionOf = async (more: object = {}) =>
      (await server.post("/api/estimate", { query: QUERY, ...more })).body.question;
    await started(server, { agreed: (await questionOf()).subject });
    expect(await questionOf()).toBeUndefined();
    expect(await questionOf({ force_new: true })).toMatchObject({ text: expect.any(String) });
    expect(await questionOf({ language: "German" })).toMatchObject({ text: expect.any(String) });
    expect(await questionOf({ max_wait_hours: 24 })).toBeUndefined();
    expect(scene.accepted()).toBe(1);
  });

  test("cancels a run, and only once (L1)", async (context) => {
    const scene = await openPageServer(context, SLOW);
    const server = await scene.serve();
    const taskId = await started(server);
    const cancelled = await server.post(`/api/runs/${taskId}/cancel`, { save_partial: true });
    expect(cancelled).toMatchObject({ status: 200, body: { task_id: taskId, status: "cancelled" } });
    const { body } = await server.get(`/api/runs/${taskId}/timeline`);
    expect(body.entries.map(({ id }: { id: string }) => id).filter((id: string) => !id.startsWith("e1"))).toEqual(
      expect.arrayContaining(["created", "sent-1", "answered-1", "cancel", "ended-cancelled"]),
    );
    expect((await server.get(`/api/runs/${taskId}`)).body).toMatchObject({ status: "cancelled", actions: ["delete"] });
  });

  test("shows an unknown start as such, and adopts its id (I10, Q1)", async (context) => {
    const scene = await openPageServer(context, { ...SLOW, create: [{ fault: "accept-then-reset" }, {}] });
    const server = await scene.serve();
    const lost = await server.post("/api/research", { query: QUERY, agreed: false });
    expect(lost).toMatchObject({ status: 409, body: { error: { code: "START_UNKNOWN" }, status: "start_unknown" } });
    const path = `/api/runs/${lost.body.task_id}`;
    expect((await server.get(path)).body.actions).toEqual(["adopt", "restart", "cancel"]);
    expect(await server.post(`${path}/resume`, {})).toMatchObject({ status: 409 });
    const wrong = await server.post(`${path}/resume`, { interaction_id: "v1_not-there" });
    expect(wrong).toMatchObject({ status: 400, body: { error: { code: "INVALID_INPUT" } } });
    const interaction_id = scene.gemini.ledger.acceptedStarts()[0]?.id;
    expect(await server.post(`${path}/resume`, { interaction_id })).toMatchObject({
      status: 200,
      body: { status: "running_async" },
    });
    expect((await server.get(path)).body).toMatchObject({ interaction_id, actions: ["cancel"] });
  });

  test("restarts an unknown start only with the user's consent (I10, Q1)", async (context) => {
    const scene = await openPageServer(context, { ...SLOW, create: [{ fault: "accept-then-reset" }, {}] });
    const server = await scene.serve({ RESEARCH_CONFIRM_ABOVE_USD: "0" });
    const { subject } = (await server.post("/api/estimate", { query: QUERY })).body.question;
    const lost = await server.post("/api/research", { query: QUERY, agreed: subject });
    const path = `/api/runs/${lost.body.task_id}/resume`;
    const again = { accept_possible_double_charge: true };
    const refused = await server.post(path, again);
    expect(refused).toMatchObject({ body: { error: { code: "CONFIRMATION_NEEDED" } } });
    const { question } = refused.body.error.details;
    expect(question.text).toContain("counts the first start too");
    // A yes to the start is none to its repetition.
    expect(await server.post(path, { ...again, agreed: subject })).toMatchObject({ status: 409 });
    expect(scene.posts()).toBe(1);
    expect(await server.post(path, { ...again, agreed: question.subject })).toMatchObject({ status: 200 });
    expect(scene.posts()).toBe(2);
    const late = await server.post(path, { ...again, agreed: question.subject });
    expect(late).toMatchObject({ status: 200, body: { message: expect.stringContaining("Nothing was sent") } });
    expect(scene.posts()).toBe(2);
  });

  test("a yes to a restart is bound to the start that was shown, below the limit as well (I10, Q1)", async (context) => {
    const lost = { fault: "accept-then-reset" as const };
    const scene = await openPageServer(context, { ...SLOW, create: [lost, lost, {}] });
    const server = await scene.serve();
    const first = await server.post("/api/research", { query: QUERY });
    const path = `/api/runs/${first.body.task_id}`;
    const { question } = (await server.get(`${path}/restart`)).body;
    expect(question.text).toContain("counts the first start too");
    const again = { accept_possible_double_charge: true, agreed: question.subject };
    expect(await server.post(`${path}/resume`, again)).toMatchObject({ body: { error: { code: "START_UNKNOWN" } } });
    // The dialog of another window, opened before.
    const late = await server.post(`${path}/resume`, again);
    expect(late).toMatchObject({ body: { message: expect.stringContaining("Nothing was sent") } });
    expect(scene.posts()).toBe(2);
  });

  test("a yes to a plan, its change, a follow-up and a table starts just that (V1, V2, I10, T28)", async (context) => {
    const scene = await openPageServer(context);
    const server = await scene.serve({ RESEARCH_CONFIRM_ABOVE_USD: "0" });
    const agreedTo = async (path: string, body: object, question: { subject: unknown }) => {
      expect(await server.post(path, body)).toMatchObject({ body: { error: { code: "CONFIRMATION_NEEDED" } } });
      return server.post(path, { ...body, agreed: question.subject });
    };
    const { question } = (await server.post("/api/estimate", { query: QUERY, plan: true })).body;
    const planned = await agreedTo("/api/research", { query: QUERY, plan: true }, question);
    const path = `/api/runs/${planned.body.task_id}`;
    const untilStatus = async (status: string): Promise<void> =>
      await expect.poll(async () => (await server.get(path)).body.status, { timeout: 15_000 }).toBe(status);
    await untilStatus("awaiting_approval");
    const before = (await server.get(`${path}/plan`)).body;
    const change = { text: "Only Norway", turn: before.turn };
    expect(await agreedTo(`${path}/plan`, change, before.edit_question)).toMatchObject({ status: 200 });
    await untilStatus("awaiting_approval");
    const plan = (await server.get(`${path}/plan`)).body;
    const approve = `/api/runs/${plan.task_id}/approve`;
    const stale = await server.post(approve, { turn: plan.turn, agreed: before.question.subject });
    expect(stale).toMatchObject({ status: 409, body: { error: { code: "CONFIRMATION_NEEDED" } } });
    expect(await agreedTo(approve, { turn: plan.turn }, plan.question)).toMatchObject({ status: 200 });
    await untilStatus("completed");
    const offers = (await server.get(`${path}/conversation`)).body;
    const followup = { question: "And in apartments?" };
    const asked = await agreedTo(`/api/runs/${offers.next.task_id}/followup`, followup, offers.next.question);
    expect(asked).toMatchObject({ status: 200 });
    const table = { question: "Models and their noise", columns: ["Model", "Noise"] };
    expect(await agreedTo(`${path}/followup`, table, offers.table.question)).toMatchObject({ status: 200 });
    expect(scene.accepted()).toBe(5);
  });

  test("a start without a key has the next step, and a timeline in which nothing was sent (A3, I8)", async (context) => {
    const scene = await openPageServer(context);
    const server = await scene.serve({ GEMINI_API_KEY: "" });
    const { body } = await server.post("/api/research", { query: QUERY });
    const path = `/api/runs/${body.task_id}`;
    expect((await server.get(path)).body).toMatchObject({
      status: "failed",
      error: {
        message: "No Gemini API key is set.",
        suggestion: expect.stringMatching(/run gemini-search-mcp init, or set GEMINI_API_KEY; restart a server/),
      },
    });
    const timeline = (await server.get(`${path}/timeline`)).body.entries.map((entry: { text: string }) => entry.text);
    expect(timeline).toContain("The start failed; nothing was sent and nothing was charged");
    expect(timeline.join()).not.toContain("Sent to Google");
    expect(scene.posts()).toBe(0);
  });

  test("polls a failed run again (Q1)", async (context) => {
    const scene = await openPageServer(context, { status: "failed" });
    const server = await scene.serve();
    const taskId = await started(server);
    expect(await untilEnded(server, taskId)).toMatchObject({
      status: "failed",
      actions: ["poll_again", "delete"],
      error: { code: "RESEARCH_FAILED" },
    });
    expect(await server.post(`/api/runs/${taskId}/resume`, {})).toMatchObject({ status: 200 });
  });

  test("a run without a plan has none to read: 404 in the one error shape (V2, A6)", async (context) => {
    const server = await (await openPageServer(context, SLOW)).serve();
    const taskId = await started(server);
    expect(await server.get(`/api/runs/${taskId}/plan`)).toMatchObject({
      status: 404,
      body: { success: false, error: { code: "INVALID_INPUT", message: "This run has no plan." } },
    });
  });

  test("rejects bodies that are invalid, too large or not JSON in the one error shape (A6)", async (context) => {
    const server = await (await openPageServer(context)).serve();
    const { token } = server;
    const form = await server.request("/api/research", {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "text/plain" },
      body: JSON.stringify({ query: QUERY }),
    });
    expect(form.status).toBe(415);
    expect(await form.json()).toMatchObject({ success: false, error: { code: "INVALID_INPUT" } });
    const large = await server.post("/api/estimate", { query: "x".repeat(70_000) });
    expect(large).toMatchObject({ status: 413, body: { success: false } });
    for (const body of ["{", "[]", "null", "7", '"x"'])
      expect(await server.post("/api/research", body)).toMatchObject({ status: 400, body: { success: false } });
    expect(await server.post("/api/research", { query: "?" })).toMatchObject({
      status: 400,
      body: { error: { code: "INVALID_QUERY" } },
    });
    expect(await server.post("/api/research", { query: QUERY, owner: "ann" })).toMatchObject({
      status: 400,
      body: { error: { code: "INVALID_INPUT", message: 'There is no parameter "owner".' } },
    });
    expect(await server.get("/api/runs/nonsense")).toMatchObject({
      status: 400,
      body: { error: { code: "INVALID_TASK_ID" } },
    });
    for (const query of ["limit=0", "limit=101", "limit=x", "status=done", "cursor=%00", "cursor=abcd", "limit=1&x=1"])
      expect(await server.get(`/api/runs?${query}`), query).toMatchObject({ status: 400, body: { success: false } });
  });
});
