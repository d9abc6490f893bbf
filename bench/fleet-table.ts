/** The figures of a fleet of one, two and four workers beside each other. */

import type { Table } from "./report.ts";

/** Shares of the processor are in cores. */
export interface Phase {
  ms: number;
  perSecond: number;
  workers: number;
  postgres: number;
  google: number;
  walPerLook: number;
}

export type Idle = Phase & { transactions: number };

export interface Sample {
  workers: number;
  handedMs: number;
  idle: Idle;
  steady: Phase;
  late: { p50: number; p99: number };
  all: Phase;
  /** What the workers' connections wait for meanwhile, and for how much of the time; the longest first. */
  waits: [string, number][];
  collected: Phase;
  peakMb: number;
  bytesPerRun: number;
}

interface Facts {
  runs: number;
  fillMs: number;
  idleS: number;
  steadyS: number;
  steadyPerS: number;
  /** Processes that wanted a core, on average. */
  load: number;
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
const percent = (cores: number): string => `${(100 * cores).toFixed(1)} %`;
const kilobytes = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} kB`;
const cores = ({ workers, postgres, google }: Phase): string =>
  [workers, postgres, google].map((share) => share.toFixed(2)).join(", ");

/** Depends less than the rate on what else the machine does, though not nothing. */
const each = ({ workers, postgres, perSecond }: Phase): string =>
  [workers, postgres].map((share) => `${((1_000 * share) / perSecond).toFixed(1)} ms`).join(", ");

function busiest({ workers, all }: Sample): string {
  const shares: [string, number][] = [
    ["PostgreSQL", all.postgres],
    ["the simulator", all.google],
    ["each worker", all.workers / workers],
  ];
  const [name, share] = shares.toSorted(([, one], [, other]) => other - one)[0] ?? ["", 0];
  return `${name}, ${percent(share)}`;
}

export function fleetTable(samples: readonly Sample[], facts: Facts): Table {
  const runs = facts.runs.toLocaleString("en");
  const [alone] = samples;
  const lines: [string, (sample: Sample) => string][] = [
    ["all handed out after", ({ handedMs }) => seconds(handedMs)],
    ["**quiet**: processor of one worker, of one core", ({ idle, workers }) => percent(idle.workers / workers)],
    ["processor of PostgreSQL, of one core", ({ idle }) => percent(idle.postgres)],
    ["transactions per second", ({ idle }) => idle.transactions.toFixed(0)],
    ["WAL per second", ({ idle }) => kilobytes(idle.walPerLook)],
    [
      `**${facts.steadyPerS} looks a second**: from due to claimed, p50, p99`,
      ({ late }) => `${late.p50.toFixed(0)} ms, ${late.p99.toFixed(0)} ms`,
    ],
    ["cores of the workers, PostgreSQL, the simulator", ({ steady }) => cores(steady)],
    ["**all due at once**: looks per second", ({ all }) => all.perSecond.toFixed(0)],
    ["against one worker", ({ all }) => (alone === undefined ? "—" : (all.perSecond / alone.all.perSecond).toFixed(2))],
    ["cores of the workers, PostgreSQL, the simulator", ({ all }) => cores(all)],
    ["processor time per look: worker, PostgreSQL", ({ all }) => each(all)],
    ["busiest", busiest],
    [
      "their connections wait for",
      ({ waits }) =>
        waits
          .slice(0, 3)
          .map(([at, share]) => `${at} ${percent(share)}`)
          .join(", "),
    ],
    ["WAL per look", ({ all }) => kilobytes(all.walPerLook)],
    ["**all end at once**: collected after", ({ collected }) => seconds(collected.ms)],
    ["reports per second", ({ collected }) => collected.perSecond.toFixed(0)],
    ["cores of the workers, PostgreSQL, the simulator", ({ collected }) => cores(collected)],
    ["processor time per report: worker, PostgreSQL", ({ collected }) => each(collected)],
    ["WAL per report", ({ collected }) => kilobytes(collected.walPerLook)],
    ["peak memory of a worker (RSS)", ({ peakMb }) => `${peakMb.toFixed(0)} MB`],
    ["database, per run", ({ bytesPerRun }) => kilobytes(bytesPerRun)],
  ];
  return {
    title: `${runs} runs on one PostgreSQL`,
    columns: ["", ...samples.map(({ workers }) => `${workers} ${workers === 1 ? "worker" : "workers"}`)],
    rows: lines.map(([what, figure]) => [what, ...samples.map(figure)]),
    notes: [
      `The built \`worker\` on runs of ten users that are under way at Google, which is the simulator in a process of its own (stored in ${seconds(facts.fillMs)} by the product's own start protocol). PostgreSQL writes to the disk (fsync on) and shares the cores with all of them. Quiet is ${facts.idleS} s in which nothing is due; looks are then due evenly over ${facts.steadyS} s, then all at once, then all at once with their reports. \`RESEARCH_MAX_RPS\` is as high as it goes. Load of the machine in the last 15 minutes, this included: ${facts.load.toFixed(1)}.`,
    ],
    passed: true,
  };
}
