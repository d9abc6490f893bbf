/** An object with `"success"` in an answer: the answer if the text around it is short, a quotation in any other text. */

import { describe, expect, test } from "vitest";
import { openScene } from "../kit/server/scene.ts";
import { openCliScene } from "../kit/simulator/cli-scene.ts";

const QUERY = "How does the Example API report errors?";
const ONCE = { JSON_MAX_RETRIES: "1" };

/** An answer to a question about an API, in prose. */
const PROSE = `# Errors of the Example API

A failed call answers with HTTP 200, "success": false and an "error":

\`\`\`json
{"success": false, "error": "quota"}
\`\`\`

Wait a minute, then send it again (https://api.example/docs/quota).`;

const IN_PROSE = [{ answer: "raw" as const, text: PROSE }];
const NO_CORRECTION = [{ answer: "empty" as const }];

describe.concurrent("prose that quotes a refusal", () => {
  test("is corrected, and is the result of a search (D2, E1)", async (context) => {
    const scene = await openScene(context, { name: "x", tasks: { search: IN_PROSE } });
    const server = await scene.server();
    const { structured } = await server.call("search", { query: QUERY });
    expect(structured).toMatchObject({ success: true, result: expect.stringMatching(/^# Errors[^]+Wait a minute/) });
    expect(scene.gemini.ledger.countByKind()).toEqual({ search: 1, correct_json: 1 });
    expect(server.stderr()).toMatch(/^\[WARN\] Main search failed: /m);
  });

  test("is kept whole if it cannot be corrected (D2, E6)", async (context) => {
    const scene = await openScene(context, { name: "x", tasks: { search: IN_PROSE, correct_json: NO_CORRECTION } });
    const server = await scene.server({ env: ONCE });
    const { structured } = await server.call("search", { query: QUERY });
    expect(structured["error"]).toMatchObject({ code: "EXECUTION_ERROR", details: { best_text: PROSE } });
    const stored = await server.call("get_research_results", { task_id: structured["task_id"] });
    expect(stored.structured).toMatchObject({ partial: true, report: PROSE });
  });

  test("is corrected in each round of a deep search (D2, G2)", async (context) => {
    const scene = await openScene(context, { name: "x", tasks: { deep_search: IN_PROSE, verify: IN_PROSE } });
    const { structured } = await (await scene.server()).call("deep_search", { query: QUERY, max_iterations: 2 });
    expect(structured).toMatchObject({ success: true, result: expect.stringContaining("Wait a minute") });
    expect(structured["metadata"].rounds).toHaveLength(2);
    expect(scene.gemini.ledger.countByKind()).toEqual({ deep_search: 1, verify: 1, correct_json: 2 });
  });

  test("is corrected and kept with the Gemini CLI, too (D2, E6)", async (context) => {
    const scene = openCliScene(context, { text: PROSE });
    const { structured } = await (await scene.server({ env: ONCE })).call("search", { query: QUERY });
    expect(structured["error"]).toMatchObject({ code: "EXECUTION_ERROR", details: { best_text: PROSE } });
    expect(scene.children()).toHaveLength(2);
  });
});

describe.concurrent("a refusal", () => {
  test("ends the search without a correction, and what the model wrote before it is kept (D2)", async (context) => {
    const text = 'Two pages were opened.\n\n```json\n{"success": false, "error": "No page names it."}\n```';
    const scene = await openScene(context, { name: "x", tasks: { search: [{ answer: "raw", text }] } });
    const server = await scene.server();
    const { structured } = await server.call("search", { query: QUERY });
    const details = { best_text: "Two pages were opened." };
    expect(structured["error"]).toMatchObject({ code: "SEARCH_FAILED", details });
    expect(scene.gemini.ledger.countByKind()).toEqual({ search: 1 });
    const stored = await server.call("get_research_results", { task_id: structured["task_id"] });
    expect(stored.structured).toMatchObject({ partial: true, report: details.best_text });
  });
});

test("prose that quotes a success is corrected, and kept whole if it cannot be (D2, E6)", async (context) => {
  const text = `# Exports\n\nAn export runs in the background; the client polls the job until its body says that the file can be fetched:

\`\`\`json
{"success": true, "result": "The export is ready."}
\`\`\`

The file is kept for seven days, and a second export of the same range within an hour answers with the first one's file.`;
  const tasks = { search: [{ answer: "raw" as const, text }], correct_json: NO_CORRECTION };
  const scene = await openScene(context, { name: "x", tasks });
  const { structured } = await (await scene.server({ env: ONCE })).call("search", { query: QUERY });
  expect(structured["error"]).toMatchObject({ code: "EXECUTION_ERROR", details: { best_text: text } });
  expect(scene.gemini.ledger.countByKind()).toEqual({ search: 1, correct_json: 1 });
});
