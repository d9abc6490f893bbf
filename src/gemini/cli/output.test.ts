import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type CliOutput, createOutputReader, readSession } from "./output.ts";

interface Seen {
  output: CliOutput;
  activities: string[];
  texts: string[];
  finished: number;
}

function read(chunks: string[]): Seen {
  const activities: string[] = [];
  const texts: string[] = [];
  let finished = 0;
  const reader = createOutputReader({
    onActivity: (activity) => activities.push(activity),
    onText: (text) => texts.push(text),
    onFinished: () => (finished += 1),
  });
  for (const chunk of chunks) reader.push(chunk);
  return { output: reader.finish(), activities, texts, finished };
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
  text: 'I will search.\n\n```json\n{"success":true,"report":"Kyoto é 京都"}\n```',
  finished: true,
  succeeded: true,
  errors: [],
  stats: { input: 400, output: 80, cached: 20, total: 520, idle: false, model: "gemini-3.8-flash" },
};

test("an event stream yields text in paragraphs, activities as they arrive, figures and the end", () => {
  const { output, activities, texts, finished } = read([`${STREAM}\n`]);
  expect(output).toEqual(EXPECTED);
  expect(texts).toEqual(["I will search.", expect.stringMatching(/"Kyoto é $/), EXPECTED.text]);
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

test("invalid figures count as none, and unknown lines are no events (T16)", () => {
  const lines = [
    '{"type":"message","role":"assistant","content":{"evil":1}}',
    '{"type":"tool_use","parameters":null}',
    '{"type":"result","status":"success","stats":{"models":{"m":{"input_tokens":"many","output_tokens":-5},"n":null}}}',
  ];
  expect(read([lines.join("\n")]).output).toMatchObject({ text: "", stats: { input: 0, output: 0, total: 0 } });
});

test("a line of 30 MB in chunks of 64 KB is one text (T16)", () => {
  const pieces = Array.from({ length: 480 }, () => "x".repeat(64 * 1024));
  const chunks = ['{"type":"message","role":"assistant","content":"', ...pieces, '"}'];
  expect(read(chunks).output.text).toHaveLength(480 * 64 * 1024);
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

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "cli-session-"));
});

afterEach(() => rm(home, { recursive: true, force: true }));

async function record(content: string, name = "session-2026-11-15T09-20-0dbea63b.jsonl"): Promise<void> {
  const chats = join(home, ".gemini", "tmp", "work", "chats");
  await mkdir(chats, { recursive: true });
  await writeFile(join(chats, name), content);
}

/** Written by version 0.61, which writes a turn again after its tool calls. */
const RECORD = [
  '{"sessionId":"0dbea63b-71ff-44b1-a334-f88b6b39abb3","projectHash":"52cd5a2c","startTime":"2026-11-15T09:20:42.860Z","lastUpdated":"2026-11-15T09:20:42.860Z","kind":"main"}',
  '{"$set":{"messages":[{"id":"d04923d38bb0f6017037e74183378ef4","timestamp":"2026-11-15T09:20:42.861Z","type":"user","content":[{"text":"<session_context>\\nThis is the Gemini CLI.</session_context>"}]}],"lastUpdated":"2026-11-15T09:20:42.861Z"}}',
  '{"id":"575a86ef-d13b-4203-b572-868b12bca18e","timestamp":"2026-11-15T09:20:42.891Z","type":"user","content":[{"text":"tell me about kyoto\\n"}]}',
  '{"id":"b1ad6b46-86dd-48f2-9270-0882db2fc88f","timestamp":"2026-11-15T09:20:42.964Z","type":"gemini","content":"I will search.","thoughts":[],"tokens":{"input":100,"output":20,"cached":5,"thoughts":10,"tool":7,"total":137},"model":"gemini-3.8-flash"}',
  '{"$set":{"lastUpdated":"2026-11-15T09:20:42.964Z"}}',
  '{"id":"b1ad6b46-86dd-48f2-9270-0882db2fc88f","timestamp":"2026-11-15T09:20:42.964Z","type":"gemini","content":"I will search.","thoughts":[],"tokens":{"input":100,"output":20,"cached":5,"thoughts":10,"tool":7,"total":137},"model":"gemini-3.8-flash","toolCalls":[{"id":"google_web_search__google_web_search_1794734442901_0","name":"google_web_search","args":{"query":"kyoto history"},"result":[{"functionResponse":{"id":"google_web_search__google_web_search_1794734442901_0","name":"google_web_search","response":{"output":"Web search results for \\"kyoto history\\":\\n\\nKyoto is a city.[1][2] It is old é.\\n\\nSources:\\n[1] example.org (https://vertexaisearch.cloud.google.com/grounding-api-redirect/AAA)\\n[2] B (title) (https://b.example/x_(y))"}}}],"status":"success","timestamp":"2026-11-15T09:20:42.980Z","resultDisplay":"Search results for \\"kyoto history\\" returned.","description":"Searching the web for: \\"kyoto history\\"","displayName":"GoogleSearch","renderOutputAsMarkdown":true}]}',
  '{"id":"05e62fcb-0ece-4209-a609-a1d254c54ea6","timestamp":"2026-11-15T09:20:42.981Z","type":"user","content":[{"functionResponse":{"id":"google_web_search__google_web_search_1794734442901_0","name":"google_web_search","response":{"output":"Web search results"}}}]}',
  '{"id":"bda95be2-cd1c-4dbc-b64e-805d1aa94543","timestamp":"2026-11-15T09:20:42.990Z","type":"gemini","content":"```json\\n{\\"success\\":true,\\"report\\":\\"Kyoto é 京都\\"}\\n```","thoughts":[],"tokens":{"input":100,"output":20,"cached":5,"thoughts":10,"tool":0,"total":130},"model":"gemini-3.8-flash"}',
].join("\n");

function toolTurn(name: string, args: object, output: string, status = "success"): string {
  const result = [{ functionResponse: { id: "1", name, response: { output } } }];
  return JSON.stringify({
    id: `turn-${name}`,
    type: "gemini",
    content: "",
    toolCalls: [{ id: `call-${name}`, name, args, result, status }],
  });
}

test("a search yields its pages, the query, the model and the text, each once", async () => {
  await record(`${RECORD}\n`);
  expect(await readSession(home)).toEqual({
    text: 'I will search.\n\n```json\n{"success":true,"report":"Kyoto é 京都"}\n```',
    lastTurn: '```json\n{"success":true,"report":"Kyoto é 京都"}\n```',
    model: "gemini-3.8-flash",
    sources: [
      { url: "https://vertexaisearch.cloud.google.com/grounding-api-redirect/AAA", title: "example.org" },
      { url: "https://b.example/x_(y)", title: "B (title)" },
    ],
    openedUrls: [],
    queries: ["kyoto history"],
    searches: 1,
    toolTokens: 7,
  });
});

test("fetched pages are counted, refused pages are not", async () => {
  const wrapped =
    "<untrusted_context>\nThe page says hello.\n\nSources:\n[1] Example Page (https://example.com/page)\n</untrusted_context>";
  await record(
    toolTurn("web_fetch", { prompt: "Summarise https://example.com/page, and https://example.com/other" }, wrapped),
  );
  expect((await readSession(home)).sources).toEqual([
    { url: "https://example.com/page", title: "Example Page" },
    { url: "https://example.com/other", title: "example.com" },
  ]);
  await record(toolTurn("web_fetch", { prompt: "https://example.com/page" }, "Error: skipped", "error"));
  expect((await readSession(home)).sources).toEqual([]);
});

test("Firecrawl's search yields pages and a query, its scrape one page (B8)", async () => {
  const found = JSON.stringify({
    web: [{ url: "https://page.example/a", title: "Page A" }, { url: "https://page.example/b" }],
  });
  const page = JSON.stringify({ markdown: "text", links: [{ url: "https://unread.example/" }] });
  await record(
    [
      toolTurn(
        "mcp_firecrawl_firecrawl_search",
        { query: "old cafes" },
        `<untrusted_context>\n${found}\n</untrusted_context>`,
      ),
      toolTurn(
        "mcp_firecrawl_firecrawl_scrape",
        { url: "https://page.example/c" },
        `<untrusted_context>\n${page}\n</untrusted_context>`,
      ),
    ].join("\n"),
  );
  expect(await readSession(home)).toMatchObject({
    queries: ["old cafes"],
    searches: 0,
    sources: [
      { url: "https://page.example/a", title: "Page A" },
      { url: "https://page.example/b", title: "page.example" },
      { url: "https://page.example/c", title: "page.example" },
    ],
  });
});

test.each([
  ["nothing", undefined],
  ["no JSON", "not json\n\0\n{"],
  [
    "other JSON",
    '[]\nnull\n5\n{"id":1}\n{"$set":null}\n{"id":"x","type":"gemini","toolCalls":[null,{"id":"y","name":"google_web_search"}]}',
  ],
  ["hostile results", toolTurn("google_web_search", {}, "\nSources:\n[1] x (javascript:alert(1))\n[2] (https://)\n")],
])("reading never throws: %s", async (_, content) => {
  if (content !== undefined) await record(content);
  expect(await readSession(home)).toMatchObject({ text: "", model: undefined, sources: [], queries: [] });
});

test("a record of any size is read up to a limit (T16)", async () => {
  await record(`${RECORD}\n${"x".repeat(40 * 1024 * 1024)}`);
  expect(await readSession(home)).toMatchObject({ queries: ["kyoto history"] });
});
