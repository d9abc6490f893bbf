/** Ends a test run with one summary line, and treats a skipped test as a failure under CI. */

import type { Reporter, TestModule } from "vitest/node";

export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string): number => tests.filter((test) => test.result().state === state).length;
    const skipped = tests.filter((test) => test.result().state === "skipped");
    for (const test of skipped) process.stdout.write(`skipped: ${test.fullName}\n`);
    process.stdout.write(`\n${count("passed")} passed, ${count("failed")} failed, ${skipped.length} skipped\n`);
    if (process.env["CI"] !== undefined && skipped.length > 0) process.exitCode = 1;
  }
}
