/** Kill -9 of every process at named and random points, with the simulator's ledger as judge. */

import { drain, KILL_POINTS, killAll } from "../../test/kit/kills/kills.ts";
import { judge, judgeLostNotifications } from "../../test/kit/judge/kills-judge.ts";
import { pauseAll } from "../../test/kit/kills/suspensions.ts";
import { openKillWorld } from "../../test/kit/kills/world.ts";
import { type Experiment, type Finding, scaled } from "../experiment.ts";

const KILLS = 10_000;
/** A world gets slower with its ledger; after this many kills a new one starts, with other numbers of processes. */
const KILLS_PER_WORLD = 500;
/** Suspended processes per kill; each takes seconds. */
const PAUSES_PER_KILL = 0.02;
const LANES = [1, 2, 3, 4, 5, 6, 7, 8];

export const kills: Experiment = {
  name: "kills",
  about:
    "Processes that start, plan, approve, follow, cancel, save and resume runs, ask follow-ups and tables, and start the runs of a schedule, each within a hard budget, on one database are killed with kill -9, at fifteen named points and at random times, one to eight at a time. Then processes are suspended (SIGSTOP) between storing a start and sending it, and during the paid request for longer than its time limit, while another process does nothing, marks the start as unknown, cancels or restarts it. Then a worker finishes the remaining runs and the judge compares Google's ledger, the database, the files, the notifications and the processes.",
  minutes: 60,
  covers: "I8, P2, P5, O2, T12",
  run: async (setting) => {
    const wanted = scaled(setting, KILLS);
    const points = Object.values(KILL_POINTS).flat().length;
    const totals: Record<string, number> = {};
    const broken: string[] = [];
    for (let world = 0; (totals["kills"] ?? 0) < wanted; world += 1) {
      const some = Math.min(KILLS_PER_WORLD, wanted - (totals["kills"] ?? 0));
      const each = Math.floor(some / 2 / points);
      const lanes = LANES[world % LANES.length] ?? 1;
      const opened = await openKillWorld({ seed: setting.seed + world, starts: some * 4 });
      try {
        await killAll(opened, { each, random: some - each * points, lanes });
        await pauseAll(opened, Math.ceil(some * PAUSES_PER_KILL));
        await drain(opened);
        const verdict = judge(opened);
        for (const [name, count] of Object.entries(verdict.counts)) totals[name] = (totals[name] ?? 0) + count;
        const found = [...verdict.broken, ...judgeLostNotifications(opened)];
        broken.push(...found);
        setting.print(`seed ${setting.seed + world}, ${lanes} at a time: ${JSON.stringify(verdict.counts)}`);
        for (const sentence of found) setting.print(`BROKEN: ${sentence}`);
      } finally {
        await opened.close();
      }
    }
    return findingsOf(totals, broken, wanted);
  },
};

function findingsOf(totals: Record<string, number>, broken: string[], wanted: number): Finding[] {
  const { kills: done = 0, paid_starts = 0, runs = 0, notified = 0, notifications_lost: lost = 0, files = 0 } = totals;
  const about = (pattern: RegExp): number => broken.filter((sentence) => pattern.test(sentence)).length;
  const none = (promise: string, pattern: RegExp, of: string): Finding => {
    const count = about(pattern);
    return { promise, target: "0", measured: `${count} of ${of}`, met: count === 0 };
  };
  const share = lost / Math.max(1, notified + lost);
  return [
    { promise: "kills", target: `${wanted}`, measured: `${done}`, met: done >= wanted },
    {
      promise: "suspensions around the paid request",
      target: "reported",
      measured: `${totals["paused"] ?? 0}`,
      met: true,
    },
    none(
      "paid starts beyond one per decision",
      /was started \d+ times|not recorded|decisions about/,
      `${paid_starts} paid`,
    ),
    none(
      "paid starts that no run shows, with the text that Google has",
      /no run shows|does not show/,
      `${paid_starts} paid`,
    ),
    none("cancels that did not reach the run", /did not reach/, `${totals["cancels"] ?? 0} cancels`),
    none(
      "runs lost, unfinished or without their whole report",
      /lost|still|without its whole|no id and is|but/,
      `${runs} runs`,
    ),
    none("notifications shown twice", /was announced \d+ times|were shown/, `${notified} shown`),
    none("spent beyond a hard budget", /hard budget/, `${totals["refused"] ?? 0} refused starts`),
    none("torn files", /torn/, `${files} files`),
    none("broken promises of any kind, including leftovers and integrity_check", /./, "all checks"),
    {
      promise: "notifications lost",
      target: "reported",
      measured: `${lost} of ${notified + lost} (${(100 * share).toFixed(2)} %)`,
      met: true,
      note: "At most once by design: if a process dies between claiming and showing a notification, it is lost. The run, its report and its list entry are not affected.",
    },
  ];
}
