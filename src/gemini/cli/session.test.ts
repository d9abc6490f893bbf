import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readSession } from "./session.ts";

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
