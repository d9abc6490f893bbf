/** The tokens of each round with claims to check, compared with the same rounds without them. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startSimulator } from "../../simulator/server.ts";
import { createApiBackend } from "../../src/gemini/api/backend.ts";
import { deepSearch } from "../../src/search/deep.ts";
import { createPrompts } from "../../src/search/prompts.ts";
import { silentLog as log } from "../kit/log.ts";
import { TEST_KEY } from "../kit/server/server.ts";

/** The prompt without the list of claims, its instruction and its place in the example: as it was before. */
function promptWithoutClaims(): string {
  return readFileSync("prompts/verify-prompt.md", "utf8")
    .replace(/-----BEGIN CLAIMS[^]*?-----END CLAIMS \{\{fence\}\}-----\n\n/, "")
    .replace(/^1\. Open the pages.*\n/m, "1. Analyse the current result for accuracy.\n");
}

async function tokensPerRound(own: string | undefined): Promise<number[]> {
  const simulator = await startSimulator({
    scenario: { name: "rounds", tasks: { verify: [{ answer: "unverified" }] } },
  });
  try {
    const tokens: number[] = [];
    await deepSearch(
      {
        backend: createApiBackend({
          apiKey: TEST_KEY,
          baseUrl: simulator.url,
          vertex: false,
          defaultModel: "gemini-3.8-flash",
          timeoutMs: 20_000,
          progressLogIntervalMs: 20_000,
          log,
        }),
        prompts: createPrompts({ packaged: "prompts", own, now: () => 0, log }),
        invalidOutputs: { keep: async () => ({ path: "", remove: async () => {} }) },
        clock: { now: () => 0, monotonic: () => 0, sleep: async () => {} },
        log,
        model: undefined,
        correctionModel: undefined,
        maxCycles: 1,
      },
      { query: "How do heat pumps perform in cold climates?", maxRounds: 5, onRound: async () => {} },
      {
        signal: new AbortController().signal,
        onActivity: () => {},
        onRoundStart: () => {},
        onAnswer: ({ usage }) => void tokens.push(usage.input + usage.output),
      },
    );
    return tokens;
  } finally {
    await simulator.close();
  }
}

test("a round that checks claims costs at most 1.5 times the tokens of one that does not (W4)", async ({
  onTestFinished,
}) => {
  const folder = mkdtempSync(join(tmpdir(), "gsm-prompts-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "verify-prompt.md"), promptWithoutClaims());
  const before = await tokensPerRound(folder);
  const now = await tokensPerRound(undefined);
  const ratios = now.map((tokens, index) => tokens / (before[index] ?? 0));
  console.info(`Tokens per round before: ${before.join(", ")}; now: ${now.join(", ")}.`);
  expect(now).toHaveLength(5);
  expect(ratios[0]).toBeCloseTo(1, 2);
  expect(Math.max(...ratios)).toBeLessThan(1.5);
  // The list grows with the report, but is bounded.
  expect(Math.max(...ratios)).toBeGreaterThan(1.05);
});
