/** Which test files get no second attempt under CI. */

import { globSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { NO_SECOND_ATTEMPT } from "./summary-reporter.ts";

const ROOT = join(import.meta.dirname, "../../..");

test.each([
  "src/runs/{cancel,ledger,recovery,schedules,start}/*.test.ts",
  "src/store/*.test.ts",
  "test/e2e/*kill*.test.ts",
  "test/e2e/{budget,locked-database,refusals,refused-report,research-ends,schedule}*.test.ts",
])("tests of money and of stored data get no second attempt: %s", (pattern) => {
  const files = globSync(pattern, { cwd: ROOT });
  expect(files.length).toBeGreaterThan(0);
  expect(files.filter((file) => !NO_SECOND_ATTEMPT.test(join(ROOT, file)))).toEqual([]);
});
