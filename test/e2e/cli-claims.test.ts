/** deep_search with the Gemini CLI: claims count by the pages that its tools really opened. */

import { expect, test } from "vitest";
import { openCliScene } from "../kit/simulator/cli-scene.ts";

const LAKE = "https://lake.onda-press.com/depth";
const VILLAGE = "https://village.onda-press.com/people";
const REPORT = [
  `Lake Onda is 42 metres deep ([depth](${LAKE})).`,
  `The village of Onda has 310 inhabitants ([people](${VILLAGE})).`,
].join("\n\n");

const answerOf = (more: object): string => {
  const metadata = { sources_visited: [LAKE, VILLAGE], search_queries_used: ["onda"] };
  return `\`\`\`json\n${JSON.stringify({ success: true, report: REPORT, metadata, ...more })}\n\`\`\``;
};

test("a claim is supported only by a page that the CLI's tools opened, whatever its model says (W4, C4)", async (context) => {
  const check = (claim: number, quote: string) => ({ claim, page: claim, verdict: "supported", quote });
  const checks = [check(1, "Lake Onda is 42 metres deep."), check(2, "The village of Onda has 310 inhabitants.")];
  const sources = [LAKE, VILLAGE].map((url) => ({ title: "Onda", url }));
  const scene = openCliScene(context, {
    calls: [
      { prompt: "# Task: deep search", text: answerOf({ verified: false }), searches: [{ query: "onda", sources }] },
      { prompt: "# Task: verify", text: answerOf({ verified: true, checks }), fetches: [LAKE] },
    ],
  });
  const server = await scene.server();
  const { structured } = await server.call("deep_search", { query: "How deep is Lake Onda?", max_iterations: 2 });
  expect(structured).toMatchObject({
    success: true,
    verified: true,
    verification: { method: "cli_tools", claims: 2, likely: 1, not_found: 1, independent_domains: 1 },
    note: expect.stringContaining("310 inhabitants"),
  });
  // The accepted check is stored as evidence and shown with the report.
  const shown = await server.call("get_research_results", { task_id: structured["metadata"].task_id });
  expect(shown.structured["citations_checked"]).toMatchObject({ likely: 1, not_found: 1 });
});
