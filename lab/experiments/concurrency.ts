/** Eight processes on one database: one paid start for a hundred requests, one poll per interval, one successor. */

import { callWhileLocked } from "../../test/figures/foreign-lock.ts";
import { lookTogether, startTwins, takeOver } from "../../test/figures/concurrency.ts";
import { type Experiment, type Finding, scaled } from "../experiment.ts";
import { spread, worst } from "../spread.ts";

const PROCESSES = 8;
const INTERVAL_MS = 1_000;
const MINUTES = 4;
const LOCKED_MS = 10_000;

export const concurrency: Experiment = {
  name: "concurrency",
  about:
    "Eight stdio servers on one database: a hundred identical starts at once, again and again; then forty runs that all of them follow while all of them are asked about; then owners that die with a claimed run while another server is open; then another program that locks the database.",
  minutes: 10,
  covers: "I7, I9, P2, P5",
  run: async (setting) => {
    const { say, seed } = setting;
    const twins = await startTwins({ rounds: scaled(setting, 50), processes: PROCESSES, seed });
    for (const answer of twins.refused.slice(0, 10)) say(`REFUSED: ${answer}`);
    const ms = Math.max(5_000, MINUTES * 60_000 * setting.scale);
    const pace = await lookTogether({ runs: 40, processes: PROCESSES, intervalMs: INTERVAL_MS, ms, seed });
    for (const sentence of pace.busy.slice(0, 10)) say(`BUSY: ${sentence}`);
    const took = await takeOver({ times: scaled(setting, 30), seed });
    const locked = await callWhileLocked({ ms: LOCKED_MS, seed });
    return [
      {
        promise: "paid starts for 100 identical wishes at once",
        target: "1 each time, one answer for all",
        measured: `${twins.paid} in ${twins.rounds} rounds, ${twins.astray} answers astray, ${twins.refused.length} refused`,
        met: twins.paid === twins.rounds && twins.astray + twins.refused.length === 0,
      },
      {
        promise: "a busy database, as seen by users and in the log",
        target: "0",
        measured: `${pace.busy.length} in ${pace.calls} calls, beside ${pace.looks} looks`,
        met: pace.busy.length === 0,
      },
      paceFinding(pace),
      {
        promise: "take-over of a run that a dead process had claimed",
        target: "≤ 5 s",
        measured: spread(took),
        met: worst(took) <= 5_000,
      },
      {
        promise: "status calls while another program holds the write lock for 10 s",
        target: "≤ 1 s each; a start waits and is paid once",
        measured: `${locked.longestMs} ms at the most in ${locked.calls} calls; ${locked.paid} paid of 2`,
        met: locked.longestMs <= 1_000 && locked.paid === 2,
      },
    ];
  },
};

function paceFinding(pace: Awaited<ReturnType<typeof lookTogether>>): Finding {
  return {
    promise: "looks at each run, over all processes",
    target: "≤ 1 per interval, ± 10 %",
    measured: `${pace.share.toFixed(2)} per interval on average, ${(100 * pace.mostOverAllowed).toFixed(0)} % of what is allowed at the most, shortest gap ${pace.shortestGap} ms of ${INTERVAL_MS}`,
    met: pace.mostOverAllowed <= 1,
  };
}
