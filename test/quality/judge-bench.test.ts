/** `bench/run.ts verdicts --judge` states its cost, sends nothing without `--yes`, and judges what is left open. */

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { verdicts } from "../../bench/claims/verdicts.ts";
import { startSimulator } from "../../simulator/server.ts";
import { temporaryDirectory, TEST_KEY } from "../kit/server/server.ts";

const PAIR = { lang: "en", page_lang: "en" };
const PAIRS = [
  {
    ...PAIR,
    id: "a",
    kind: "open",
    claim: "The lake of Onda measures 42 metres from top to bottom.",
    page_title: "Onda",
    page_text: "The lake of Onda measures a full 42 metres from its top to its bottom.",
    expected: "supported",
  },
  { ...PAIR, id: "b", kind: "open", claim: "The lake of Onda measures 57 metres.", expected: "contradicted" },
];

test("the judge is asked after the cost was stated, and its rows have the same columns (W2, W3)", async () => {
  const simulator = await startSimulator({ scenario: { name: "judge" } });
  const directory = temporaryDirectory();
  const set = join(directory, "pairs.json");
  writeFileSync(set, JSON.stringify(PAIRS));
  const lines: unknown[] = [];
  for (const name of ["log", "error"] as const) vi.spyOn(console, name).mockImplementation((line) => lines.push(line));
  const own = { GEMINI_SEARCH_CONFIG_DIR: directory };
  const keyed = { ...own, GEMINI_API_KEY: TEST_KEY, GOOGLE_GEMINI_BASE_URL: simulator.url };
  try {
    expect(await verdicts({ set, judge: true, yes: true }, own)).toBeUndefined();
    expect([process.exitCode, lines.at(-1)]).toEqual([1, expect.stringContaining("GEMINI_API_KEY")]);
    expect(await verdicts({ set, judge: true }, keyed)).toBeUndefined();
    expect(lines.at(-1)).toMatch(/^2 of 2 pairs would be sent to \S+, for about \$\d\.\d\d, .*Nothing was sent/);
    const without = await verdicts({ set }, keyed);
    const judged = await verdicts({ set, judge: true, yes: true }, keyed);
    expect(lines.at(-1)).toContain("2 of 2 pairs are sent");
    expect(judged?.columns).toEqual(without?.columns);
    // The figures veto the second one, whatever the model answers.
    expect(without?.rows[0]?.slice(1, 4)).toEqual([
      expect.stringMatching(/^0 of 1/),
      "0 of 1, 0.0 % (0.0–79.3)",
      expect.stringMatching(/^0 of 1/),
    ]);
    expect(judged?.rows[0]?.slice(1, 4)).toEqual([
      expect.stringMatching(/^0 of 1/),
      "0 of 1, 0.0 % (0.0–79.3)",
      expect.stringMatching(/^1 of 1/),
    ]);
  } finally {
    process.exitCode = undefined;
    vi.restoreAllMocks();
    await simulator.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
