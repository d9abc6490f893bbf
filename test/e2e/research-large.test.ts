/** Reports larger than one MCP message: sources in pages, and hints about the rest. */

import { expect, test } from "vitest";
import { openResearch, startRun, untilStatus } from "../kit/server/research.ts";

const RESULTS = "get_research_results";
/** The official client accepts up to 10 MB. */
const MAX_MESSAGE_BYTES = 8_100_000;
const SOURCES = 30_000;

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

test("a run with 30,000 sources is read in pages, and no page is too large for a client (K3)", async (context) => {
  const scene = await openResearch(context);
  const server = await scene.server();
  const task_id = await startRun(server);
  await untilStatus(server, task_id, "completed");
  const sources = Array.from({ length: SOURCES }, (_, index) => {
    const url = `https://example.com/${index + 1}/${"a".repeat(80)}`;
    return { n: index + 1, title: `Source ${index + 1}`, url, domain: "example.com" };
  });
  scene.sql("update research_results set sources_json = ?, citations_json = '[]'", JSON.stringify(sources));
  const numbers = ({ structured }: { structured: Record<string, { n: number }[]> }): number[] =>
    (structured["sources"] ?? []).map(({ n }) => n);
  const range = (first: number): number[] => Array.from({ length: 500 }, (_, index) => first + index);
  const first = await server.call(RESULTS, { task_id });
  expect(first.structured).toMatchObject({ success: true, report: expect.any(String), next_section: "sources~2" });
  expect(numbers(first)).toEqual(range(1));
  const second = await server.call(RESULTS, { task_id, section: "sources~2" });
  expect([numbers(second), second.structured["next_section"]]).toEqual([range(501), "sources~3"]);
  const last = await server.call(RESULTS, { task_id, section: "sources~60" });
  expect(numbers(last)).toEqual(range(SOURCES - 499));
  expect(last.structured).not.toHaveProperty("next_section");
  for (const answer of [first, second, last]) expect(bytesOf(answer)).toBeLessThan(MAX_MESSAGE_BYTES);
  const beyond = await server.call(RESULTS, { task_id, section: "sources~61" });
  expect([beyond.isError, beyond.structured["error"].code]).toEqual([true, "INVALID_INPUT"]);
});

test("a report of 12 MB is read as a resource up to a limit, with a hint how to read the rest (K3)", async (context) => {
  const scene = await openResearch(context);
  const server = await scene.server();
  const task_id = await startRun(server);
  await untilStatus(server, task_id, "completed");
  const report = `# Heat pumps\n\n${"Some words of a paragraph.\n\n".repeat(430_000)}`;
  scene.sql("update research_results set report_markdown = ?, citations_json = '[]'", report);
  const { contents } = await server.client.readResource({ uri: `research://runs/${task_id}/report.md` });
  expect(bytesOf(contents)).toBeLessThan(MAX_MESSAGE_BYTES);
  const [document] = contents;
  const text = document !== undefined && "text" in document ? document.text : "";
  expect(text.length).toBeGreaterThan(6_000_000);
  expect(text.trimEnd()).toMatch(
    /MCP clients accept no message above 8 MB\. Nothing is lost: get_research_results .*$/,
  );
  // The connection still works for the next call.
  const outline = await server.call(RESULTS, { task_id, section: "outline" });
  expect(outline.structured).toMatchObject({ success: true, outline: expect.any(Array) });
});
