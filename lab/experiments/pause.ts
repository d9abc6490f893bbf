/** Processes that are stopped for longer than their lease, clock jumps, and how soon a dead process is detected. */

import { JUMPS, playJumps } from "../../test/pause/jumps.ts";
import { measureTakeOvers, playPauses } from "../../test/pause/pauses.ts";
import { type Experiment, type Finding, type LabSetting, scaled } from "../experiment.ts";

const PAUSES = 1_000;
/** All pauses of a world together must stay below a day, the longest time a run may wait. */
const PAUSES_PER_WORLD = 100;
const LANES = 4;
const JUMP_ROUNDS = 25;
const TAKE_OVERS = 40;
const TAKE_OVER_WITHIN_MS = 5_000;

export const pause: Experiment = {
  name: "pause",
  about:
    "Servers are suspended (SIGSTOP) between two writes, also during paid requests and polls, for longer than every lease by the clocks of the running processes, and resumed (SIGCONT). The clocks of all processes jump by an hour and a day, in both directions, while runs are started and followed. Processes are killed during a poll, and the time until another process polls is measured.",
  minutes: 45,
  covers: "I8, I11, P2",
  run: async (setting) => [...(await pauses(setting)), ...(await jumps(setting)), await takeOvers(setting)],
};

const DOUBLE = /was started \d+ times|not recorded|attempts\./;

function findingsOf(setting: LabSetting, broken: string[], of: string): Finding[] {
  for (const sentence of broken) setting.print(`BROKEN: ${sentence}`);
  const doubles = broken.filter((sentence) => DOUBLE.test(sentence)).length;
  const others = broken.length - doubles;
  return [
    { promise: `double starts, ${of}`, target: "0", measured: `${doubles}`, met: doubles === 0 },
    { promise: `ids, runs or reports lost, ${of}`, target: "0", measured: `${others}`, met: others === 0 },
  ];
}

async function pauses(setting: LabSetting): Promise<Finding[]> {
  const wanted = scaled(setting, PAUSES);
  const totals: Record<string, number> = {};
  const broken: string[] = [];
  for (let left = wanted; left > 0; left -= PAUSES_PER_WORLD) {
    const some = Math.min(PAUSES_PER_WORLD, left);
    const verdict = await playPauses({ pauses: some, seed: setting.seed + left, lanes: LANES });
    for (const [name, count] of Object.entries(verdict.counts)) totals[name] = (totals[name] ?? 0) + count;
    broken.push(...verdict.broken);
    setting.print(`pauses: ${JSON.stringify(verdict.counts)}`);
  }
  const { pauses: done = 0, busy = 0, taken = 0, paid_starts = 0 } = totals;
  return [
    {
      promise: "pauses longer than the lease",
      target: `${wanted}`,
      measured: `${done}, ${busy} of them during a request, ${taken} of those taken over`,
      met: done >= wanted,
      note: "The pause is longer than the lease by the clocks of the other processes, which are set forward by 200 s.",
    },
    ...findingsOf(setting, broken, `${paid_starts} paid starts under pauses`),
  ];
}

async function jumps(setting: LabSetting): Promise<Finding[]> {
  const rounds = scaled(setting, JUMP_ROUNDS);
  const broken: string[] = [];
  let paid = 0;
  let jumped = 0;
  for (let round = 0; round < rounds; round += 1) {
    // Each round in another order, so that jumps meet different states.
    const order = JUMPS.map((_, n) => JUMPS[(n + round) % JUMPS.length] ?? 0);
    const verdict = await playJumps(order);
    broken.push(...verdict.broken);
    paid += verdict.counts["paid_starts"] ?? 0;
    jumped += verdict.counts["jumps"] ?? 0;
    setting.print(`jumps: ${JSON.stringify(verdict.counts)}`);
  }
  const done = rounds * JUMPS.length;
  return [
    { promise: "clock jumps of ±1 hour and ±1 day", target: `${done}`, measured: `${jumped}`, met: jumped === done },
    ...findingsOf(setting, broken, `${paid} paid starts under ${done} clock jumps`),
  ];
}

async function takeOvers(setting: LabSetting): Promise<Finding> {
  const measured = (await measureTakeOvers({ times: scaled(setting, TAKE_OVERS), seed: setting.seed })).toSorted(
    (a, b) => a - b,
  );
  const inSeconds = (ms = 0): string => (ms / 1_000).toFixed(1);
  const longest = measured.at(-1) ?? Infinity;
  return {
    promise: "a run whose owner was killed is polled by another process of this machine",
    target: `≤ ${TAKE_OVER_WITHIN_MS / 1_000} s`,
    measured: `median ${inSeconds(measured[measured.length >> 1])} s, longest ${inSeconds(longest)} s of ${measured.length}`,
    met: longest <= TAKE_OVER_WITHIN_MS,
    note: "Processes sweep every 5 s; on an overloaded machine, some tenths of a second are added.",
  };
}
