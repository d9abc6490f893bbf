/** `bench/run.ts verdicts --judge` states its cost, sends nothing without `--yes`, and shows what each threshold would do. */

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

test("the judge is measured after its cost was stated, by false accepts and recall from each probability (W2, W3)", async () => {
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
    expect(lines.at(-1)).toMatch(
      /^2 claims would be sent to gemini-decision-1, for about \$0\.0\d+, .*Nothing was sent/,
    );
    expect(simulator.ledger.count("decide")).toBe(0);
    const judged = await verdicts({ set, judge: true, yes: true }, keyed);
    expect(lines.at(-1)).toContain("2 claims are sent");
    expect(simulator.ledger.count("decide")).toBe(2);
    // The stand-in counts words: it finds the second claim, with another figure, a little less likely.
    expect(
      judged?.rows.map(([threshold, wrong, right]) => [threshold, wrong?.slice(0, 6), right?.slice(0, 6)]),
    ).toEqual([
      ["0.5", "1 of 1", "1 of 1"],
      ["0.6", "1 of 1", "1 of 1"],
      ["0.7", "1 of 1", "1 of 1"],
      ["0.8", "1 of 1", "1 of 1"],
      ["0.9", "0 of 1", "1 of 1"],
      ["0.95", "0 of 1", "1 of 1"],
    ]);
    expect(judged?.notes.join(" ")).toMatch(/0 without an answer\. \d+ input tokens, \$0\.0\d+ by list prices/);
  } finally {
    process.exitCode = undefined;
    vi.restoreAllMocks();
    await simulator.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
