/** Unusual endings of generateContent: our own messages, and no request that cannot succeed. */

import { describe, expect, test } from "vitest";
import { missingFromText } from "../kit/server/answer-leaves.ts";
import { openScene } from "../kit/server/scene.ts";

const QUERY = "How do heat pumps perform in cold climates?";

interface Ending {
  preset: string;
  code: string;
  message: RegExp;
  requests: number;
}

const ENDINGS: Ending[] = [
  { preset: "stopped-safety", code: "EXECUTION_ERROR", message: /^Google's safety filter stopped/, requests: 1 },
  { preset: "stopped-safety-late", code: "EXECUTION_ERROR", message: /^Google's safety filter stopped/, requests: 1 },
  { preset: "stopped-recitation", code: "EXECUTION_ERROR", message: /repeated a source word for word/, requests: 1 },
  { preset: "stopped-prohibited", code: "EXECUTION_ERROR", message: /rules prohibit such content/, requests: 1 },
  { preset: "stopped-model-armor", code: "EXECUTION_ERROR", message: /^Model Armor stopped the answer/, requests: 1 },
  { preset: "prompt-blocked", code: "EXECUTION_ERROR", message: /^Google refused the question/, requests: 1 },
  { preset: "prompt-blocked-model-armor", code: "EXECUTION_ERROR", message: /^Model Armor refused/, requests: 1 },
  { preset: "location-unsupported", code: "GEMINI_UNAVAILABLE", message: /at this server's location/, requests: 1 },
  { preset: "interactions-only", code: "EXECUTION_ERROR", message: /the Interactions API only/, requests: 1 },
  { preset: "thoughts-only", code: "EXECUTION_ERROR", message: /all its output tokens on thinking/, requests: 2 },
  { preset: "stopped-malformed-call", code: "EXECUTION_ERROR", message: /a malformed tool call/, requests: 3 },
  { preset: "stopped-other", code: "EXECUTION_ERROR", message: /without text and without a reason/, requests: 3 },
  { preset: "stream-error", code: "GEMINI_UNAVAILABLE", message: /overloaded or failing/, requests: 3 },
  { preset: "stream-inside-frame", code: "EXECUTION_ERROR", message: /^The answer ended before/, requests: 3 },
];

describe.concurrent("an answer of the API", () => {
  test.for(ENDINGS)("that ends as $preset costs $requests request(s) and says why (S4)", async (ending, context) => {
    const { preset, code, message, requests } = ending;
    const scene = await openScene(context, preset);
    const server = await scene.server();
    const { isError, structured, text } = await server.call("search", { query: QUERY });
    expect(structured).toMatchObject({
      success: false,
      error: { code, message: expect.stringMatching(message), suggestion: expect.stringMatching(/\.$/) },
    });
    expect(isError).toBe(true);
    expect(missingFromText(text, structured)).toEqual([]);
    expect(scene.gemini.ledger.countByKind()).toEqual({ search: requests });
  });

  test("that is stopped late keeps its text, and its cost is counted (E6, P6)", async (context) => {
    const scene = await openScene(context, "stopped-safety-late");
    const server = await scene.server();
    const { structured } = await server.call("search", { query: QUERY });
    expect(structured["error"].details.partial_text).toContain("# How do heat pumps");
    const listed = await server.call("list_research", {});
    expect(listed.structured["runs"][0]).toMatchObject({ status: "failed", cost_usd: expect.any(Number) });
    expect(listed.structured["runs"][0].cost_usd).toBeGreaterThan(0);
  });

  test.for(["no-evidence", "bare-evidence"])(
    "with %s is still an answer, without failed pages (S5)",
    async (preset, context) => {
      const scene = await openScene(context, preset);
      const server = await scene.server();
      const { structured } = await server.call("search", { query: QUERY });
      expect(structured["success"]).toBe(true);
      const visited: string[] = structured["metadata"].sources_visited;
      expect(visited).toHaveLength(2);
      expect(visited.join(" ")).not.toContain("unreachable.example");
    },
  );

  test("with impossible token counts has no negative cost, and is logged (P6)", async (context) => {
    const scene = await openScene(context, "impossible-usage");
    const server = await scene.server();
    const { structured } = await server.call("search", { query: QUERY });
    expect(structured["metadata"].tokens_used).toEqual({ input: expect.any(Number), output: 0 });
    expect(structured["metadata"].tokens_used.input).toBeGreaterThan(0);
    expect(structured["metadata"]).toMatchObject({ cost_usd: expect.any(Number), cost_incomplete: true });
    expect(structured["metadata"].cost_usd).toBeGreaterThan(0);
    expect(server.stderr()).toContain("[WARN] Google reported implausible token counts");
  });

  test("without token counts costs an unknown amount, not nothing (S6)", async (context) => {
    const scene = await openScene(context, "no-usage");
    const server = await scene.server();
    const { structured } = await server.call("search", { query: QUERY });
    expect(structured["metadata"]).toMatchObject({ tokens_used: { input: 0, output: 0 }, cost_incomplete: true });
    expect((await scene.command(["list"])).stdout).toContain("≥");
  });

  test.for(["gemini-4-argon", "gemini-4-carbon"])(
    "of %s is requested with its whole output, without sampling, and has a listed price (S6)",
    async (model, context) => {
      const scene = await openScene(context, "good");
      const server = await scene.server({ env: { GEMINI_MODEL: model } });
      const { structured } = await server.call("search", { query: QUERY });
      expect(structured["metadata"]).toMatchObject({ model, cost_usd: expect.any(Number) });
      expect(structured["metadata"]).not.toHaveProperty("cost_estimated");
      expect(scene.gemini.ledger.entries()[0]?.generationConfig).toEqual({ maxOutputTokens: 65_536 });
    },
  );
});
