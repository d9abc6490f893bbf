/** Reading interactions: every schema and status there has been, byte ranges, and garbage that must never throw. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Interaction } from "./agent.ts";
import { readInteraction, readUsage, statusOf } from "./interaction-reader.ts";

const read = (raw: object): Interaction => {
  const interaction = readInteraction({ id: "v1_abc", status: "completed", ...raw });
  if (interaction === undefined) throw new Error("It has an id, so it can be read.");
  return interaction;
};

const output = (...content: object[]): object => ({ type: "model_output", content });
const textPart = (text: string, ...annotations: object[]): object => ({ type: "text", text, annotations });
const cited = (url: string, start_index: number, end_index: number, more: object = {}): object => ({
  type: "url_citation",
  url,
  title: null,
  start_index,
  end_index,
  ...more,
});

/** What a citation points at, by the definition: bytes of the report. */
const quoted = ({ report, citations }: Interaction): string[] =>
  citations.map(({ startByte, endByte }) => Buffer.from(report).subarray(startByte, endByte).toString());

describe("the report", () => {
  test("K1 is the last model output with text; earlier ones are remarks on the way", () => {
    const steps = [output(textPart("A plan.")), { type: "thought" }, output(textPart("# Report")), output()];
    expect(read({ steps }).report).toBe("# Report");
  });

  test("K1 joins several text parts and counts pictures instead of keeping them", () => {
    const picture = { type: "image", mime_type: "image/png", data: "aGVsbG8=" };
    const steps = [output(textPart("Before. "), picture, textPart("After."), picture)];
    expect(read({ steps })).toMatchObject({ report: "Before. After.", images: 2 });
  });

  test("K1 is read from the older `outputs`, where a citation names its `source`", () => {
    const outputs = [
      { type: "thought", summary: "Hm." },
      { type: "google_search_call", arguments: { queries: ["q1"] } },
      {
        type: "text",
        text: "Old [cite: 1]",
        annotations: [{ start_index: 4, end_index: 13, source: "https://a.example" }],
      },
      { type: "image", data: "" },
    ];
    const old = read({ outputs });
    expect(old).toMatchObject({
      report: "Old [cite: 1]",
      sources: [{ url: "https://a.example", title: "" }],
      thoughts: ["Hm."],
      searches: ["q1"],
      images: 1,
    });
    expect(quoted(old)).toEqual(["[cite: 1]"]);
  });

  test("P3 there is none without text, whatever else came", () => {
    for (const raw of [
      {},
      { steps: [] },
      { steps: [output()] },
      { steps: [{ type: "model_output" }] },
      { outputs: [{}] },
    ]) {
      expect(read(raw)).toMatchObject({ report: "", sources: [], citations: [] });
    }
  });
});

describe("citations", () => {
  test("K1 are bytes of UTF-8, also behind umlauts, Chinese and emoji, and in a second part", () => {
    const first = "Überdies 日本 📈 [cite: 1] ";
    const second = "Naïve: [cite: 2]";
    const place = (whole: string, mark: string): [number, number] => {
      const start = Buffer.byteLength(whole.slice(0, whole.indexOf(mark)));
      return [start, start + Buffer.byteLength(mark)];
    };
    const interaction = read({
      steps: [
        output(
          textPart(first, cited("https://a.example", ...place(first, "[cite: 1]"))),
          { type: "image", data: "" },
          textPart(second, cited("https://b.example", ...place(second, "[cite: 2]")), cited("https://a.example", 0, 6)),
        ),
      ],
    });
    expect(quoted(interaction)).toEqual(["[cite: 1]", "[cite: 2]", "Naïve"]);
    expect(interaction.citations.map(({ sourceIndex }) => sourceIndex)).toEqual([0, 1, 0]);
  });

  test("K1 a range that does not fit is dropped and its source kept", () => {
    const wrong = [
      cited("https://a.example", 5, 5),
      cited("https://b.example", -1, 3),
      cited("https://c.example", 0, 99),
      cited("https://c.example", 0.5, 3),
    ];
    const steps = [output(textPart("Short", ...wrong, { url: "https://d.example" }, { title: "no address" }))];
    const { sources, citations } = read({ steps });
    expect(sources.map(({ url }) => url)).toEqual(["a", "b", "c", "d"].map((name) => `https://${name}.example`));
    expect(citations).toEqual([]);
  });

  test("K1 a character that two parts share moves no citation behind it", () => {
    const steps = [output(textPart("\uD83D"), textPart("\uDE00"), textPart("Here", cited("https://a.example", 0, 4)))];
    expect(quoted(read({ steps }))).toEqual(["Here"]);
  });

  test("K1 a citation without a start begins with the text; a title is kept when there is one", () => {
    const steps = [output(textPart("Word", { url: "https://a.example", end_index: 4, title: "A page" }))];
    const interaction = read({ steps });
    expect(quoted(interaction)).toEqual(["Word"]);
    expect(interaction.sources).toEqual([{ url: "https://a.example", title: "A page" }]);
  });
});

describe("the rest", () => {
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
    ["hibernating", "working"],
    ["", "working"],
    ["constructor", "working"],
    ["__proto__", "working"],
  ])("P1 the status `%s` is %s", (raw, status) => {
    expect(statusOf(raw)).toBe(status);
    expect(read({ status: raw })).toMatchObject({ status, rawStatus: raw });
  });

  test("P6 usage counts what tools fetched and what was thought; none and all zeros are not yet reported", () => {
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

  test("P6 figures that nobody can count with are none", () => {
    const usage = { total_input_tokens: Infinity, total_tool_use_tokens: -5, total_output_tokens: 7 };
    const grounding_tool_count = [{ type: "google_search", count: -1e308 }];
    expect(readUsage({ ...usage, grounding_tool_count })).toEqual({ input: 0, output: 7, cached: 0, searches: 0 });
  });

  test("J3 thought summaries as a list or a text, searches by call", () => {
    const steps = [
      { type: "thought", summary: [{ type: "text", text: "One" }, { type: "text" }, { type: "text", text: "Two" }] },
      { type: "thought", summary: "Three" },
      { type: "thought" },
      { type: "google_search_call", arguments: { queries: ["a", "b"] } },
      { type: "google_search_call" },
    ];
    expect(read({ steps })).toMatchObject({ thoughts: ["One", "Two", "Three"], searches: ["a", "b", ""] });
  });

  test("P6 what was received is kept, without the SDK's own view of the transport", () => {
    const { raw } = read({ steps: [], sdkHttpResponse: { headers: { "x-secret": "1" } }, later_field: { kept: true } });
    expect(raw).toEqual({ id: "v1_abc", status: "completed", steps: [], later_field: { kept: true } });
  });
});

describe("garbage", () => {
  test("P1 what has no id is no interaction", () => {
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

  test("K1 P1 never throws, and never makes a citation that is not in the report", () => {
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
