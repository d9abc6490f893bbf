/** Fuzzes one target in its own process, reports the result to the parent, and exits if an input hangs. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { createRandom } from "../../test/corpus/random.ts";
import { TARGETS } from "../../test/fuzz/targets.ts";
import { fuzzLoop, nameOf } from "./loop.ts";

const [name = "", inputs = "1", seed = "1", folder = "."] = process.argv.slice(2);
const target = TARGETS.find((one) => one.name === name);
if (target === undefined) throw new Error(`There is no target "${name}".`);

const MAX_KEPT_FAILURES = 20;
const MAX_CURRENT_CHARACTERS = 1 << 18;

mkdirSync(folder, { recursive: true });
let kept = 0;
const keep = (input: string, why: string): void => {
  kept += 1;
  if (kept > MAX_KEPT_FAILURES) return;
  writeFileSync(join(folder, `${nameOf(input)}.txt`), JSON.stringify({ target: name, why, input }));
};

// Number and text of the current input, readable by the watchdog while this thread is busy.
const shared = new SharedArrayBuffer(8 + 2 * MAX_CURRENT_CHARACTERS);
const head = new Int32Array(shared, 0, 2);
const body = new Uint16Array(shared, 8);
const trying = (input: string): void => {
  const length = Math.min(input.length, MAX_CURRENT_CHARACTERS);
  for (let at = 0; at < length; at += 1) body[at] = input.charCodeAt(at);
  head[1] = length;
  Atomics.add(head, 0, 1);
};

const watchdog = new Worker(new URL("watchdog.ts", import.meta.url), { workerData: { shared, folder, name } });
watchdog.unref();

const open = await target.open();
for (const one of target.seeds) await open.check(one);
const before = liveMemory();
const began = performance.now();
const result = await fuzzLoop({
  target,
  open,
  random: createRandom(Number(seed)),
  inputs: Number(inputs),
  trying,
  failed: (input, error) => keep(input, error instanceof Error ? error.message : String(error)),
});
const seconds = (performance.now() - began) / 1_000;
Atomics.store(head, 0, -1);
await open.close?.();
process.send?.({ ...result, seconds, growth: Math.max(0, liveMemory() - before) });
await watchdog.terminate();
process.disconnect?.();

/** What is left after a garbage collection; the peak is bounded by the heap of the process. */
function liveMemory(): number {
  if (globalThis.gc === undefined) throw new Error("Node.js must be started with --expose-gc.");
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
