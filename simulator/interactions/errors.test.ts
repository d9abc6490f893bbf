/** The errors of the Interactions API in the forms in which Google sends them. */

import { expect, test } from "vitest";
import { ERROR_NAMES, errorNamed } from "../google-errors.ts";
import { KEY, openResearch, START, WHOLE_MS } from "../../test/kit/simulator/interactions-client.ts";
import type { Simulator } from "../server.ts";
import { interactionsError } from "./errors.ts";

async function send({ url }: Simulator, path: string, init: { body?: object; key?: string; method?: string } = {}) {
  const { body, key = KEY, method = body === undefined ? "GET" : "POST" } = init;
  const response = await fetch(`${url}/v1beta/interactions${path}`, {
    method,
    headers: key === "" ? {} : { "x-goog-api-key": key },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
}

test("every error has a message and a code in letters, or the form of Google's front end", () => {
  const codes = ERROR_NAMES.map((name) => {
    const { frames } = interactionsError(name, { form: "string" });
    const body = JSON.parse(frames.join(""));
    return { name, code: (Array.isArray(body) ? body[0] : body).error.code };
  });
  const numeric = codes.filter(({ code }) => typeof code === "number").map(({ name }) => name);
  expect(numeric).toEqual(["key-missing", "key-invalid", "http-408", "http-409", "http-413", "http-503-front-end"]);
  expect(codes).toContainEqual({ name: "http-402", code: "payment_required" });
  expect(codes).toContainEqual({ name: "http-401", code: "authentication" });
  expect(codes).toContainEqual({ name: "location-unsupported", code: "failed_precondition" });
});

test("errors of the key are arrays with status and details", async () => {
  const { simulator } = await openResearch();
  const missing = await send(simulator, "", { body: START, key: "" });
  expect([missing.status, JSON.parse(missing.text)]).toMatchObject([
    403,
    [{ error: { code: 403, status: "PERMISSION_DENIED" } }],
  ]);
  simulator.setScenario({ name: "bad-key", refuses: "key-invalid" });
  const invalid = await send(simulator, "", { body: START });
  expect([invalid.status, JSON.parse(invalid.text)]).toMatchObject([
    400,
    [{ error: { code: 400, status: "INVALID_ARGUMENT", details: [{ reason: "API_KEY_INVALID" }, {}] } }],
  ]);
});

test("a question that is refused is not stored, and in a stream the refusal is one bare line", async () => {
  const { simulator } = await openResearch({ create: [{ fault: "content-prohibited" }] });
  const refused = await send(simulator, "", { body: START });
  expect([refused.status, JSON.parse(refused.text)]).toMatchObject([400, { error: { code: "prohibited_content" } }]);
  const streamed = await send(simulator, "", { body: { ...START, stream: true } });
  expect(streamed.type).toBe("text/event-stream");
  expect(streamed.text).toMatch(/^\{"error":.*"prohibited_content"\}\}\n$/);
  expect(simulator.ledger.acceptedStarts()).toEqual([]);
});

test("labels can be refused, and the same start without them is accepted", async () => {
  const { simulator, start } = await openResearch({ labels_refused: true });
  await expect(start()).rejects.toMatchObject({ status: 400 });
  expect(await start({ labels: undefined })).toMatchObject({ status: "in_progress" });
  expect(simulator.ledger.acceptedStarts()).toHaveLength(1);
});

test("a finished run cannot be cancelled, and a name that is no id is invalid", async () => {
  const { simulator, start } = await openResearch();
  const { id } = await start();
  simulator.skip(WHOLE_MS);
  const cancelled = await send(simulator, `/${id}/cancel`, { body: {} });
  const message = "Interaction is already completed.";
  expect([cancelled.status, JSON.parse(cancelled.text)]).toEqual([
    400,
    { error: { message, code: "invalid_request" } },
  ]);
  const unnamed = await send(simulator, "/heat-pumps");
  expect(unnamed.text).toContain("Invalid interaction name: interactions/heat-pumps");
  expect((await send(simulator, "/v1_heat-pumps")).status).toBe(404);
});

test("an incomplete run may have no steps, or only a thought", async () => {
  const { start, poll } = await openResearch({
    status: "incomplete",
    duration_ms: 0,
    create: [{ life: { steps: "none" } }, { life: { steps: "thought", text: "none" } }],
  });
  const raw = async (): Promise<string[]> => {
    const { steps } = await poll((await start()).id);
    return steps.map(({ type }) => type);
  };
  // The SDK adds an empty list.
  expect(await raw()).toEqual([]);
  expect(await raw()).toEqual(["user_input", "thought"]);
});

test("a quota error keeps its Retry-After in letters as well", () => {
  const { headers, frames } = interactionsError("http-429-retry-after", { form: "string" });
  expect(headers).toMatchObject({ "retry-after": "1" });
  const { message } = errorNamed("http-429-retry-after");
  expect(JSON.parse(frames.join(""))).toEqual({ error: { message, code: "rate_limit_exceeded" } });
});
