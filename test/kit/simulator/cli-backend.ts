/** The CLI backend with the stand-in for `gemini`, with a separate folder, log and ledger per test. */

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import type { AskRequest } from "../../../src/gemini/search-backend.ts";
import { createCliBackend, type CliBackend, type CliBackendOptions } from "../../../src/gemini/cli/backend.ts";
import {
  installStandin,
  readStandinLedger,
  type StandinRecord,
  type StandinScenario,
} from "../../../simulator/gemini-cli/standin-cli.ts";
import { isAlive } from "../server/processes.ts";
import { createTestLog } from "../log.ts";

const KEY = "canary-key-1234567890";

export interface StandinScene {
  /** Contains `bin`, `home` and `user`. */
  folder: string;
  logged: string[];
  backend(scenario: StandinScenario, more?: Partial<CliBackendOptions>): CliBackend;
  ledger(): StandinRecord[];
  /** Checks that a call left no process and no call directory. */
  expectNothingLeft(): Promise<void>;
}

export function useStandin(): StandinScene {
  const scene: StandinScene = {
    folder: "",
    logged: [],
    backend: (scenario, { environment, ...more } = {}) =>
      createCliBackend({
        environment: {
          PATH: join(scene.folder, "bin"),
          GEMINI_STANDIN_SCENARIO: JSON.stringify(scenario),
          GEMINI_STANDIN_LEDGER: join(scene.folder, "ledger.jsonl"),
          ...environment,
        },
        home: join(scene.folder, "home"),
        systemPromptFile: "/prompts/cli-system-prompt.md",
        timeoutMs: 15_000,
        progressLogIntervalMs: 60_000,
        apiKey: KEY,
        vertex: false,
        firecrawl: {},
        userHome: join(scene.folder, "user"),
        log: createTestLog((line) => scene.logged.push(line)),
        redact: (text) => text.replaceAll(KEY, "[GEMINI_API_KEY]"),
        slots: { take: () => Promise.resolve(() => {}) },
        graceMs: 300,
        ...more,
      }),
    ledger: () => readStandinLedger(join(scene.folder, "ledger.jsonl")),
    expectNothingLeft: async () => {
      const pids = scene.ledger().flatMap(({ pid, grandchild }) => (grandchild === null ? [pid] : [pid, grandchild]));
      await expect.poll(() => pids.filter(isAlive), { interval: 10 }).toEqual([]);
      expect(readdirSync(join(scene.folder, "home", "calls"))).toEqual([]);
    },
  };
  beforeEach(() => {
    scene.folder = mkdtempSync(join(tmpdir(), "cli-backend-"));
    scene.logged = [];
    installStandin(join(scene.folder, "bin"));
  });
  afterEach(() => rmSync(scene.folder, { recursive: true, force: true }));
  return scene;
}

export const question = (more: Partial<AskRequest> = {}): AskRequest => ({
  prompt: "What is new?",
  purpose: "research",
  model: undefined,
  signal: new AbortController().signal,
  onActivity: () => {},
  ...more,
});
