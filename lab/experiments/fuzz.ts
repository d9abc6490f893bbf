/** Coverage-guided fuzzing of every parser of untrusted text. */

import { fork } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { FuzzTarget } from "../../test/fuzz/target.ts";
import { TARGETS } from "../../test/fuzz/targets.ts";
import { type Experiment, type Finding, type LabSetting, scaled } from "../experiment.ts";

const INPUTS = 1_000_000;
/** Of live memory, which includes the corpus. */
const MAX_GROWTH_MB = 50;
/** A single input that needs more ends the process, which counts as a crash. */
const HEAP_MB = 256;
/** After a hang the target is retried with another seed, up to this many times. */
const MAX_DEATHS = 5;
const FOLDER = join(import.meta.dirname, "../.fuzz");
const UNFINISHED = `Its process, which may use ${HEAP_MB} MB, died before the last input; the output of the run shows the reason.`;
const CHILD = join(import.meta.dirname, "../fuzz/child.ts");
const INSTRUMENT = join(import.meta.dirname, "../fuzz/instrument.ts");

export const fuzz: Experiment = {
  name: "fuzz",
  about:
    "Every parser of untrusted text receives inputs that are mutated from a corpus, guided by coverage, and every result is checked against all promises; a watchdog stops an input that takes more than a second of CPU time. The fuzzer is our own: counters in every function and branch of the product, AFL's hit-count classes, and the kind of each outcome.",
  minutes: 130,
  covers: "T15, T16, T24",
  run: async (setting) => {
    rmSync(FOLDER, { recursive: true, force: true });
    const { only } = setting;
    const unknown = only?.find((name) => !TARGETS.some((target) => target.name === name));
    if (unknown !== undefined) throw new Error(`There is no target "${unknown}".`);
    const findings: Finding[] = [];
    const waiting = [...TARGETS.entries()].filter(([, { name }]) => only?.includes(name) ?? true);
    const lane = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [index, target] = next;
        findings[index] = await fuzzOne(target, { ...setting, seed: setting.seed + 1_000 * index });
      }
    };
    await Promise.all([lane(), lane()]);
    return findings.filter((finding) => finding !== undefined);
  },
};

const resultSchema = z.object({
  inputs: z.number(),
  failures: z.number(),
  corpus: z.number(),
  locations: z.number(),
  outcomes: z.number(),
  seconds: z.number(),
  growth: z.number(),
});
type Result = z.infer<typeof resultSchema>;

async function fuzzOne(target: FuzzTarget, setting: LabSetting): Promise<Finding> {
  const inputs = scaled(setting, INPUTS);
  const folder = join(FOLDER, target.name.replaceAll(/\W+/g, "-"));
  let deaths = 0;
  let result: Result | undefined;
  while (result === undefined && deaths < MAX_DEATHS) {
    result = await runChild(target, { inputs, seed: setting.seed + deaths, folder });
    if (result === undefined) deaths += 1;
  }
  const kept = failuresIn(folder);
  for (const { why, input } of kept) setting.print(`${target.name}: ${why}\n  ${JSON.stringify(input.slice(0, 300))}`);
  const hangs = kept.filter(({ why }) => why === "hang").length;
  const crashes = deaths - Math.min(deaths, hangs);
  const mb = Math.round((result?.growth ?? 0) / 2 ** 20);
  const measured =
    result === undefined
      ? `${crashes} crashes, ${hangs} hangs, not finished`
      : `${result.inputs} inputs, ${result.failures} broken promises, ${crashes} crashes, ${hangs} hangs, ${mb} MB more live memory; corpus ${result.corpus}, ${result.locations} locations and ${result.outcomes} kinds of outcome reached, ${Math.round(result.inputs / result.seconds)} per second`;
  setting.print(`${target.name}: ${measured}`);
  return {
    promise: `${target.name}: no broken promise, crash or hang, bounded memory`,
    target: `${inputs} inputs, 0, 0, 0, under ${MAX_GROWTH_MB} MB of live memory`,
    measured,
    met: result !== undefined && result.failures === 0 && deaths === 0 && mb < MAX_GROWTH_MB,
    note: result === undefined ? UNFINISHED : undefined,
  };
}

/** Undefined if the process died. */
function runChild(
  { name }: FuzzTarget,
  { inputs, seed, folder }: { inputs: number; seed: number; folder: string },
): Promise<Result | undefined> {
  const child = fork(CHILD, [name, String(inputs), String(seed), folder], {
    execArgv: [
      "--disable-warning=ExperimentalWarning",
      "--expose-gc",
      `--max-old-space-size=${HEAP_MB}`,
      "--import",
      INSTRUMENT,
    ],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  return new Promise((resolve) => {
    let result: Result | undefined;
    child.on("message", (message) => void (result = resultSchema.parse(message)));
    child.on("exit", () => resolve(result));
  });
}

const failureSchema = z.object({ why: z.string(), input: z.string() });

function failuresIn(folder: string): z.infer<typeof failureSchema>[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".txt"));
  return names.map((name) => failureSchema.parse(JSON.parse(readFileSync(join(folder, name), "utf8"))));
}
