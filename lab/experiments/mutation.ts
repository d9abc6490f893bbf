/** Mutation testing of the critical modules. */

import { type Experiment, type Finding, scaled } from "../experiment.ts";
import { isEquivalent, staleEquivalents } from "../mutation/equivalents.ts";
import { CRITICAL_MODULES, type CriticalModule } from "../mutation/modules.ts";
import { installStryker, mutate, type Mutant } from "../mutation/stryker.ts";

const MIN_SCORE = 85;
const DETECTED = ["Killed", "Timeout"];
/** A mutant that does not load is no evidence about the tests. */
const NO_PROGRAM = ["CompileError", "RuntimeError", "Ignored"];

export const mutation: Experiment = {
  name: "mutation",
  about:
    "StrykerJS inserts one small mistake at a time into the start protocol, the lease and the legal transitions, the failure classifier, the path guard and the output boundary, and runs the in-process tests of that module. A mistake that no test detects is a survivor. After an interrupted run, modules whose sources and tests are unchanged are not measured again.",
  minutes: 25,
  covers: "I8, P1, P2, A6, N2, T10, T17",
  run: async (setting) => {
    await installStryker();
    const findings: Finding[] = [];
    for (const module of CRITICAL_MODULES.slice(0, scaled(setting, CRITICAL_MODULES.length))) {
      findings.push(findingOf(module, await mutate(module), setting.print));
    }
    return findings;
  },
};

function findingOf({ name }: CriticalModule, all: Mutant[], print: (text: string) => void): Finding {
  const programs = all.filter(({ status }) => !NO_PROGRAM.includes(status));
  const counted = programs.filter((mutant) => !isEquivalent(mutant));
  const survivors = counted.filter(({ status }) => !DETECTED.includes(status));
  const killed = counted.length - survivors.length;
  const score = (100 * killed) / Math.max(1, counted.length);
  for (const { file, line, kind, status, original, replacement } of survivors) {
    print(`${status} ${file}:${line} ${kind}: ${original.slice(0, 100)} → ${replacement.slice(0, 100)}`);
  }
  for (const { file, original } of staleEquivalents(all)) print(`No longer a mutant of ${file}: ${original}`);
  const equal = programs.length - counted.length;
  return {
    promise: `mistakes in the ${name} that its tests detect`,
    target: `≥ ${MIN_SCORE} %`,
    measured: `${score.toFixed(1)} % (${counted.length} mutants, ${killed} killed, ${survivors.length} survived)`,
    met: score >= MIN_SCORE,
    note: equal === 0 ? undefined : `${equal} more change nothing; lab/mutation/equivalents.ts explains each.`,
  };
}
