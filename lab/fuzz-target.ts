/** Fuzzes one target in its own process, which may die of an input, and reports its progress to the parent. */

import fc from "fast-check";
import { inputsFor } from "../test/fuzz/inputs.ts";
import { must } from "../test/fuzz/target.ts";
import { TARGETS } from "../test/fuzz/targets.ts";

const [name = "", seconds = "1", seed = "1"] = process.argv.slice(2);
const target = TARGETS.find((one) => one.name === name);
if (target === undefined) throw new Error(`There is no target "${name}".`);

/** CPU time, because wall-clock time is unreliable on a busy machine. */
const MAX_CPU_MS = 1_000;
const REPORT_EVERY = 1_000;

const { check, close } = await target.open();
const outcomes = new Set<string>();
let checked = 0;
const property = fc.asyncProperty(inputsFor(target), async (input) => {
  const before = process.cpuUsage();
  outcomes.add(await check(input));
  const { user, system } = process.cpuUsage(before);
  must((user + system) / 1_000 < MAX_CPU_MS, "An input takes less than a second.");
  checked += 1;
  if (checked % REPORT_EVERY === 0) process.send?.({ checked, outcomes: outcomes.size });
});
const details = await fc.check(property, {
  numRuns: Number.MAX_SAFE_INTEGER,
  interruptAfterTimeLimit: Number(seconds) * 1_000,
  seed: Number(seed),
  examples: target.seeds.map((each) => [each]),
});
await close?.();
process.send?.({
  checked,
  outcomes: outcomes.size,
  done: true,
  ...(details.failed ? { failure: fc.defaultReportMessage(details) } : {}),
});
process.disconnect?.();
