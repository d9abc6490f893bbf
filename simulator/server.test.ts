/** The simulator through the real Google SDK, plain HTTP for faults, and its control routes. */

import { type Candidate, ApiError, GoogleGenAI, type GenerateContentResponse } from "@google/genai";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Fault } from "./fault-names.ts";
import { keyFingerprint } from "./ledger.ts";
import type { ScenarioInput } from "./scenario.ts";
import { startSimulator, type Simulator } from "./server.ts";
import { fillPrompt } from "../test/kit/simulator/prompts.ts";

const MODEL = "gemini-3.8-flash";
const KEY = "secret-test-key";
const QUESTION = 'Is the café "old"? bob@cafe.example';
const SEARCH = { tools: [{ googleSearch: {} }, { urlContext: {} }] };

let simulator: Simulator;
let google: GoogleGenAI;

beforeEach(async () => {
  simulator = await startSimulator();
  google = new GoogleGenAI({ apiKey: KEY, apiVersion: "v1beta", httpOptions: { baseUrl: simulator.url } });
});

afterEach(() => simulator.close());

function ask(contents: string): Promise<GenerateContentResponse> {
  return google.models.generateContent({ model: MODEL, contents, config: SEARCH });
}

const search = (): Promise<GenerateContentResponse> => ask(fillPrompt("search", { query: QUESTION }));

const verify = (round: number): Promise<GenerateContentResponse> =>
  ask(fillPrompt("verify", { query: QUESTION, round: String(round), result: "# Before" }));

function jsonIn(text: string | undefined): Record<string, unknown> {
  const block = /^```json\n([\s\S]*)\n```$/.exec(text ?? "");
  return JSON.parse(block?.[1] ?? "null");
}

const statusesOf = (candidate: Candidate | undefined) =>
  candidate?.urlContextMetadata?.urlMetadata?.map((page) => page.urlRetrievalStatus?.replace(/^.*STATUS_/, ""));
describe("the SDK", () => {
  test("gets a report with grounding whose segments are byte ranges of the text", async () => {
    const response = await search();

    const [candidate] = response.candidates ?? [];
    const bytes = Buffer.from(response.text ?? "");
    const supports = candidate?.groundingMetadata?.groundingSupports ?? [];
    expect(supports.length).toBeGreaterThan(0);
    for (const { segment } of supports) {
      const covered = bytes.subarray(segment?.startIndex ?? 0, segment?.endIndex).toString();
      expect(covered).toBe(segment?.text);
    }
    const [chunk] = candidate?.groundingMetadata?.groundingChunks ?? [];
    expect(chunk?.web?.uri).toMatch(/^https:\/\/vertexaisearch\.cloud\.google\.com\//);
    expect(chunk?.web?.title).toMatch(/\.(?:test|example|example\.\w+)$/);
    expect(statusesOf(candidate)).toEqual(["SUCCESS", "SUCCESS", "ERROR", "ERROR"]);
    expect(candidate?.finishReason).toBe("STOP");
    expect(response.modelVersion).toBe(MODEL);
    expect(response.usageMetadata?.totalTokenCount).toBeGreaterThan(500);
    expect(jsonIn(response.text)).toMatchObject({ success: true, metadata: {} });
  });

  test("gets the same sources for the same question", async () => {
    const answers = await Promise.all([search(), search()]);
    expect(answers[0].text).toBe(answers[1].text);
  });

  test("gets the same answer as a stream, with the grounding at its end", async () => {
    const whole = await search();
    const stream = await google.models.generateContentStream({
      model: MODEL,
      contents: fillPrompt("search", { query: QUESTION }),
      config: { ...SEARCH, thinkingConfig: { includeThoughts: true } },
    });
    const chunks: GenerateContentResponse[] = [];
    for await (const chunk of stream) chunks.push(chunk);

    expect(chunks.length).toBeGreaterThan(3);
    // The SDK excludes thoughts from the text.
    expect(chunks.map((chunk) => chunk.text ?? "").join("")).toBe(whole.text);
    const last = chunks.at(-1)?.candidates?.[0];
    expect(last?.finishReason).toBe("STOP");
    expect(last?.groundingMetadata).toEqual(whole.candidates?.[0]?.groundingMetadata);
  });

  test("gets plain addresses if the scenario says so", async () => {
    simulator.setScenario({ name: "plain", plain_urls: true });
    const metadata = (await search()).candidates?.[0]?.groundingMetadata;
    const uris = metadata?.groundingChunks?.map((chunk) => chunk.web?.uri);
    expect(uris).toHaveLength(3);
    expect(jsonIn((await search()).text)).toMatchObject({ metadata: { sources_visited: uris } });
  });

  test("gets plain text for a prompt without a task", async () => {
    const response = await google.models.generateContent({ model: MODEL, contents: "Hello" });
    expect(response.text).toBe("This is the Gemini simulator. It knows no such task.");
  });
});

describe("scenarios", () => {
  test("`good` verifies in round 3 and keeps what earlier rounds found", async () => {
    const second = jsonIn((await verify(2)).text);
    const third = jsonIn((await verify(3)).text);
    expect([second["verified"], third["verified"]]).toEqual([false, true]);
    expect(third["report"]).toMatch(/^# Before\n\n## Checked in round 3\n/);
  });

  test("a correction converts prose, report and pages included", async () => {
    simulator.setScenario("bad-json");
    const prose = (await search()).text ?? "";
    const fixed = jsonIn((await ask(fillPrompt("correction", { output: prose }))).text);
    expect(fixed).toMatchObject({ success: true, report: prose.trim() });
    expect(fixed).not.toHaveProperty("verified");
  });

  test("`truncated` stops inside the report, with its finish reason", async () => {
    simulator.setScenario("truncated");
    const response = await search();
    expect(response.candidates?.[0]?.finishReason).toBe("MAX_TOKENS");
    expect(response.text).not.toContain("metadata");
  });

  test("`overloaded` ends after two refusals", async () => {
    simulator.setScenario("overloaded");
    await expect(search()).rejects.toMatchObject({ status: 503 });
    await expect(search()).rejects.toMatchObject({ status: 503 });
    expect((await search()).text).toContain("success");
    const served = simulator.ledger.entries().map((entry) => entry.served);
    expect(served).toEqual(["http-503", "http-503", "good"]);
  });

  test("an empty answer has content without parts", async () => {
    simulator.setScenario(searching({ answer: "empty" }));
    const response = await search();
    expect(response.text).toBeUndefined();
    expect(response.candidates?.[0]?.content).toEqual({ role: "model" });
  });

  test("an unknown scenario is rejected", () => {
    expect(() => simulator.setScenario("nope")).toThrow(/no scenario "nope"/);
  });
});

type StepInput = NonNullable<NonNullable<ScenarioInput["tasks"]>["search"]>[number];

const searching = (step: StepInput): ScenarioInput => ({
  name: "searching",
  tasks: { search: [step] },
});

function post(init: RequestInit = {}, path = `/v1beta/models/${MODEL}:generateContent`): Promise<Response> {
  const text = fillPrompt("search", { query: QUESTION });
  const body = JSON.stringify({ contents: [{ role: "user", parts: [{ text }] }] });
  const headers = { "x-goog-api-key": KEY };
  return fetch(simulator.url + path, { method: "POST", headers, body, ...init });
}

describe("faults", () => {
  test.each<[Fault, number]>([
    ["http-400", 400],
    ["http-401", 401],
    ["http-403", 403],
    ["http-404", 404],
    ["http-429", 429],
    ["http-500", 500],
  ])("%s is Google's error of that status", async (fault, status) => {
    simulator.setScenario(searching({ fault }));
    const error: unknown = await search().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status });
  });

  test("a rate limit with a date has it in header and body", async () => {
    simulator.setScenario(searching({ fault: "http-429-retry-after" }));
    const response = await post();
    expect(response.headers.get("retry-after")).toBe("1");
    expect(await response.text()).toContain('"retryDelay": "1s"');
  });

  test("a reset before the answer fails the request", async () => {
    simulator.setScenario(searching({ fault: "reset-before" }));
    await expect(post()).rejects.toThrow("fetch failed");
    expect(simulator.ledger.entries()[0]).toMatchObject({ served: "reset-before", outcome: "cut" });
  });

  test("a reset in the middle follows the head and half a body", async () => {
    simulator.setScenario(searching({ fault: "reset-mid-body" }));
    const response = await post();
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
    expect(simulator.ledger.entries()[0]).toMatchObject({ outcome: "cut", status: 200 });
  });

  test("a hanging request ends when its client disconnects, which the ledger records", async () => {
    simulator.setScenario(searching({ fault: "hang" }));
    await expect(post({ signal: AbortSignal.timeout(500) })).rejects.toThrow();
    await expect.poll(() => simulator.ledger.entries()[0]?.outcome).toBe("aborted");
  });

  test("a hanging request does not keep the simulator open", async () => {
    simulator.setScenario(searching({ fault: "hang" }));
    const hanging = post().catch(() => "ended");
    await expect.poll(() => simulator.ledger.count()).toBe(1);
    await simulator.close();
    expect(await hanging).toBe("ended");
  });

  test("HTML with status 200 and truncated JSON arrive as complete bodies", async () => {
    simulator.setScenario(searching({ fault: "html-200" }));
    expect(await (await post()).text()).toMatch(/^<!DOCTYPE html>/);
    simulator.setScenario(searching({ fault: "malformed-json" }));
    await expect((await post()).json()).rejects.toThrow(SyntaxError);
  });

  test("a slow body arrives in many chunks and is complete", async () => {
    simulator.setScenario(searching({ fault: "slow-drip" }));
    const started = performance.now();
    const body = await (await post()).json();
    expect(body).toHaveProperty("candidates");
    expect(performance.now() - started).toBeGreaterThan(1500);
  });

  test("latency delays the first byte", async () => {
    simulator.setScenario(searching({ latency_ms: 200 }));
    const started = performance.now();
    await post();
    expect(performance.now() - started).toBeGreaterThan(190);
  });
});

describe("keys and routes", () => {
  test("a request without a key is refused as by Google", async () => {
    const response = await post({ headers: {} });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ error: { status: "PERMISSION_DENIED" } });
  });

  test("a scenario can reject the key", async () => {
    simulator.setScenario({ name: "bad-key", refuses: "key-invalid" });
    const response = await post();
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("API_KEY_INVALID");
    expect(simulator.ledger.entries()[0]).toMatchObject({ kind: "search", served: "key-invalid" });
  });

  test("another version and a path prefix are served in the same way", async () => {
    const response = await post({}, `/proxy/v1/models/${MODEL}:generateContent`);
    expect(response.status).toBe(200);
  });

  test("unreadable bodies and unknown paths are refused and recorded", async () => {
    expect((await post({ body: "{" })).status).toBe(400);
    expect((await post({}, "/v1beta/nothing")).status).toBe(404);
    const served = simulator.ledger.entries().map((entry) => entry.served);
    expect(served).toEqual(["body-invalid", "route-unknown"]);
  });
});

describe("the ledger", () => {
  test("holds each request, and of the key only a fingerprint", async () => {
    await search();
    await verify(2);
    const [first, second] = simulator.ledger.entries();
    expect(first).toMatchObject({
      n: 1,
      method: "POST",
      path: `/v1beta/models/${MODEL}:generateContent`,
      model: MODEL,
      kind: "search",
      turn: "opening",
      question: QUESTION,
      tools: ["googleSearch", "urlContext"],
      key: keyFingerprint(KEY),
      served: "good",
      outcome: "completed",
      status: 200,
    });
    expect(second).toMatchObject({ kind: "verify", round: 2, served: "unverified" });
    expect(simulator.ledger.countByKind()).toEqual({ search: 1, verify: 1 });
    expect(simulator.ledger.totalBytes()).toBe((first?.bytes ?? 0) + (second?.bytes ?? 0));
    expect(JSON.stringify(simulator.ledger.entries())).not.toContain(KEY);
  });

  test("can be read and reset, and the scenario changed, from another process", async () => {
    const control = (path: string, body?: string): Promise<Response> =>
      fetch(`${simulator.url}/__simulator/${path}`, body === undefined ? {} : { method: "POST", body });

    expect((await control("scenario", '"overloaded"')).status).toBe(200);
    await post();
    expect(await (await control("ledger")).json()).toMatchObject({
      entries: [{ served: "http-503" }],
      count_by_kind: { search: 1 },
    });
    await control("reset", "");
    await post();
    expect(simulator.ledger.entries()).toMatchObject([{ n: 1, served: "http-503" }]);
    expect((await control("scenario", '{"name":"x","typo":1}')).status).toBe(400);
  });
});
