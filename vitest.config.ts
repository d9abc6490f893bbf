/** Units stand beside their source; what goes through the front door stands in test/ and needs the build. */

import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What a store decides, and one story of each area through the front door: these run once per database. */
const ON_POSTGRES = [
  "src/runs/{interaction-store,picture-store}.test.ts",
  "src/runs/start/{limits-store,several-writers,start,start-failure,start-sending,start-store}.test.ts",
  "src/runs/{cancel/cancel,local/local-run,poll/poll,streams/stream}.test.ts",
  "src/runs/scheduling/{claim-store,runner}.test.ts",
  "src/runs/recovery/{database-outage,uncharged-starts}.test.ts",
  "src/runs/history/{change-feed,search-store}.test.ts",
  "src/notifications/held-outbox.test.ts",
  "src/notifications/outbox.test.ts",
  "src/store/{full-text,pace,store}.test.ts",
  "src/runs/deletion/retention.test.ts",
  "src/http/auth/authenticate.test.ts",
  "src/operations/{check-research-status,save-research-to-markdown}.test.ts",
  "test/e2e/{damaged-rows,page-api,page-live,page-reading,research-odd-answers,research-servers,status}.test.ts",
  "test/postgres/*.test.ts",
];

/** The longest first, also where no earlier run tells: begun last, one of them would keep a single core busy. */
const LONGEST = ["test/simulation/", "test/e2e/research-kill.test.ts", "test/figures/", "test/e2e/page-accessibility"];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = LONGEST.findIndex((name) => moduleId.includes(name));
      return place === -1 ? LONGEST.length : place;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "sqlite",
          include: ["src/**/*.test.ts", "simulator/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, "test/postgres/**"],
          globalSetup: ["./test/support/system-setup.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "postgres",
          include: ON_POSTGRES,
          env: { TEST_DATABASE: "postgres" },
          globalSetup: ["./test/support/postgres-cluster.ts"],
        },
      },
    ],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // As long as `waitFor` of test/support waits.
    expect: { poll: { timeout: 20_000 } },
    // Tests through the front door wait as much as they compute: two at once leave two cores idle a third of the time.
    maxWorkers: 3,
    // Failures have to be seen as they are; a test that passes at the second try is a defect.
    retry: 0,
    reporters: ["default", "./test/support/summary-reporter.ts"],
  },
});
