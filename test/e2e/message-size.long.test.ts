/** A run with 100,000 sources and a report of 12 MB: no message is too large, and all of it can be read. */

import { expect, onTestFinished, test } from "vitest";
import { openResearch, QUERY, type ResearchScene, startRun, untilStatus } from "../kit/server/research.ts";
import type { RunningServer, ToolResult } from "../kit/server/server.ts";
import { openTasks, resultOf } from "../kit/server/tasks.ts";

const RESULTS = "get_research_results";
const MAX_MESSAGE_BYTES = 8_000_000;
const SOURCES = 100_000;
const CHAPTERS = 15;
const REPORT_BYTES = 12_000_000;
/** Every call reads and parses all of it. */
const LONG_MS = 240_000;

const PARAGRAPH = "Wärmepumpen heizen auch bei 20 Grad unter null, messbar langsamer.\n\n";
const chapter = (n: number): string =>
  `## Chapter ${n}\n\n${PARAGRAPH.repeat(REPORT_BYTES / CHAPTERS / Buffer.byteLength(PARAGRAPH))}`;
const REPORT = `# Heat pumps\n\n${Array.from({ length: CHAPTERS }, (_, index) => chapter(index + 1)).join("")}The end.\n`;

const urlOf = (n: number): string => `https://example.org/heat-pumps/pages/${n}`;
const STORED_SOURCES = Array.from({ length: SOURCES }, (_, index) => ({
  n: index + 1,
  title: `Page ${index + 1}`,
  url: urlOf(index + 1),
  domain: "example.org",
}));

interface Huge {
  scene: ResearchScene;
  server: RunningServer;
  task_id: string;
  /** Of the messages since the last call. */
  largestMessage(): number;
  read(section?: string): Promise<ToolResult["structured"]>;
}

async function openHuge(): Promise<Huge> {
  const scene = await openResearch({ onTestFinished });
  const server = await scene.server({ era: "modern" });
  const task_id = await startRun(server);
  await untilStatus(server, task_id, "completed");
  scene.sql(
    "update research_results set report_markdown = ?, sources_json = ?, citations_json = '[]'",
    REPORT,
    JSON.stringify(STORED_SOURCES),
  );
  const largestMessage = watchSizes(server);
  const read = async (section?: string): Promise<ToolResult["structured"]> => {
    const input = section === undefined ? { task_id } : { task_id, section };
    const { structured, isError } = await server.call(RESULTS, input, { timeout: LONG_MS });
    expect(isError).toBe(false);
    expect(largestMessage()).toBeLessThan(MAX_MESSAGE_BYTES);
    return structured;
  };
  return { scene, server, task_id, largestMessage, read };
}

/** Counts the bytes of each incoming message before the client reads it. */
function watchSizes({ client }: RunningServer): () => number {
  const { transport } = client;
  if (transport === undefined) throw new Error("The client is not connected.");
  const { onmessage } = transport;
  let largest = 0;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has this one place and no events
  transport.onmessage = (message, extra) => {
    largest = Math.max(largest, Buffer.byteLength(JSON.stringify(message)));
    onmessage?.(message, extra);
  };
  return () => {
    const size = largest;
    largest = 0;
    return size;
  };
}

test(
  "no message about a huge run is above 8 MB: results, start, task, resource, list (K3)",
  { timeout: LONG_MS },
  async () => {
    const { server, task_id, largestMessage, read } = await openHuge();
    expect(Buffer.byteLength(REPORT)).toBeGreaterThan(REPORT_BYTES * 0.99);
    const whole = await read();
    expect(whole).toMatchObject({ success: true, complete: false, metadata: { source_count: SOURCES } });
    expect(whole["note"]).toContain("read on with section sources~2");
    expect(await read("all")).toMatchObject({ complete: false, next_section: expect.any(String) });

    const joined = await server.call("start_deep_research", { query: QUERY }, { timeout: LONG_MS });
    expect(joined.structured).toMatchObject({ joined: true, status: "completed", results: { complete: false } });
    expect(joined.structured["results"].sources.length).toBeLessThan(SOURCES);
    expect(largestMessage()).toBeLessThan(MAX_MESSAGE_BYTES);

    const task = await openTasks(server).raw("tasks/get", { taskId: task_id });
    expect(resultOf(task.result?.["result"]).structured).toMatchObject({ task_id, results: { complete: false } });
    expect(largestMessage()).toBeLessThan(MAX_MESSAGE_BYTES);

    const { contents } = await server.client.readResource({ uri: `research://runs/${task_id}/report.md` });
    const [document] = contents;
    if (document === undefined || !("text" in document)) throw new Error("A text is expected.");
    expect(document.text.slice(-600)).toContain("get_research_results reads it in parts");
    const size = largestMessage();
    expect(size).toBeGreaterThan(MAX_MESSAGE_BYTES / 2);
    expect(size).toBeLessThan(MAX_MESSAGE_BYTES + 1_000);

    await server.call("list_research", {});
    await server.client.listResources();
    expect(largestMessage()).toBeLessThan(100_000);
  },
);

/** The text from a section on, read by following the hints. */
async function follow(read: Huge["read"], section: string, maxParts = Infinity) {
  const parts: ToolResult["structured"][] = [];
  for (let next: string | undefined = section; next !== undefined && parts.length < maxParts;) {
    const part: ToolResult["structured"] = await read(next);
    parts.push(part);
    next = part["next_section"];
  }
  return parts;
}

test("the hints lead to all sources and the whole text (K3)", { timeout: LONG_MS }, async () => {
  const { read } = await openHuge();
  // Each of the 200 pages begins where the previous one ends; only the first and the last few are read.
  const first = await follow(read, "sources", 3);
  const last = await follow(read, "sources~198");
  const numbersOf = (pages: ToolResult["structured"][]): number[] =>
    pages.flatMap(({ sources }) => sources.map(({ n, url }: { n: number; url: string }) => (url === urlOf(n) ? n : 0)));
  const perPage = first[0]?.["sources"].length;
  expect(numbersOf(first)).toEqual(Array.from({ length: 3 * perPage }, (_, index) => index + 1));
  expect(numbersOf(last)).toEqual(Array.from({ length: 3 * perPage }, (_, index) => SOURCES - 3 * perPage + index + 1));
  expect(last).toHaveLength(3);

  const { outline } = await read("outline");
  const chapters: { section: string; characters: number }[] = outline;
  expect(chapters).toHaveLength(1 + CHAPTERS);
  expect(chapters.reduce((sum, { characters }) => sum + characters, 0)).toBe(REPORT.length);
  const opening = await read();
  const begin = [opening, ...(await follow(read, opening["next_section"], 2))].map(({ report }) => report).join("");
  expect(begin.length).toBeGreaterThan(50_000);
  expect(REPORT.startsWith(begin)).toBe(true);
  const parts = Math.ceil((chapters.at(-1)?.characters ?? 0) / 30_000);
  const end = (await follow(read, `${CHAPTERS}~${parts - 2}`)).map(({ report }) => report).join("");
  expect(end.length).toBeGreaterThan(20_000);
  expect(REPORT.endsWith(end)).toBe(true);
});
