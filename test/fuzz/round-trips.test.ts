/** Well-formed input is read back unchanged: parse(serialise(x)) = x. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { createOutputReader } from "../../src/gemini/cli/output.ts";
import { readInteraction } from "../../src/gemini/interactions/reader.ts";
import { cleanText } from "../../src/platform/clean-text.ts";
import { cleanValue } from "../../src/platform/clean-text.ts";
import { progressBySeen } from "../../src/runs/history/run-estimate.ts";
import { extractJsonFromOutput } from "../../src/search/extract-json.ts";
import { DEEP_SEARCH_SCHEMA } from "../../src/search/schemas.ts";

const RUNS = { numRuns: 1_000 };

/** Words, punctuation and line breaks of many kinds, without what parsing removes on purpose. */
const prose = fc
  .array(
    fc.oneof(
      fc.constantFrom(..."\"'`\\{}[]#*:,/\n\t", '"}', "```json\n", '"success": true', "é", "日本", "😀"),
      fc.lorem({ maxCount: 2 }),
    ),
  )
  .map((parts) => `Answer: ${parts.join(" ")}`);

const answer = fc.record({
  success: fc.constant(true),
  verified: fc.boolean(),
  report: prose,
  metadata: fc.record({ sources_visited: fc.array(fc.webUrl()), search_queries_used: fc.array(prose) }),
});

const ENVELOPES: readonly ((json: string) => string)[] = [
  (json) => json,
  (json) => `\`\`\`json\n${json}\n\`\`\``,
  (json) => `Here is what I found:\n\n${json}\n\nI hope it helps.`,
  (json) => JSON.stringify({ response: json }),
];

test("an undamaged answer is read back unchanged, in every envelope (D1)", () => {
  fc.assert(
    fc.property(answer, fc.constantFrom(...ENVELOPES), fc.constantFrom(0, 2), (written, wrap, indent) => {
      const found = extractJsonFromOutput(wrap(JSON.stringify(written, null, indent)), DEEP_SEARCH_SCHEMA);
      expect(found).toEqual({ kind: "valid", answer: { ...written, checks: [] }, repaired: false });
    }),
    RUNS,
  );
});

/** A report is cleaned of everything else where it is read. */
const visibleText = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => cleanText(text) === text);

test("a report in parts is read back whole, and each citation quotes its own part (K1)", () => {
  fc.assert(
    fc.property(fc.array(visibleText, { minLength: 1 }), (parts) => {
      const content = parts.map((text, n) => {
        const annotations = [{ url: `https://a.example/${n}`, start_index: 0, end_index: Buffer.byteLength(text) }];
        return { type: "text", text, annotations };
      });
      const read = readInteraction(
        JSON.parse(JSON.stringify({ id: "v1", steps: [{ type: "model_output", content }] })),
      );
      expect(read?.report).toBe(parts.join(""));
      expect(read?.citations.map(({ start, end }) => read.report.slice(start, end))).toEqual(parts);
      expect(read?.sources).toHaveLength(parts.length);
    }),
    RUNS,
  );
});

test("a stream of the CLI is read back unchanged (C7)", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" }), { minLength: 1 }), (texts) => {
      const reader = createOutputReader({ onActivity: () => {}, onFinished: () => {} });
      for (const content of texts) reader.push(`${JSON.stringify({ type: "message", role: "assistant", content })}\n`);
      reader.push('{"type":"result","status":"success"}');
      expect(reader.finish()).toMatchObject({
        text: texts.join(""),
        finished: true,
        succeeded: true,
      });
    }),
    RUNS,
  );
});

test("cleaning keeps the shape of a value, hostile keys as plain ones (T24)", () => {
  fc.assert(
    fc.property(fc.jsonValue({ depthSize: "medium" }), (value) => {
      const clean = cleanValue<unknown>({ ["__proto__"]: value, value });
      expect(Object.getPrototypeOf(clean)).toBe(Object.prototype);
      expect(JSON.stringify(cleanValue(clean))).toBe(JSON.stringify(clean));
    }),
    RUNS,
  );
});

test("progress is from 0 to 90, 0 only if nothing was seen, and never falls when more is seen (J2)", () => {
  const sign = fc.record({
    agent: fc.constantFrom("deep-research-preview-04-2026", "deep-research-max-preview-04-2026"),
    searches: fc.nat(1_000),
    thoughts: fc.nat(1_000),
  });
  fc.assert(
    fc.property(sign, fc.nat(100), fc.nat(100), ({ agent, searches, thoughts }, moreSearches, moreThoughts) => {
      const progress = progressBySeen(agent, { searches, thoughts });
      expect(progress).toBeLessThanOrEqual(90);
      expect(progress === 0).toBe(searches + thoughts === 0);
      const later = { searches: searches + moreSearches, thoughts: thoughts + moreThoughts };
      expect(progressBySeen(agent, later)).toBeGreaterThanOrEqual(progress);
    }),
    RUNS,
  );
});
