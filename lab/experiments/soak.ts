/** Half an hour of steady load on `serve`, a stdio server and a worker with one database, to detect growth. */

import { setTimeout as sleep } from "node:timers/promises";
import { type SoakWorld, type Member, MEMBERS, openSoakWorld, type Reading } from "../../test/soak/soak-world.ts";
import { beginLoad, type Load } from "../../test/soak/load.ts";
import { growthInSecondHalf, slopeOf } from "../../test/soak/trend.ts";
import { seeded } from "../../test/kit/kills/world.ts";
import type { Experiment, Finding, LabSetting } from "../experiment.ts";

const MINUTES = 30;
const PER_SECOND = 20;
const SAMPLE_MS = 5_000;
/** Excluded: V8 needs about ten thousand calls to settle the size of its young generation. */
const WARM_UP = 1 / 3;
const MAX_WAL_MB = 16;
/** The largest transaction stores one report with Google's response. */
const ONE_TRANSACTION_MB = 1;

type Readings = Record<Member, Reading[]>;

export const soak: Experiment = {
  name: "soak",
  about:
    "`serve`, a stdio server and a worker share one database under twenty calls per second: starts, status, results, lists, cancels, saves, estimates, searches through the stand-in for `gemini` and through the API. Runs are accelerated 100 times. Memory, open files, children and the WAL are measured every five seconds, the heap after a full garbage collection.",
  minutes: MINUTES + 1,
  covers: "T6",
  run: async (setting) => {
    const world = await openSoakWorld({ seed: setting.seed });
    try {
      const load = beginLoad({ callers: world.callers, lanes: 4, perSecond: PER_SECOND, random: seeded(setting.seed) });
      const { readings, wal } = await watch(setting, world, load);
      await load.stop();
      const codes = await world.shutDown();
      const refused = [...load.errors].filter(([name]) => /SQLITE|DISK|UNEXPECTED|TIMEOUT/.test(name));
      setting.print(`calls ${JSON.stringify(Object.fromEntries(load.calls))}`);
      setting.print(`errors ${JSON.stringify(Object.fromEntries(load.errors))}`);
      const warm = warmPart(readings);
      return [
        ...memoryFindings(warm, load.done()),
        ...resourceFindings(warm, wal),
        {
          promise: "database integrity, calls that failed because of it, exit codes of the three processes",
          target: "ok, 0, 0 0 0",
          measured: `${world.integrity()}, ${refused.length}, ${codes.join(" ")}`,
          met: world.integrity() === "ok" && refused.length === 0 && codes.every((code) => code === 0),
        },
      ];
    } finally {
      await world.close();
    }
  },
};

async function watch({ scale, print }: LabSetting, world: SoakWorld, load: Load) {
  const readings: Readings = { serve: [], stdio: [], worker: [] };
  const wal: number[] = [];
  const until = performance.now() + MINUTES * 60_000 * scale;
  let minute = performance.now();
  while (performance.now() < until) {
    await sleep(SAMPLE_MS);
    for (const member of MEMBERS) readings[member].push(await world.read(member, load.done()));
    wal.push(world.walSize());
    if (performance.now() - minute < 60_000) continue;
    minute += 60_000;
    print(
      `${load.done()} calls, WAL ${world.walSize().toFixed(1)} MB; ${MEMBERS.map((member) => describe(member, readings)).join("; ")}`,
    );
  }
  return { readings, wal };
}

function describe(member: Member, readings: Readings): string {
  const { rss = 0, heap = 0, fds = 0 } = readings[member].at(-1) ?? {};
  return `${member} ${rss.toFixed(0)} MB, heap ${heap.toFixed(1)} MB, ${fds} fds`;
}

const warmPart = (readings: Readings): Readings => {
  const warm = (all: Reading[]): Reading[] => all.slice(Math.floor(all.length * WARM_UP));
  return { serve: warm(readings.serve), stdio: warm(readings.stdio), worker: warm(readings.worker) };
};

function memoryFindings(readings: Readings, operations: number): Finding[] {
  const per = (key: "rss" | "heap") =>
    MEMBERS.map((member) => ({
      member,
      slope: 1_000 * slopeOf(readings[member].map((reading) => ({ x: reading.operations, y: reading[key] }))),
      ...growthInSecondHalf(readings[member].map((reading) => reading[key])),
    }));
  const finding = (name: string, key: "rss" | "heap"): Finding[] => [
    {
      promise: `${name}: slope per 1,000 calls, after the warm-up`,
      target: "< 1 MB",
      measured: `${per(key)
        .map(({ member, slope }) => `${member} ${slope.toFixed(2)}`)
        .join(", ")} MB, over ${operations} calls`,
      met: per(key).every(({ slope }) => slope < 1),
    },
    {
      promise: `${name}: growth from the third quarter to the last`,
      target: "within its noise",
      measured: `${per(key)
        .map(({ member, by, noise }) => `${member} ${by.toFixed(1)} of ${noise.toFixed(1)}`)
        .join(", ")} MB`,
      met: per(key).every(({ by, noise }) => by <= noise),
    },
  ];
  const resident = finding("resident memory", "rss").map((row) => ({ ...row, note: RESIDENT }));
  return [...resident, ...finding("heap after a full garbage collection", "heap")];
}

const RESIDENT =
  "It follows V8's young generation, which grows with the load up to its limit and is seldom released; a leak would show in the heap after a full garbage collection.";

function resourceFindings(readings: Readings, wal: number[]): Finding[] {
  const files = MEMBERS.map((member) => {
    const fds = readings[member].map((reading) => reading.fds);
    return { member, ...growthInSecondHalf(fds), min: Math.min(...fds), max: Math.max(...fds) };
  });
  const zombies = Math.max(...MEMBERS.flatMap((member) => readings[member].map((reading) => reading.zombies)));
  const children = Math.max(...MEMBERS.flatMap((member) => readings[member].map((reading) => reading.children)));
  const maxWalMb = Math.max(...wal);
  return [
    {
      promise: "open files, minimum to maximum",
      target: "no growth from the third quarter to the last beyond its noise",
      measured: files
        .map(({ member, min, max, by, noise }) => `${member} ${min}–${max} (${by} of ${noise.toFixed(1)})`)
        .join(", "),
      met: files.every(({ by, noise }) => by <= noise),
      note: "Includes connections of short-lived clients and pipes of running children.",
    },
    {
      promise: "WAL",
      target: `< ${MAX_WAL_MB} MB plus one transaction`,
      measured: `${maxWalMb.toFixed(1)} MB at most`,
      met: maxWalMb < MAX_WAL_MB + ONE_TRANSACTION_MB,
    },
    {
      promise: "zombies; concurrent children",
      target: "0; ≤ 3",
      measured: `${zombies}; ${children}`,
      met: zombies === 0 && children <= 3,
    },
  ];
}
