/** The critical modules: a mistake in one of them costs money, a report, or a user's files. */

export interface CriticalModule {
  name: string;
  /** The mutated files. */
  sources: string[];
  /** The tests that must fail, all in one process, so that a mutant is killed within milliseconds. */
  tests: string[];
}

export const CRITICAL_MODULES: readonly CriticalModule[] = [
  {
    name: "output boundary",
    sources: ["src/platform/clean-text.ts", "src/operations/perform.ts"],
    tests: [
      "src/platform/clean-text.test.ts",
      "src/operations/perform.test.ts",
      "src/operations/perform-unexpected.test.ts",
      "src/operations/perform-web-text.test.ts",
    ],
  },
  {
    name: "path guard",
    sources: [
      "src/reports/files/allowed-root.ts",
      "src/reports/files/file-name.ts",
      "src/reports/files/publish-file.ts",
    ],
    tests: [
      "src/reports/files/allowed-root.test.ts",
      "src/reports/files/file-name.test.ts",
      "src/reports/files/publish-file.test.ts",
      "src/reports/files/save-markdown.test.ts",
    ],
  },
  {
    name: "failure classifier",
    sources: ["src/gemini/failures.ts", "src/gemini/interactions/agent.ts"],
    tests: [
      "src/gemini/failures.test.ts",
      "src/gemini/interactions/agent.test.ts",
      "src/gemini/interactions/start-faults.test.ts",
      "src/gemini/interactions/agent-stream.test.ts",
      "src/gemini/interactions/agent-requests.test.ts",
    ],
  },
  {
    name: "lease and legal transitions",
    sources: ["src/runs/run.ts", "src/runs/lease.ts", "src/runs/engine/claim-store.ts"],
    tests: [
      "src/runs/run.test.ts",
      "src/runs/lease.test.ts",
      "src/runs/transition-store.test.ts",
      "src/runs/engine/engine.test.ts",
      "src/runs/scheduling/polled-store.test.ts",
    ],
  },
  {
    name: "start protocol",
    sources: ["src/runs/start/start.ts", "src/runs/start/start-store.ts"],
    tests: [
      "src/runs/start/start.test.ts",
      "src/runs/start/start-sending.test.ts",
      "src/runs/start/start-request.test.ts",
      "src/runs/start/resend.test.ts",
      "src/runs/start/fallback.test.ts",
      "src/runs/start/start-store.test.ts",
      "src/runs/start/start-failure.test.ts",
      "src/runs/start/limits-store.test.ts",
      "src/runs/recovery/uncharged-starts.test.ts",
      "src/runs/recovery/database-outage.test.ts",
      "src/runs/plan/failed-turn.test.ts",
    ],
  },
];
