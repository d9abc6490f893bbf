/** Shutdown of servers at random moments in every way, and clients that disconnect during a call. */

import {
  disconnectClients,
  shutDownServe,
  shutDownStdio,
  type ShutdownVerdict,
  WAYS,
} from "../../test/figures/shutdown.ts";
import { type Experiment, type Finding, type LabSetting, scaled } from "../experiment.ts";
import { spread } from "../spread.ts";

export const shutdown: Experiment = {
  name: "shutdown",
  about:
    "Servers that start, cancel, save, list and search are shut down at a random moment: by SIGTERM, SIGINT, SIGHUP, the end of stdin and a broken pipe, over stdio and as `serve`. Then clients disconnect during calls. Afterwards a worker finishes the remaining runs, and the judge of the kills checks all promises.",
  minutes: 15,
  covers: "A8, G8",
  run: async (setting) => {
    const { seed } = setting;
    // One at a time: the time limits assume a machine that is not overloaded.
    const stdio = await shutDownStdio({ times: scaled(setting, 500), lanes: 1, seed });
    const serve = await shutDownServe({ times: scaled(setting, 100), lanes: 1, seed });
    const gone = await disconnectClients({ times: scaled(setting, 200), lanes: 8, seed });
    return [
      ...shutdownFindings(setting, `stdio, ${WAYS.join(", ")}`, stdio),
      ...shutdownFindings(setting, "serve, SIGTERM, SIGINT, SIGHUP", serve),
      {
        promise: "clients that disconnect during a call: the run continues, or is stored",
        target: "all",
        measured: `${gone.broken.length} broken of ${gone.shutdowns}; ${gone.counts["paid_starts"]} paid, ${gone.counts["completed"]} completed`,
        met: broken(setting, gone) === undefined,
        note: broken(setting, gone),
      },
    ];
  },
};

function broken({ print }: LabSetting, verdict: ShutdownVerdict): string | undefined {
  for (const sentence of verdict.broken.slice(0, 20)) print(`BROKEN: ${sentence}`);
  return verdict.broken[0];
}

function shutdownFindings(setting: LabSetting, transport: string, verdict: ShutdownVerdict): Finding[] {
  const { shutdowns, took, late } = verdict;
  for (const sentence of late.slice(0, 20)) setting.print(`LATE: ${sentence}`);
  const why = broken(setting, verdict);
  return [
    {
      promise: `A8 orderly shutdown (${transport}): exit code 0, nothing left, starts and reports correct`,
      target: "all",
      measured: `${verdict.broken.length} broken of ${shutdowns} shutdowns; ${verdict.counts["start_unknown"] ?? 0} unknown starts`,
      met: why === undefined,
      note: why ?? "An unknown start is one whose response would have taken longer than the 2.5 s that A8 allows.",
    },
    {
      promise: `A8 shutdown time (${transport})`,
      target: "≤ 1.5 s; ≤ 3.5 s with a paid request in flight",
      measured: `${spread(took.idle)}; ${spread(took.waiting)}`,
      met: late.length === 0,
    },
  ];
}
