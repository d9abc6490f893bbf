/**
 * Runs the long experiments: `npm run lab [-- name …] [--scale 0.01] [--seed 1]`. Prints a table and writes it, with
 * date, commit and machine, to docs/engineering/RELIABILITY.md, beside the results of other experiments.
 * `fuzz --only claims` repeats one target and keeps the rows of the others. A run that is shorter than the stored one is
 * only printed, unless `--replace` is given.
 */

import { parseArgs } from "node:util";
import type { Experiment } from "./experiment.ts";
import { circumstances } from "../scripts/circumstances.ts";
import { keepResult, renderReliability, tableOf, withEarlierFindings } from "./reliability.ts";

const EXPERIMENTS: Readonly<Record<string, () => Promise<Experiment>>> = {
  figures: async () => (await import("./experiments/figures.ts")).figures,
  kills: async () => (await import("./experiments/kills.ts")).kills,
  fleet: async () => (await import("./experiments/fleet.ts")).fleet,
  concurrency: async () => (await import("./experiments/concurrency.ts")).concurrency,
  pause: async () => (await import("./experiments/pause.ts")).pause,
  faults: async () => (await import("./experiments/faults.ts")).faults,
  disk: async () => (await import("./experiments/disk.ts")).disk,
  fuzz: async () => (await import("./experiments/fuzz.ts")).fuzz,
  "parsing-time": async () => (await import("./experiments/parsing-time.ts")).parsingTime,
  security: async () => (await import("./experiments/security.ts")).security,
  shutdown: async () => (await import("./experiments/shutdown.ts")).shutdown,
  soak: async () => (await import("./experiments/soak.ts")).soak,
  mutation: async () => (await import("./experiments/mutation.ts")).mutation,
  "long-run": async () => (await import("./experiments/long-run.ts")).longRun,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    scale: { type: "string", default: "1" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    only: { type: "string", multiple: true },
    replace: { type: "boolean", default: false },
  },
});

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const chosen = positionals.length === 0 ? Object.keys(EXPERIMENTS) : positionals;
const unknown = chosen.find((name) => !Object.hasOwn(EXPERIMENTS, name));
if (unknown !== undefined) {
  throw new Error(`There is no experiment "${unknown}". There are: ${Object.keys(EXPERIMENTS).join(", ")}.`);
}

const { only } = values;
if (only !== undefined && chosen.join(" ") !== "fuzz") throw new Error("Only fuzz has parts that --only can select.");

if (!(Number(values.scale) > 0) || !Number.isSafeInteger(Number(values.seed))) {
  throw new Error("--scale is a number above 0 (with a point), --seed a whole number.");
}

const setting = { scale: Number(values.scale), seed: Number(values.seed), only, print };
for (const name of chosen) {
  const experiment = await EXPERIMENTS[name]?.();
  if (experiment === undefined) continue;
  print(`## ${name}: ${experiment.about} (about ${Math.ceil(experiment.minutes * setting.scale)} minutes)`);
  const began = performance.now();
  const findings = await experiment.run(setting);
  const { about, covers } = experiment;
  const seconds = Math.round((performance.now() - began) / 1_000);
  const parts = (only ?? []).map((part) => ` --only "${part}"`).join("");
  const command = `npm run lab -- ${name} --scale ${setting.scale} --seed ${setting.seed}${parts}`;
  const result = { name, about, covers, ...circumstances(), command, scale: setting.scale, seconds, findings };
  const isKept = keepResult(only === undefined ? result : withEarlierFindings(result), values);
  if (!isKept) print("The stored result is of a longer run and stays; --replace replaces it.");
  print(`${tableOf(findings)}\n`);
  if (findings.some(({ met }) => !met)) process.exitCode = 1;
}
renderReliability();
