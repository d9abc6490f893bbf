/**
 * Google unreachable, refusing or failing: our own messages, the expected number of requests, and no text of Google's.
 */

import { describe, expect, test } from "vitest";
import { type ErrorName, errorReply } from "../../simulator/google-errors.ts";
import type { Fault, ScenarioInput } from "../../simulator/scenario.ts";
import { missingFromText } from "../kit/server/answer-leaves.ts";
import { openScene } from "../kit/server/scene.ts";
import { TEST_KEY } from "../kit/server/server.ts";

const QUERY = "How do heat pumps perform in cold climates?";

interface Expected {
  fault: Fault;
  code: string;
  message: RegExp;
  requests: number;
}

const FAULTS: Expected[] = [
  { fault: "http-400", code: "EXECUTION_ERROR", message: /^Google rejected the request \(HTTP 400\)\.$/, requests: 1 },
  { fault: "http-401", code: "GEMINI_UNAVAILABLE", message: /^Google rejected the API key\.$/, requests: 1 },
  { fault: "http-403", code: "GEMINI_UNAVAILABLE", message: /^Google does not allow this key/, requests: 1 },
  {
    fault: "http-404",
    code: "EXECUTION_ERROR",
    message: /does not recognise the model gemini-3\.8-flash\.$/,
    requests: 1,
  },
  { fault: "http-429", code: "GEMINI_UNAVAILABLE", message: /^Google's quota for this key is used up/, requests: 3 },
  { fault: "http-500", code: "GEMINI_UNAVAILABLE", message: /overloaded or failing \(HTTP 500\)/, requests: 3 },
  { fault: "reset-before", code: "GEMINI_UNAVAILABLE", message: /^The connection to Google's service/, requests: 3 },
  { fault: "hang", code: "EXECUTION_ERROR", message: /^Gemini did not finish within 5 s\./, requests: 1 },
  { fault: "html-200", code: "GEMINI_UNAVAILABLE", message: /^Something other than Google answered/, requests: 3 },
];

const searching = (...faults: Fault[]): ScenarioInput => ({
  name: faults.join(", "),
  tasks: { search: faults.map((fault) => ({ fault })) },
});

const isGoogleError = (fault: Fault): fault is Fault & ErrorName => fault.startsWith("http-");

/** The texts in the simulated Google's error body. */
function upstreamWords(fault: Fault): string[] {
  if (fault === "html-200") return ["Sign in", "<html", "DOCTYPE"];
  if (!isGoogleError(fault)) return [];
  const { error } = JSON.parse(errorReply(fault).frames.join(""));
  return [error.message, error.status];
}

describe.concurrent("a fault of the API", () => {
  test.for(FAULTS)("$fault is $code after $requests request(s) (A6, C8, E5)", async (expected, context) => {
    const { fault, code, message, requests } = expected;
    const scene = await openScene(context, searching(fault));
    const server = await scene.server({ env: fault === "hang" ? { GEMINI_SEARCH_TIMEOUT: "5000" } : {} });
    const { isError, structured, text } = await server.call("search", { query: QUERY });
    expect(isError).toBe(true);
    expect(structured).toMatchObject({
      success: false,
      error: { code, message: expect.stringMatching(message), suggestion: expect.stringMatching(/\.$/) },
      status: "failed",
    });
    expect(missingFromText(text, structured)).toEqual([]);
    expect(scene.gemini.ledger.countByKind()).toEqual({ search: requests });
    const everything = JSON.stringify(structured) + text + server.stderr();
    for (const secret of [...upstreamWords(fault), TEST_KEY, "    at "]) expect(everything).not.toContain(secret);
    const warnings = server.stderr().match(/^\[WARN\] Main search failed: /gm) ?? [];
    expect(warnings).toHaveLength(requests);
  });

  test("that is temporary is retried until it ends (E1)", async (context) => {
    const scene = await openScene(context, "overloaded");
    const server = await scene.server();
    const { structured } = await server.call("search", { query: QUERY });
    expect(structured["success"]).toBe(true);
    const entries = scene.gemini.ledger.entries();
    expect(entries.map((entry) => entry.served)).toEqual(["http-503", "http-503", "good"]);
    expect((entries[1]?.at ?? 0) - (entries[0]?.at ?? 0)).toBeGreaterThanOrEqual(990);
    expect((entries[2]?.at ?? 0) - (entries[1]?.at ?? 0)).toBeGreaterThanOrEqual(1_990);
  });

  test("keeps the text received before the connection broke, whatever later retries meet (E6)", async (context) => {
    // Half of a complete response contains all of its text; the rest is grounding metadata.
    const steps = [{ answer: "truncated" as const, fault: "reset-mid-body" as const }, { fault: "http-503" as const }];
    const scene = await openScene(context, { name: "broken twice", tasks: { search: steps } });
    const server = await scene.server({ env: { JSON_MAX_RETRIES: "2" } });
    const { structured } = await server.call("search", { query: QUERY });
    expect(structured["error"]).toMatchObject({
      code: "GEMINI_UNAVAILABLE",
      message: expect.stringContaining("HTTP 503"),
      details: { partial_text: expect.stringContaining("**In short:**") },
    });
    const stored = await server.call("get_research_results", { task_id: structured["task_id"] });
    expect(stored.structured).toMatchObject({ success: true, partial: true, status: "failed" });
    expect(stored.structured["report"]).toContain("**In short:**");
  });

  test("that is an invalid key is named as such, and the key is never printed, with DEBUG or without (A6, B7)", async (context) => {
    const scene = await openScene(context, { name: "bad-key", refuses: "key-invalid" });
    const server = await scene.server({ env: { DEBUG: "true" } });
    const { structured, text } = await server.call("search", { query: QUERY });
    expect(structured["error"]).toMatchObject({ code: "GEMINI_UNAVAILABLE", message: "Google rejected the API key." });
    expect(scene.gemini.ledger.count()).toBe(1);
    expect(server.stderr()).toContain("[DEBUG] Gemini API: ");
    expect(JSON.stringify(structured) + text + server.stderr()).not.toContain(TEST_KEY);
    expect(JSON.stringify(structured)).not.toContain("API_KEY_INVALID");
  });
});
