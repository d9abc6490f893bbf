/** Disks that are full, read-only or refuse the n-th write, at every stage of a paid run. */

import { playStage, STAGES } from "../../test/disk/full-disk.ts";
import { type EveryWrite, playEveryWrite } from "../../test/disk/nth-write.ts";
import { canRunUnprivileged, playReadOnly } from "../../test/disk/read-only.ts";
import { canLimit, canMount, openLimitedWorld } from "../../test/disk/small-disk.ts";
import { type Experiment, type Finding, type LabSetting, scaled } from "../experiment.ts";

const ROUNDS = 20;
const NO_SPACE = Number.MAX_SAFE_INTEGER;
/** Number of consecutive writes that fail, and whether SQLite rolled back on its own. */
const FAULTS = [1, 2, 3, 5, 8, NO_SPACE].flatMap((count) => [false, true].map((rolledBack) => ({ count, rolledBack })));

export const disk: Experiment = {
  name: "disk",
  about:
    "A disk of 8 MB that holds the database and the reports is filled at eight stages of a paid run and freed again; file sizes are limited with prlimit; directories are made read-only for a user other than root; and a whole run from the start to the saved report is repeated with the n-th write refused, for every n. Each time a healthy process finishes the remaining runs, and the judge compares Google's ledger, the database and the files.",
  minutes: 20,
  covers: "P5, N3, B5",
  run: async (setting) => [
    await fullDisks(setting),
    await limitedFiles(setting),
    await readOnlyDirectories(setting),
    ...(await refusedWrites(setting)),
  ],
};

function findingOf(setting: LabSetting, promise: string, { broken, of }: { broken: string[]; of: string }): Finding {
  for (const sentence of broken) setting.print(`BROKEN: ${sentence}`);
  const target = "0 promises broken";
  return { promise, target, measured: `${broken.length} in ${of}`, met: broken.length === 0 };
}

/** An unmeasured promise is not met; the table lists it by name. */
const skipped = (promise: string, note: string): Finding => ({
  promise,
  target: "0 promises broken",
  measured: "not measured here",
  met: false,
  note,
});

async function fullDisks(setting: LabSetting): Promise<Finding> {
  const promise =
    "a full disk: nothing is sent without a stored intent, no id and no report is lost, all runs are collected later";
  if (!canMount()) return skipped(promise, "Mounting a small tmpfs is not permitted here; it needs root.");
  const rounds = scaled(setting, ROUNDS);
  const broken: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    broken.push(...(await Promise.all(STAGES.map((stage) => playStage(stage)))).flat());
    setting.print(`full disk, round ${round + 1} of ${rounds}: ${broken.length} broken`);
  }
  return findingOf(setting, promise, { broken, of: `${rounds} × ${STAGES.length} stages` });
}

async function limitedFiles(setting: LabSetting): Promise<Finding> {
  const promise = "files that may not grow (RLIMIT_FSIZE): the same";
  if (!canLimit()) return skipped(promise, "There is no prlimit here.");
  const rounds = scaled(setting, ROUNDS);
  const stages = STAGES.filter(({ limited }) => limited);
  const broken: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    broken.push(...(await Promise.all(stages.map((stage) => playStage(stage, openLimitedWorld)))).flat());
  }
  return findingOf(setting, promise, { broken, of: `${rounds} × ${stages.length} stages` });
}

async function readOnlyDirectories(setting: LabSetting): Promise<Finding> {
  const promise =
    "read-only config and reports directories: searches work, starts are refused unsent, saves report the reason";
  if (!canRunUnprivileged()) return skipped(promise, "The program could not be run as a user other than root here.");
  const rounds = scaled(setting, ROUNDS);
  const broken: string[] = [];
  for (let round = 0; round < rounds; round += 1) broken.push(...(await playReadOnly()));
  return findingOf(setting, promise, { broken, of: `${rounds} rounds` });
}

async function refusedWrites(setting: LabSetting): Promise<Finding[]> {
  const total: EveryWrite = { broken: [], writes: 0, refusedStarts: 0, backups: 0 };
  let longest = 0;
  for (const faults of FAULTS.slice(0, scaled(setting, FAULTS.length))) {
    const one = await playEveryWrite(faults);
    total.broken.push(...one.broken);
    total.writes += one.writes;
    total.refusedStarts += one.refusedStarts;
    total.backups += one.backups;
    longest = Math.max(longest, one.writes);
    const many = faults.count === NO_SPACE ? "all following" : faults.count;
    setting.print(
      `${many} refused from the n-th on, ${faults.rolledBack ? "" : "not "}rolled back: ${one.writes} runs`,
    );
  }
  const promise = "the n-th write fails, for every n: at most one paid start, nothing lost, a consistent end";
  return [
    findingOf(setting, promise, { broken: total.broken, of: `${total.writes} runs of up to ${longest} writes each` }),
    {
      promise: "consequences of the refused writes",
      target: "reported",
      measured: `${total.refusedStarts} starts refused unsent, ${total.backups} reports backed up in files`,
      met: true,
    },
  ];
}
