import fc from "fast-check";
import { expect, test } from "vitest";
import { createOutputReader, type CliOutput } from "./output.ts";

interface Seen {
  output: CliOutput;
  activities: string[];
  finished: number;
}

function read(chunks: string[]): Seen {
  const activities: string[] = [];
  let finished = 0;
  const reader = createOutputReader({
    onActivity: (activity) => activities.push(activity),
    onFinished: () => (finished += 1),
  });
  for (const chunk of chunks) reader.push(chunk);
  return { output: reader.finish(), activities, finished };
}

/** Output of version 0.61. */
const STREAM = [
  '{"type":"init","timestamp":"2026-11-15T09:20:42.865Z","session_id":"0dbea63b-71ff-44b1-a334-f88b6b39abb3","model":"auto"}',
  '{"type":"message","timestamp":"2026-11-15T09:20:42.866Z","role":"user","content":"tell me about kyoto\\n"}',
  '{"type":"message","timestamp":"2026-11-15T09:20:42.901Z","role":"assistant","content":"I will search.","delta":true}',
  '{"type":"tool_use","timestamp":"2026-11-15T09:20:42.934Z","tool_name":"google_web_search","tool_id":"google_web_search__google_web_search_1794734442901_0","parameters":{"query":"kyoto history"}}',
  '{"type":"tool_result","timestamp":"2026-11-15T09:20:42.979Z","tool_id":"google_web_search__google_web_search_1794734442901_0","status":"success","output":"Search results for \\"kyoto history\\" returned."}',
  '{"type":"tool_use","timestamp":"2026-11-15T09:21:47.522Z","tool_name":"web_fetch","tool_id":"web_fetch__web_fetch_1794734507520_0","parameters":{"prompt":"Summarise https://example.com/page and https://example.com/other."}}',
  '{"type":"tool_result","timestamp":"2026-11-15T09:21:47.530Z","tool_id":"web_fetch__web_fetch_1794734507520_0","status":"error","output":"Error: skipped","error":{"type":"web_fetch_processing_error","message":"skipped"}}',
  '{"type":"message","timestamp":"2026-11-15T09:20:42.989Z","role":"assistant","content":"```json\\n{\\"success\\":true,\\"report\\":\\"Kyoto é ","delta":true}',
  '{"type":"message","timestamp":"2026-11-15T09:20:42.989Z","role":"assistant","content":"京都\\"}\\n```","delta":true}',
  '{"type":"result","timestamp":"2026-11-15T09:20:42.990Z","status":"success","stats":{"total_tokens":520,"input_tokens":400,"output_tokens":80,"cached":20,"input":380,"duration_ms":126,"tool_calls":1,"models":{"gemini-3.5-flash-lite":{"total_tokens":130,"input_tokens":100,"output_tokens":20,"cached":5,"input":95},"gemini-3.8-flash":{"total_tokens":260,"input_tokens":200,"output_tokens":40,"cached":10,"input":190},"gemini-3-flash-preview":{"total_tokens":130,"input_tokens":100,"output_tokens":20,"cached":5,"input":95}}}}',
].join("\n");

const EXPECTED: CliOutput = {
  format: "events",
  text: 'I will search.\n\n```json\n{"success":true,"report":"Kyoto é 京都"}\n```',
  finished: true,
  succeeded: true,
  errors: [],
  stats: { input: 400, output: 80, cached: 20, total: 520, idle: false, model: "gemini-3.8-flash" },
};

test("an event stream yields text in paragraphs, activities as they arrive, figures and the end", () => {
  const { output, activities, finished } = read([`${STREAM}\n`]);
  expect(output).toEqual(EXPECTED);
  expect(activities).toEqual(["Searching: kyoto history", "Reading: https://example.com/page"]);
  expect(finished).toBe(1);
});

test("the result does not depend on how the pipe splits it, nor on the last line break", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: STREAM.length })), (cuts) => {
      const edges = [0, ...cuts.toSorted((a, b) => a - b), STREAM.length];
      const chunks = edges.slice(1).map((edge, index) => STREAM.slice(edges[index], edge));
      expect(read(chunks).output).toEqual(EXPECTED);
    }),
  );
});

test("warnings between event lines are not part of the answer", () => {
  const noisy = STREAM.replaceAll("\n", "\nWarning: something\n{not json\n\n");
  expect(read([noisy]).output).toEqual(EXPECTED);
});

test("text before a broken stream is kept, and marked as unfinished (C7)", () => {
  const { output } = read([STREAM.slice(0, STREAM.indexOf('{"type":"result"') + 30)]);
  expect(output).toMatchObject({ text: EXPECTED.text, finished: false, succeeded: undefined });
});

test("an API error is kept for its classification", () => {
  const line =
    '{"type":"result","timestamp":"2026-11-15T09:25:52.715Z","status":"error","error":{"type":"unknown","message":"[API Error: {\\"error\\":{\\"code\\":400,\\"message\\":\\"boom\\"}}]"},"stats":{"models":{}}}';
  expect(read([line]).output).toMatchObject({
    finished: true,
    succeeded: false,
    errors: ['[API Error: {"error":{"code":400,"message":"boom"}}]'],
    stats: { idle: true },
  });
});

test("plain text is an answer too, even when it is JSON (C7)", () => {
  const answer = '{"success":true,\n"report":"x"}';
  expect(read([`Loaded cached credentials.\n${answer}\n`]).output).toMatchObject({
    format: "plain",
    text: answer,
    finished: false,
  });
  expect(read(["just words"]).output.text).toBe("just words");
  expect(read([]).output.text).toBe("");
});

test("invalid figures count as none, and unknown lines are no events (T16)", () => {
  const lines = [
    '{"type":"message","role":"assistant","content":{"evil":1}}',
    '{"type":"tool_use","parameters":null}',
    '{"type":"result","status":"success","stats":{"models":{"m":{"input_tokens":"many","output_tokens":-5},"n":null}}}',
  ];
  expect(read([lines.join("\n")]).output).toMatchObject({ text: "", stats: { input: 0, output: 0, total: 0 } });
});

test("a line of 30 MB in chunks of 64 KB is one text (T16)", () => {
  const piece = "x".repeat(64 * 1024);
  expect(read(Array.from({ length: 480 }, () => piece)).output.text).toHaveLength(480 * 64 * 1024);
});

test("figures that are no usable numbers count as none", () => {
  const model = { total_tokens: 1e308, input_tokens: -1, output_tokens: 8, cached: 1e308 };
  const event = { type: "result", status: "success", stats: { models: { a: model, b: model } } };
  expect(read([JSON.stringify(event)]).output.stats).toMatchObject({ input: 0, output: 16, cached: 0, total: 0 });
});

test("flat totals of versions 0.11 to 0.33 are counted, with the model of the first line (E8)", () => {
  const lines = (model: string, stats: unknown): string[] => [
    `${JSON.stringify({ type: "init", model })}\n`,
    `${JSON.stringify({ type: "message", role: "assistant", content: "x" })}\n`,
    `${JSON.stringify({ type: "result", status: "success", stats })}\n`,
  ];
  const flat = { total_tokens: 130, input_tokens: 100, output_tokens: 20, cached: 5, duration_ms: 9, tool_calls: 1 };
  expect(read(lines("gemini-2.5-pro", flat)).output.stats).toEqual({
    input: 100,
    output: 20,
    cached: 5,
    total: 130,
    idle: false,
    model: "gemini-2.5-pro",
  });
  expect(read(lines("auto-gemini-3", flat)).output.stats?.model).toBeUndefined();
  const invalid = {
    ...flat,
    input_tokens: -75_000_000,
    output_tokens: "<b>many</b>",
    cached: 0.5,
    total_tokens: 1e300,
  };
  expect(read(lines("<script>", invalid)).output.stats).toMatchObject({
    input: 0,
    output: 0,
    cached: 0,
    total: 0,
    model: undefined,
  });
});
