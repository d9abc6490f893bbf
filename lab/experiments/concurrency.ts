/** Eight processes on one database: one paid start for a hundred requests, one poll per interval, one successor. */

import { callWhileLocked } from "../../test/figures/locked-database.ts";
import { decideTogether, pollTogether, startTwins, takeOver } from "../../test/figures/concurrency.ts";
import { type Experiment, type Finding, scaled } from "../experiment.ts";
import { spread, worst } from "../spread.ts";

const PROCESSES = 8;
const INTERVAL_MS = 1_000;
const MINUTES = 4;
const LOCKED_MS = 10_000;

export const concurrency: Experiment = {
  name: "concurrency",
  about:
    "Eight stdio servers share one database. They receive a hundred identical starts at once, repeatedly; a hundred starts, approvals and cancels of one plan; then all of them follow forty runs while all of them answer status calls; then processes die with a claimed run while another server is open; then another program locks the database.",
  minutes: 10,
  covers: "I7, I9, P2, P5",
  run: async (setting) => {
    const { print, seed } = setting;
    const twins = await startTwins({ rounds: scaled(setting, 50), processes: PROCESSES, seed });
    for (const answer of twins.refused.slice(0, 10)) print(`REFUSED: ${answer}`);
    const decided = await decideTogether({ rounds: scaled(setting, 20), processes: PROCESSES, seed });
    for (const sentence of decided.broken) print(`BROKEN: ${sentence}`);
    const ms = Math.max(5_000, MINUTES * 60_000 * setting.scale);
    const pace = await pollTogether({ runs: 40, processes: PROCESSES, intervalMs: INTERVAL_MS, ms, seed });
    for (const sentence of pace.busy.slice(0, 10)) print(`BUSY: ${sentence}`);
    const took = await takeOver({ times: scaled(setting, 30), seed });
    const locked = await callWhileLocked({ ms: LOCKED_MS, seed });
    return [
      {
        promise: "paid starts for 100 identical concurrent requests",
        target: "1 per round, the same run in every answer",
        measured: `${twins.paid} in ${twins.rounds} rounds, ${twins.mismatched} answers with another run, ${twins.refused.length} refused`,
        met: twins.paid === twins.rounds && twins.mismatched + twins.refused.length === 0,
      },
      {
        promise: "a plan that is asked for, approved and cancelled 100 times at once",
        target: "2 paid requests and 1 cancelled research per round, no broken promise",
        measured: `${decided.paid} paid and ${decided.cancelled} cancelled in ${decided.rounds} rounds, ${decided.broken.length} broken`,
        met: decided.paid === 2 * decided.rounds && decided.cancelled === decided.rounds && decided.broken.length === 0,
      },
      {
        promise: "errors about a busy database, in answers and in the log",
        target: "0",
        measured: `${pace.busy.length} in ${pace.calls} calls, with ${pace.polls} polls`,
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
        measured: `${locked.longestMs} ms at most in ${locked.calls} calls; ${locked.paid} paid of 2`,
        met: locked.longestMs <= 1_000 && locked.paid === 2,
      },
    ];
  },
};

function paceFinding(pace: Awaited<ReturnType<typeof pollTogether>>): Finding {
  return {
    promise: "polls of each run, over all processes",
    target: "≤ 1 per interval, ± 10 %",
    measured: `${pace.share.toFixed(2)} per interval on average, ${(100 * pace.maxOverAllowed).toFixed(0)} % of the allowed maximum at most, shortest gap ${pace.shortestGap} ms of ${INTERVAL_MS}`,
    met: pace.maxOverAllowed <= 1,
  };
}
