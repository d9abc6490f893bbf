/**
 * Ends a test run with one summary line. Under CI a skipped test is a failure, and so is a test of paid starts, stored
 * data or access that passed only at its second attempt: what it found may be a race of the product. An attempt to reach
 * an address beyond loopback fails every run.
 */

import type { Reporter, TestCase, TestModule } from "vitest/node";
import { missingTestCommands } from "../../../scripts/system-packages.ts";
import { type AttemptRecords, recordAttempts } from "../loopback-only/records.ts";

export const NO_SECOND_ATTEMPT =
  /src\/(?:store|runs\/(?:cancel|deletion|ledger|plan|recovery|schedules|start))\/|test\/(?:disk|faults|fleet|pause|security|simulation)\/|test\/postgres\/(?:disasters|fleet|servers)|test\/e2e\/(?:budget|cancelled-call|confirm|consent|database|delete|followup-kill|locked-database|plan|refus|schedule|unconfirmed|research-(?:ends|kill|pause|resume|servers|start|suspended))/;

const MAX_SHOWN_CHARACTERS = 2_000;

export default class SummaryReporter implements Reporter {
  #attempts: AttemptRecords | undefined;

  onInit(): void {
    this.#attempts = recordAttempts();
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const inState = (state: string): TestCase[] => tests.filter((test) => test.result().state === state);
    const skipped = inState("skipped");
    const repeated = tests.filter((test) => test.diagnostic()?.flaky === true);
    const suspect = repeated.filter((test) => NO_SECOND_ATTEMPT.test(test.module.moduleId));
    for (const test of skipped) process.stdout.write(`skipped: ${test.fullName}\n`);
    const missing = missingTestCommands();
    if (skipped.length > 0 && missing.length > 0) {
      process.stdout.write(
        `Not installed: ${missing.join(", ")}. npm run test:setup installs what tests need (Debian or Ubuntu, as root).\n`,
      );
    }
    for (const test of repeated) {
      process.stdout.write(`passed only at its second attempt: ${test.fullName}\n`);
      for (const { message, stack } of test.result().errors ?? []) {
        const at = stack?.split("\n").find((line) => line.includes("/test/") || line.includes("/src/"));
        process.stdout.write(
          `    ${message.slice(0, MAX_SHOWN_CHARACTERS)}\n${at === undefined ? "" : `    ${at.trim()}\n`}`,
        );
      }
    }
    process.stdout.write(
      `\n${inState("passed").length} passed, ${inState("failed").length} failed, ${skipped.length} skipped\n`,
    );
    const attempts = this.#attempts?.take() ?? [];
    for (const { target, test, command, stack } of attempts) {
      process.stdout.write(`beyond loopback: ${target} in ${test} (${command})\n    ${stack.join("\n    ")}\n`);
    }
    if (attempts.length > 0) process.exitCode = 1;
    if (process.env["CI"] !== undefined && skipped.length + suspect.length > 0) process.exitCode = 1;
  }
}
