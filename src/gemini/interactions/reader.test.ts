import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Interaction } from "../research-agent.ts";
import { readInteraction, readStatus, readUsage } from "./reader.ts";

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
          for (const { start, end, sourceIndex } of citations) {
            expect(start >= 0 && start < end && end <= report.length && sourceIndex < sources.length).toBe(true);
          }
        }
        readInteraction(raw);
      }),
      { numRuns: 500 },
    );
  });
});

const readReport = (raw: object): Interaction => {
  const interaction = readInteraction({ id: "v1_abc", status: "completed", ...raw });
  if (interaction === undefined) throw new Error("An interaction with an id must be readable.");
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

/** The text of each citation, cut out of the report by its byte range. */
const quoted = ({ report, citations }: Interaction): string[] =>
  citations.map(({ start, end }) => report.slice(start, end));

describe("the report", () => {
  const thought = { type: "thought", summary: [{ type: "text", text: "Hm." }] };
  const search = { type: "google_search_call", arguments: { queries: ["q"] } };
  const userInput = { type: "user_input", content: [{ type: "text", text: "The question" }] };

  test("in two outputs with a thought between is joined, with its citations (S1)", () => {
    const first = textPart("# Tïtle\n\nSummary [cite: 1]\n", cited("https://a.example", 18, 27));
    const second = textPart("\n## Part two [cite: 2]", cited("https://b.example", 13, 22));
    const whole = readReport({ steps: [userInput, thought, output(first), thought, output(second)] });
    expect(whole.report).toBe("# Tïtle\n\nSummary [cite: 1]\n\n## Part two [cite: 2]");
    expect(quoted(whole)).toEqual(["[cite: 1]", "[cite: 2]"]);
    expect(whole.earlierOutputs).toEqual([]);
  });

  test("does not include outputs before the last tool step or user input, which stay readable (S1)", () => {
    const remark = output(textPart("A plan.", cited("https://plan.example", 0, 6)));
    const steps = [remark, search, output(textPart("A draft.")), userInput, output(textPart("# Report")), output()];
    const { report, earlierOutputs, sources } = readReport({ steps });
    expect({ report, earlierOutputs, sources }).toEqual({
      report: "# Report",
      earlierOutputs: ["A plan.", "A draft."],
      sources: [],
    });
  });

  test("is not ended by a tool step after it (S1)", () => {
    const steps = [userInput, output(textPart("# Report")), { type: "code_execution_call" }, output()];
    expect(readReport({ steps }).report).toBe("# Report");
  });

  test("agrees with the SDK's output_text wherever no picture cuts that (S1)", async () => {
    const alphabet = { t: thought, s: search, u: userInput, o: output(), r: output(textPart("a"), textPart("b")) };
    const { GoogleGenAI } = await import("@google/genai");
    for (const word of ["r", "rtr", "rsr", "rur", "rsrtr", "ursrtrt", "rso", "rst", "ru", "rtors", "rrtr"]) {
      const steps = [...word].map((letter) => alphabet[letter as keyof typeof alphabet]);
      const body = JSON.stringify({ id: "v1_abc", status: "completed", steps });
      const fetch = async () => new Response(body, { headers: { "content-type": "application/json" } });
      const client = new GoogleGenAI({ apiKey: "test", httpOptions: { fetch } });
      const { output_text = "" } = await client.interactions.get("v1_abc");
      expect([word, readReport({ steps }).report]).toEqual([word, output_text]);
    }
  });

  test("keeps the positions of pictures when it is joined (S2)", () => {
    const picture = (data: string) => ({ type: "image", mime_type: "image/png", data });
    const steps = [
      output(textPart("Überall "), picture("AAAA"), textPart("danach.")),
      thought,
      output(textPart(" Ende."), picture("BBBB"), { type: "image" }),
    ];
    expect(readReport({ steps })).toMatchObject({
      report: "Überall danach. Ende.",
      pictures: [
        { mimeType: "image/png", data: "AAAA", offset: 8 },
        { mimeType: "image/png", data: "BBBB", offset: 21 },
      ],
    });
  });

  test("has search suggestions from the results of searches, each once (T-1)", () => {
    const result = (...found: object[]) => ({ type: "google_search_result", call_id: "1", result: found });
    const steps = [
      result({ search_suggestions: "<div>one</div>" }, {}),
      result({ rendered_content: "<div>two</div>" }),
      result({ search_suggestions: "<div>one</div>" }),
      { type: "google_search_result", result: "none" },
    ];
    expect(readReport({ steps }).searchSuggestions).toEqual(["<div>one</div>", "<div>two</div>"]);
  });

  test("is read from the older `outputs`, where a citation names its `source` (K1)", () => {
    const outputs = [
      { type: "thought", summary: "Hm." },
      { type: "google_search_call", arguments: { queries: ["q1"] } },
      {
        type: "text",
        text: "Old [cite: 1]",
        annotations: [{ start_index: 4, end_index: 13, source: "https://a.example" }],
      },
      { type: "image", mime_type: "image/png", data: "AAAA" },
    ];
    const old = readReport({ outputs });
    expect(old).toMatchObject({
      report: "Old [cite: 1]",
      sources: [{ url: "https://a.example", title: "" }],
      thoughts: ["Hm."],
      searches: ["q1"],
      pictures: [{ data: "AAAA", offset: 13 }],
    });
    expect(quoted(old)).toEqual(["[cite: 1]"]);
  });

  test("does not exist without text, whatever else was received (P3)", () => {
    for (const raw of [
      {},
      { steps: [] },
      { steps: [output()] },
      { steps: [{ type: "model_output" }] },
      { outputs: [{}] },
    ]) {
      expect(readReport(raw)).toMatchObject({ report: "", sources: [], citations: [] });
    }
  });
});

describe("citations", () => {
  test("cleaning moves no citation", () => {
    const text = "\u001B[31mRed\u001B[0m\u200B wörd\r\nnext line.\u200B End.";
    const range = ["next line.", "\u200B"].map((words) => Buffer.byteLength(text.slice(0, text.lastIndexOf(words))));
    const [start = 0, end = 0] = range;
    const interaction = read({
      steps: [output(textPart(text, cited("https://a.example", start, end), cited("https://b.example", end, end + 3)))],
    });
    expect(interaction.report).toBe("Red wörd\nnext line. End.");
    expect(quoted(interaction)).toEqual(["next line."]);
  });

  test("are ranges of UTF-8 bytes, even after umlauts, Chinese and emoji, and in a second part (K1)", () => {
    const first = "Überdies 日本 📈 [cite: 1] ";
    const second = "Naïve: [cite: 2]";
    const rangeOf = (whole: string, mark: string): [number, number] => {
      const start = Buffer.byteLength(whole.slice(0, whole.indexOf(mark)));
      return [start, start + Buffer.byteLength(mark)];
    };
    const interaction = readReport({
      steps: [
        output(
          textPart(first, cited("https://a.example", ...rangeOf(first, "[cite: 1]"))),
          { type: "image", data: "" },
          textPart(
            second,
            cited("https://b.example", ...rangeOf(second, "[cite: 2]")),
            cited("https://a.example", 0, 6),
          ),
        ),
      ],
    });
    expect(quoted(interaction)).toEqual(["[cite: 1]", "[cite: 2]", "Naïve"]);
    expect(interaction.citations.map(({ sourceIndex }) => sourceIndex)).toEqual([0, 1, 0]);
  });

  test("with an invalid range are dropped, and their sources kept (K1)", () => {
    const wrong = [
      cited("https://a.example", 5, 5),
      cited("https://b.example", -1, 3),
      cited("https://c.example", 0, 99),
      cited("https://c.example", 0.5, 3),
    ];
    const steps = [output(textPart("Short", ...wrong, { url: "https://d.example" }, { title: "no URL" }))];
    const { sources, citations } = readReport({ steps });
    expect(sources.map(({ url }) => url)).toEqual(["a", "b", "c", "d"].map((name) => `https://${name}.example`));
    expect(citations).toEqual([]);
  });

  test("after a character that two parts share keep their positions (K1)", () => {
    const steps = [output(textPart("\uD83D"), textPart("\uDE00"), textPart("Here", cited("https://a.example", 0, 4)))];
    expect(quoted(readReport({ steps }))).toEqual(["Here"]);
  });

  test("without a start begin with the text, and keep a title if there is one (K1)", () => {
    const steps = [output(textPart("Word", { url: "https://a.example", end_index: 4, title: "A page" }))];
    const interaction = readReport({ steps });
    expect(quoted(interaction)).toEqual(["Word"]);
    expect(interaction.sources).toEqual([{ url: "https://a.example", title: "A page" }]);
  });
});
