/** The tokens of each round of a deep search on the simulator, with and without claims to check. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSimulator } from "../../../simulator/server.ts";
import { createApiBackend } from "../../../src/gemini/api/backend.ts";
import { deepSearch } from "../../../src/search/deep.ts";
import { createPrompts } from "../../../src/search/prompts.ts";
import { silentLog as log } from "../log.ts";
import { TEST_KEY } from "../server/server.ts";

const PROMPTS = join(import.meta.dirname, "..", "..", "..", "prompts");

/** The prompt without the list of claims, its instruction and its place in the example: as it was before. */
function promptWithoutClaims(): string {
  return readFileSync(join(PROMPTS, "verify-prompt.md"), "utf8")
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
        prompts: createPrompts({ packaged: PROMPTS, own, now: () => 0, log }),
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
        onAsk: async () => (answer) => {
          if ("usage" in answer) tokens.push(answer.usage.input + answer.usage.output);
        },
      },
    );
    return tokens;
  } finally {
    await simulator.close();
  }
}

/** Input and output tokens of five rounds: as before claims were listed, and now. */
export async function measureRoundTokens(): Promise<{ before: number[]; now: number[] }> {
  const folder = mkdtempSync(join(tmpdir(), "gsm-prompts-"));
  try {
    writeFileSync(join(folder, "verify-prompt.md"), promptWithoutClaims());
    return { before: await tokensPerRound(folder), now: await tokensPerRound(undefined) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
