/** Units stand beside their source; what goes through the front door stands in test/ and needs the build. */

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two cores: tests that start processes must not starve each other.
    maxWorkers: 2,
    // Failures have to be seen as they are; a test that passes at the second try is a defect.
    retry: 0,
    reporters: ["default", "./test/support/summary-reporter.ts"],
  },
});
