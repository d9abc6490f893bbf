/**
 * Unit tests are beside their source; end-to-end tests are in test/ and need the build. `npm test` takes a
 * few minutes; `npm run test:long` (`--mode long`) runs the longer ones.
 */

import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Tests of the stores, which run once per database. */
const ON_POSTGRES = [
  "src/runs/{interaction-store,picture-store}.test.ts",
  "src/runs/start/{fallback,limits-store,several-writers,start,start-failure,start-sending,start-store}.test.ts",
  "src/runs/{activity/activity,cancel/cancel,local/local-run,poll/poll,streams/stream}.test.ts",
  "src/runs/{engine/engine,plan/plan-turn,scheduling/permits,scheduling/polled-store,scheduling/runner}.test.ts",
  "src/runs/recovery/{database-outage,uncharged-starts}.test.ts",
  "src/runs/ledger/*.test.ts",
  "src/runs/schedules/schedule-store.test.ts",
  "src/runs/history/{change-feed,figures-store,search-store}.test.ts",
  "src/runs/library/organize-store.test.ts",
  "src/verification/judge/kept-judgements.test.ts",
  "src/verification/verify.test.ts",
  "src/notifications/held-outbox.test.ts",
  "src/notifications/{outbox,webhook-sender}.test.ts",
  "src/store/{full-text,rate-limiter,store}.test.ts",
  "src/runs/deletion/retention.test.ts",
  "src/http/auth/authenticate.test.ts",
  "src/operations/{check-research-status,save-research-to-markdown}.test.ts",
  "src/operations/library/archive.test.ts",
  "src/operations/schedules/announce-ended.test.ts",
];

/** The fleet, and one end-to-end test of each area. */
const LONG_ON_POSTGRES = [
  "test/e2e/{page-api,schedule}.test.ts",
  "test/e2e/{budget-kill,research-servers,status}.long.test.ts",
  "test/postgres/*.test.ts",
];

const LONG = "**/*.long.test.ts";

/** In both: a short version in `npm test`, the full one in `npm run test:long` (`TEST_LENGTH`). */
const OF_ANY_LENGTH = ["test/simulation/simulation.test.ts", "test/e2e/{research,schedule}-kill.test.ts"];

/**
 * Short versions of lab experiments, and what `npm test` runs shorter: under CI they would take the checks beyond their
 * goal of 15 minutes.
 */
const LEFT_OUT_UNDER_CI = ["test/{figures,faults,pause}/**", "test/disk/nth-write.long.test.ts", ...OF_ANY_LENGTH];

/** Started first: at the end, one of them would keep a single core busy. Vitest knows durations only from earlier runs. */
const LONGEST = [
  "test/figures/",
  "test/simulation/",
  "test/postgres/polls.test.ts",
  "test/e2e/tasks.test.ts",
  "test/e2e/page-list.long.test.ts",
  "test/e2e/terminal.test.ts",
  "test/corpus/corpus.test.ts",
  "test/e2e/research-kill.test.ts",
  "test/e2e/page-accessibility.long.test.ts",
  "test/e2e/page-reading-view.long.test.ts",
  "test/e2e/human-texts.long.test.ts",
  "test/e2e/message-size.long.test.ts",
  "test/postgres/disasters.test.ts",
  "test/e2e/page-journey.long.test.ts",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = LONGEST.findIndex((name) => moduleId.includes(name));
      return index === -1 ? LONGEST.length : index;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig(({ mode }) => {
  const isLong = mode === "long";
  const leftOut = isLong && process.env["CI"] !== undefined ? LEFT_OUT_UNDER_CI : [];
  return {
    test: {
      sequence: { sequencer: LongestFirst },
      projects: [
        {
          extends: true,
          test: {
            name: "sqlite",
            include: isLong
              ? [LONG, ...OF_ANY_LENGTH]
              : ["src/**/*.test.ts", "simulator/**/*.test.ts", "test/**/*.test.ts"],
            exclude: [...configDefaults.exclude, "test/postgres/**", ...(isLong ? leftOut : [LONG])],
            globalSetup: [
              "./test/kit/vitest/system-setup.ts",
              "./test/kit/store/sqlite-template.ts",
              ...(isLong ? ["./test/kit/vitest/client-setup.ts"] : []),
            ],
          },
        },
        {
          extends: true,
          test: {
            name: "postgres",
            include: isLong ? LONG_ON_POSTGRES : ON_POSTGRES,
            env: { TEST_DATABASE: "postgres" },
            globalSetup: ["./test/kit/store/postgres-cluster.ts"],
          },
        },
      ],
      // No process of a test run reaches an address beyond loopback; worker threads inherit the option.
      // A large young generation saves collections in workers, which load many modules and run many short tests.
      execArgv: [
        `--require=${join(import.meta.dirname, "test/kit/loopback-only/preload.cjs")}`,
        "--min-semi-space-size=32",
      ],
      setupFiles: ["./test/kit/loopback-only/setup.ts"],
      env: { TEST_LENGTH: isLong ? "long" : "short" },
      // Test files of one worker share their modules: loading them anew for each file takes half of the processor time
      // of unit tests. A test therefore leaves no global state behind.
      isolate: false,
      // Limits for what hangs, not for what is slow: a machine that runs other work multiplies every duration.
      testTimeout: 240_000,
      hookTimeout: 240_000,
      // As long as `waitFor` of test/kit waits.
      expect: { poll: { timeout: 60_000 } },
      // Tests through the front door wait for more than half of their time: fewer at once would leave two cores idle.
      // The long ones use more processor time and several processes each.
      maxWorkers: isLong ? 5 : 6,
      // A test that passes only at its second attempt is a defect and is named as such (summary-reporter.ts); but one
      // pause of a shared machine does not fail a run of thousands of tests.
      retry: process.env["CI"] === undefined ? 0 : 1,
      reporters: ["default", "./test/kit/vitest/summary-reporter.ts"],
    },
  };
});
