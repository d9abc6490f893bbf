/** Fuzzing of every parser of untrusted text with fast-check. */

import { fork } from "node:child_process";
import { join } from "node:path";
import { z } from "zod";
import type { FuzzTarget } from "../../test/fuzz/target.ts";
import { TARGETS } from "../../test/fuzz/targets.ts";
import { type Experiment, type Finding, type LabSetting, scaled } from "../experiment.ts";

/** All targets together, in as many processes as lanes. */
const MINUTES = 60;
const LANES = 2;
/** A single input that needs more ends the process, which counts as a crash. */
const HEAP_MB = 256;
/** Far above what a thousand inputs take. */
const MAX_SILENCE_MS = 300_000;
const CHILD = join(import.meta.dirname, "../fuzz-target.ts");

export const fuzz: Experiment = {
  name: "fuzz",
  about:
    "Every parser of untrusted text receives damaged seeds, words of its grammar, long repetitions and random text (fast-check), and every result is checked against all promises; an input may take a second of CPU time, and the process of a target 256 MB of heap.",
  minutes: MINUTES,
  covers: "T15, T16, T24",
  run: async (setting) => {
    const { only } = setting;
    const unknown = only?.find((name) => !TARGETS.some((target) => target.name === name));
    if (unknown !== undefined) throw new Error(`There is no target "${unknown}".`);
    const waiting = TARGETS.filter(({ name }) => only?.includes(name) ?? true);
    const findings: Finding[] = [];
    const lane = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        findings.push(await fuzzOne(next, setting));
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    return findings.toSorted((a, b) => a.promise.localeCompare(b.promise));
  },
};

const progress = z.object({
  checked: z.number(),
  outcomes: z.number(),
  done: z.boolean().default(false),
  failure: z.string().optional(),
});
type Progress = z.infer<typeof progress>;

async function fuzzOne(target: FuzzTarget, setting: LabSetting): Promise<Finding> {
  const seconds = scaled(setting, (MINUTES * 60 * LANES) / TARGETS.length);
  const { checked, outcomes, done, failure } = await runChild(target, { seconds, seed: setting.seed });
  const end = failure === undefined ? (done ? "no broken promise" : "the process died or hung") : "a broken promise";
  const measured = `${checked} inputs, ${outcomes} kinds of outcome, ${end}`;
  setting.print(`${target.name}: ${measured}${failure === undefined ? "" : `\n${failure}`}`);
  return {
    promise: `${target.name}: no broken promise, crash or hang, bounded memory`,
    target: `${seconds} s, no broken promise`,
    measured,
    met: done && failure === undefined,
  };
}

/** The last report of the process; `done` is false if it died, or was killed after a long silence. */
function runChild({ name }: FuzzTarget, { seconds, seed }: { seconds: number; seed: number }): Promise<Progress> {
  const child = fork(CHILD, [name, String(seconds), String(seed)], {
    execArgv: ["--disable-warning=ExperimentalWarning", `--max-old-space-size=${HEAP_MB}`],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const silence = setTimeout(() => child.kill("SIGKILL"), MAX_SILENCE_MS);
  return new Promise((resolve) => {
    let last: Progress = { checked: 0, outcomes: 0, done: false };
    child.on("message", (message) => {
      last = progress.parse(message);
      silence.refresh();
    });
    child.on("exit", () => {
      clearTimeout(silence);
      resolve(last);
    });
  });
}
