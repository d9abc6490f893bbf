/** Coverage-guided fuzzing of every parser of untrusted text, and how its time grows with the size of hostile texts. */

import { fork } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { READERS, sizes } from "../../test/fuzz/large-texts.ts";
import type { FuzzTarget } from "../../test/fuzz/target.ts";
import { TARGETS } from "../../test/fuzz/targets.ts";
import { type Experiment, type Finding, type LabSetting, scaled } from "../experiment.ts";

const INPUTS = 1_000_000;
const MAX_GROWTH_MB = 300;
/** Unbounded growth exceeds it, and uncollected garbage is not mistaken for growth. */
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
    "Every parser of untrusted text receives inputs that are mutated from a corpus, guided by coverage, and every result is checked against all promises; a watchdog stops an input that takes more than a second of CPU time. Before that, texts of 5 and 10 MB that are designed to be slow go through every parser. The fuzzer is our own: counters in every function and branch of the product, AFL's hit-count classes, and the kind of each outcome.",
  minutes: 100,
  covers: "T15, T16, T24",
  run: async (setting) => {
    rmSync(FOLDER, { recursive: true, force: true });
    // First, while nothing else runs. At a smaller scale the texts are too short for a meaningful ratio.
    const grown = setting.scale < 1 ? [] : growth(setting);
    const findings: Finding[] = [];
    const waiting = [...TARGETS.entries()];
    const lane = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [index, target] = next;
        findings[index] = await fuzzOne(target, { ...setting, seed: setting.seed + 1_000 * index });
      }
    };
    await Promise.all([lane(), lane()]);
    return [...findings, ...grown];
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
      : `${result.inputs} inputs, ${result.failures} broken promises, ${crashes} crashes, ${hangs} hangs, ${mb} MB growth; corpus ${result.corpus}, ${result.locations} locations and ${result.outcomes} kinds of outcome reached, ${Math.round(result.inputs / result.seconds)} per second`;
  setting.print(`${target.name}: ${measured}`);
  return {
    promise: `${target.name}: no broken promise, crash or hang, bounded memory`,
    target: `${inputs} inputs, 0, 0, 0, under ${MAX_GROWTH_MB} MB`,
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
    execArgv: ["--disable-warning=ExperimentalWarning", `--max-old-space-size=${HEAP_MB}`, "--import", INSTRUMENT],
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

const MAX_RATIO = 2.5;
/** Shorter times are too inaccurate for a ratio. */
const MIN_MEASURABLE_MS = 50;

/** The worst text per parser, by the growth of its time. */
function growth(setting: LabSetting): Finding[] {
  return Object.entries(READERS).map(([name, { read, texts }]) => {
    const measured = Object.entries(texts).map(([text, make]) => {
      const { half, whole } = sizes(setting.scale);
      const measure = (from: number, to: number, tries: number) => {
        const times = { half: best(read, make(from), tries), whole: best(read, make(to), tries) };
        return { text, ...times, ratio: times.whole < MIN_MEASURABLE_MS ? 0 : times.whole / Math.max(times.half, 1) };
      };
      try {
        const first = measure(half, whole, 2);
        if (first.ratio <= MAX_RATIO) return first;
        // A garbage collection or a full cache looks like growth, but not repeatedly and at twice the size.
        const second = measure(half, whole, 6);
        return second.ratio <= MAX_RATIO ? second : measure(whole, 2 * whole, 6);
      } catch (error) {
        // An exceeded stack, for example, which must not end the experiment.
        return { text: `${text} (${String(error)})`, half: 0, whole: 0, ratio: Infinity };
      }
    });
    const worst = measured.toSorted((a, b) => b.ratio - a.ratio)[0];
    const slowest = measured.toSorted((a, b) => b.whole - a.whole)[0];
    const shown =
      worst === undefined || slowest === undefined
        ? "nothing"
        : `${worst.ratio.toFixed(1)} on ${worst.text}; slowest ${slowest.whole.toFixed(0)} ms on ${slowest.text}, of ${measured.length}`;
    setting.print(`${name}: ${shown}`);
    return {
      promise: `${name}: time grows linearly with the size of hostile text`,
      target: `twice the text, at most ${MAX_RATIO} times as long`,
      measured: shown,
      met: (worst?.ratio ?? 0) <= MAX_RATIO,
      note: "The best of two tries; if their ratio was above the target, of six; if that was, too, of six at twice the size. Times below 50 ms have no ratio.",
    };
  });
}

/** The slower try was disturbed by the garbage collector. */
const best = (read: (text: string) => unknown, text: string, tries: number): number =>
  Math.min(...Array.from({ length: tries }, () => timed(read, text)));

/** CPU time of this thread, which other processes on the machine do not lengthen. */
function timed(read: (text: string) => unknown, text: string): number {
  const started = process.threadCpuUsage();
  read(text);
  const { user, system } = process.threadCpuUsage(started);
  return (user + system) / 1_000;
}
