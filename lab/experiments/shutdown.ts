/** Shutdown of servers at random moments in every way, and clients that disconnect during a call. */

import { hangUp, leaveServe, leaveStdio, type LeaveVerdict, WAYS } from "../../test/figures/shutdown.ts";
import { type Experiment, type Finding, type LabSetting, scaled } from "../experiment.ts";
import { spread } from "../spread.ts";

export const shutdown: Experiment = {
  name: "shutdown",
  about:
    "Servers that start, cancel, save, list and search are told to leave at a random moment: by SIGTERM, SIGINT, SIGHUP, the end of stdin and a broken pipe, over stdio and as `serve`. Then clients hang up in the middle of calls. After each, a worker collects what is left and the judge of the kills looks at everything.",
  minutes: 15,
  covers: "A8, G8",
  run: async (setting) => {
    const { seed } = setting;
    // One at a time: the time limits assume a machine that is not overloaded.
    const stdio = await leaveStdio({ times: scaled(setting, 500), lanes: 1, seed });
    const serve = await leaveServe({ times: scaled(setting, 100), lanes: 1, seed });
    const gone = await hangUp({ times: scaled(setting, 200), lanes: 8, seed });
    return [
      ...leaveFindings(setting, `stdio, ${WAYS.join(", ")}`, stdio),
      ...leaveFindings(setting, "serve, SIGTERM, SIGINT, SIGHUP", serve),
      {
        promise: "clients that hung up in the middle of a call: the run goes on, or is stored",
        target: "all",
        measured: `${gone.broken.length} broken of ${gone.leaves}; ${gone.counts["paid_starts"]} paid, ${gone.counts["completed"]} completed`,
        met: broken(setting, gone) === undefined,
        note: broken(setting, gone),
      },
    ];
  },
};

function broken({ say }: LabSetting, verdict: LeaveVerdict): string | undefined {
  for (const sentence of verdict.broken.slice(0, 20)) say(`BROKEN: ${sentence}`);
  return verdict.broken[0];
}

function leaveFindings(setting: LabSetting, door: string, verdict: LeaveVerdict): Finding[] {
  const { leaves, took, late } = verdict;
  for (const sentence of late.slice(0, 20)) setting.say(`LATE: ${sentence}`);
  const why = broken(setting, verdict);
  return [
    {
      promise: `A8 leaving in order (${door}): exit code 0, nothing left, money and reports right`,
      target: "all",
      measured: `${verdict.broken.length} broken of ${leaves} leaves; ${verdict.counts["start_unknown"] ?? 0} unknown starts`,
      met: why === undefined,
      note: why ?? "An unknown start is one whose answer would have taken longer than the 2.5 s that A8 allows.",
    },
    {
      promise: `A8 time to leave (${door})`,
      target: "≤ 1.5 s; ≤ 3.5 s with a paid request in flight",
      measured: `${spread(took.idle)}; ${spread(took.waiting)}`,
      met: late.length === 0,
    },
  ];
}
