/** Parsing interactions: all schemas and statuses so far, byte ranges, and garbage, which must never throw. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Interaction } from "../research-agent.ts";
import { readInteraction, readUsage, readStatus } from "./reader.ts";

const read = (raw: object): Interaction => {
  const interaction = readInteraction({ id: "v1_abc", status: "completed", ...raw });
  if (interaction === undefined) throw new Error("An interaction with an id must be readable.");
  return interaction;
};

describe("an interaction", () => {
  test.each([
    ["queued", "working"],
    ["in_progress", "working"],
    ["requires_continuation", "working"],
    ["completed", "completed"],
    ["failed", "failed"],
    ["cancelled", "cancelled"],
    ["incomplete", "ended_early"],
    ["budget_exceeded", "ended_early"],
    ["requires_action", "ended_early"],
    ["hibernating", "unknown"],
    ["", "unknown"],
    ["constructor", "unknown"],
    ["__proto__", "unknown"],
  ])("with status `%s` is %s (P1)", (raw, status) => {
    expect(readStatus(raw)).toBe(status);
    expect(read({ status: raw })).toMatchObject({ status, rawStatus: raw });
  });

  test("counts tokens of tools and thoughts; missing and all-zero usage is not reported yet (P6)", () => {
    const usage = {
      total_input_tokens: 100,
      total_tool_use_tokens: 20,
      total_output_tokens: 7,
      total_thought_tokens: 3,
      total_cached_tokens: 50,
      grounding_tool_count: [
        { type: "google_search", count: 4 },
        { type: "google_maps", count: 9 },
        { type: "google_search", count: 2 },
      ],
    };
    expect(read({ usage }).usage).toEqual({ input: 120, output: 10, cached: 50, searches: 6 });
    for (const none of [undefined, null, {}, { total_input_tokens: 0 }, { total_input_tokens: "5" }, []]) {
      expect(readUsage(none)).toBeUndefined();
    }
  });

  test("with a token count that cannot be true has unknown usage, never a cost (P6)", () => {
    const good = { total_input_tokens: 5, total_output_tokens: 7 };
    for (const bad of [Infinity, -5, 1e16, "7", {}, 2 ** 53]) {
      for (const name of ["total_input_tokens", "total_tool_use_tokens", "total_thought_tokens"]) {
        expect(readUsage({ ...good, [name]: bad })).toBeUndefined();
      }
    }
    const odd = { total_cached_tokens: -1, grounding_tool_count: [{ type: "google_search", count: -1e308 }] };
    expect(readUsage({ ...good, ...odd })).toEqual({ input: 5, output: 7, cached: 0, searches: 0 });
  });

  test("has fractional counts rounded up, and no more cached than sent (P6)", () => {
    const usage = { total_input_tokens: 4.5, total_output_tokens: 7.01, total_cached_tokens: 99 };
    expect(readUsage(usage)).toEqual({ input: 5, output: 8, cached: 5, searches: 0 });
  });

  test("has thought summaries as a list or a text, and searches by call (J3)", () => {
    const steps = [
      { type: "thought", summary: [{ type: "text", text: "One" }, { type: "text" }, { type: "text", text: "Two" }] },
      { type: "thought", summary: "Three" },
      { type: "thought" },
      { type: "google_search_call", arguments: { queries: ["a", "b"] } },
      { type: "google_search_call" },
    ];
    expect(read({ steps })).toMatchObject({ thoughts: ["One", "Two", "Three"], searches: ["a", "b", ""] });
  });

  test("is kept as received, without the SDK's own transport fields (P6)", () => {
    const { raw } = read({ steps: [], sdkHttpResponse: { headers: { "x-secret": "1" } }, later_field: { kept: true } });
    expect(raw).toEqual({ id: "v1_abc", status: "completed", steps: [], later_field: { kept: true } });
  });
});

describe("invalid JSON", () => {
  test("without an id is no interaction (P1)", () => {
    for (const raw of [undefined, null, 42, "text", [], {}, { id: "" }, { id: 7 }, [{ id: "x" }]]) {
      expect(readInteraction(raw)).toBeUndefined();
    }
  });

  const word = fc.constantFrom(
    "text",
    "image",
    "model_output",
    "thought",
    "google_search_call",
    "completed",
    "__proto__",
  );
  const names =
    "id status steps outputs content type text annotations url start_index end_index usage summary arguments queries grounding_tool_count count total_input_tokens agent";
  const key = fc.constantFrom(...names.split(" "));
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 6 },
      word,
      fc.double({ noNaN: true }),
      fc.string({ unit: "binary" }),
      fc.constantFrom(null, true),
      fc.array(tie("tree"), { maxLength: 4 }),
      fc.dictionary(key, tie("tree"), { maxKeys: 6 }),
    ),
  }));

  test("is read without throwing, and without citations that are not in the report (K1, P1)", () => {
    fc.assert(
      fc.property(fc.dictionary(key, tree), fc.array(fc.dictionary(key, tree)), (raw, content) => {
        const steps = [
          { type: "model_output", content: content.map((part) => ({ type: "text", text: "ä", ...part })) },
        ];
        for (const given of [
          { ...raw, id: "v1_x" },
          { id: "v1_x", steps },
        ]) {
          const { report, citations, sources } = read(given);
          const bytes = Buffer.byteLength(report);
          for (const { startByte, endByte, sourceIndex } of citations) {
            expect(startByte >= 0 && startByte < endByte && endByte <= bytes && sourceIndex < sources.length).toBe(
              true,
            );
          }
        }
        readInteraction(raw);
      }),
      { numRuns: 500 },
    );
  });
});
