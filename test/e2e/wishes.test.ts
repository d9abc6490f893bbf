/** Wishes for an answer: language, length, domains and dates, at all three depths. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openResearch, QUERY, startRun, untilStatus } from "../kit/server/research.ts";
import type { Era } from "../kit/server/server.ts";

const GIVEN = { language: "de", length: "300", prefer_domains: ["example.org"], since: "2025", until: "2025-06" };
const STORED = { ...GIVEN, length: "300 words", since: "2025-01-01", until: "2025-06-30" };
const LINES = `Language of the answer: German (de).
Length of the answer: about 300 words.
Prefer sources from these domains: example.org.
Prefer sources published from 2025-01-01 to 2025-06-30.`;
const ASKED =
  "Asked for, not enforced: in German (de); 300 words; preferably from example.org; published from 2025-01-01 to 2025-06-30.";

test.for<Era>(["modern", "legacy"])(
  "reach the model at every depth, are part of a paid start and named in its answer: %s client (V6, I9)",
  async (era, context) => {
    const scene = await openResearch(context);
    const server = await scene.server({ era });
    const wishes = { asked: STORED, sources_outside: expect.any(Number), note: expect.stringContaining(ASKED) };
    for (const tool of ["search", "deep_search"]) {
      const { structured, text } = await server.call(tool, { query: QUERY, ...GIVEN });
      expect(structured["metadata"].wishes).toEqual(wishes);
      expect(text).toContain(`wishes: ${ASKED} `);
    }
    const asked = scene.gemini.ledger.entries().map(({ kind, question, wishes: seen }) => [kind, question, seen]);
    expect(asked).toEqual(["search", "deep_search", "verify"].map((kind) => [kind, QUERY, LINES]));

    const run = await startRun(server, QUERY, GIVEN);
    // Spelled differently, they are the same start.
    const joined = await server.call("start_deep_research", { query: QUERY, ...STORED });
    expect(joined.structured).toMatchObject({ task_id: run, joined: true });
    const other = await startRun(server, QUERY, { ...GIVEN, language: "fr" });
    const plain = await startRun(server, QUERY);
    expect(new Set([run, other, plain]).size).toBe(3);
    const [first, second, third] = scene.gemini.ledger.acceptedStarts().map(({ query }) => query);
    expect(first).toMatch(new RegExp(`^${QUERY.replace("?", "\\?")}\\n\\nThe user's wishes `));
    expect(first).toContain(`-----BEGIN WISHES-----\n${LINES}\n-----END WISHES-----`);
    expect([second?.includes("French (fr)"), third]).toEqual([true, QUERY]);
    await untilStatus(server, run, "completed");
    const results = await server.call("get_research_results", { task_id: run });
    expect(results.structured).toMatchObject({ query: QUERY, metadata: { wishes } });
    expect(results.text).toContain(ASKED);
    const saved = await server.call("save_research_to_markdown", { task_id: run, output_dir: scene.configDir });
    expect(readFileSync(saved.structured["file_path"], "utf8")).toContain("Asked for, not enforced: in German");
  },
);

test("are flags in the terminal, and a wrong one sends nothing (V6)", async (context) => {
  const scene = await openResearch(context);
  const flags = ["--language", "de", "--length", "300", "--prefer-domains", "example.org", "--since", "2025"];
  const answered = await scene.command(["search", QUERY, ...flags, "--until", "2025-06"]);
  expect(answered.stdout).toContain(ASKED);
  expect(scene.gemini.ledger.entries()).toMatchObject([{ wishes: LINES }]);
  scene.gemini.ledger.clear();
  const refused = await scene.command([
    "research",
    QUERY,
    "--no-wait",
    "--avoid-domains",
    "http://example.org",
    "--json",
  ]);
  expect([refused.code, JSON.parse(refused.stdout)]).toMatchObject([
    2,
    { error: { code: "INVALID_INPUT", message: expect.stringMatching(/^avoid_domains must be host names/) } },
  ]);
  expect([scene.gemini.ledger.count(), scene.accepted()]).toEqual([0, 0]);
});
