/**
 * All polls are always due: polls per second by number of workers, the cost of a poll, and the effect of hung
 * responses.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { atLeast, atMost, type Check, reported, short } from "./check.ts";
import { NORMAL } from "./google-process.ts";
import { metered, type Usage } from "./meter.ts";
import type { FleetOptions } from "./options.ts";
import { type Poll, within } from "./polls.ts";
import { warmUp } from "./warm-up.ts";
import type { Fleet, Worker, World } from "./world.ts";

const POLLS_PER_WORKER = 1_000;
const SETTLE_MS = 2_000;
/** So that no limit of the program limits the measurement. */
const UNLIMITED = { pollIntervalMs: 1_000, maxRps: 10_000 };
const HUNG_SHARE = 0.01;
/** A hung response occupies its slot for up to this long; before that, the effect is incomplete. */
const HUNG_SETTLE_MS = 10_000;

interface Sample {
  workers: Worker[];
  rate: number;
  usage: Usage;
  polls: Poll[];
}

/** A separate fleet for each number of workers, so that none inherits a filled table. */
export async function measureThroughput(world: World, options: FleetOptions): Promise<Check[]> {
  const samples: Sample[] = [];
  const hung: Sample[] = [];
  let isLimited = true;
  for (const workers of options.workers) {
    await world.withFleet(options.runs, async (fleet) => {
      await fleet.addWorkers(workers, UNLIMITED);
      isLimited = (await warmUp(fleet, POLLS_PER_WORKER * workers)) && isLimited;
      await sleep(SETTLE_MS);
      samples.push(await sample(fleet, options.seconds));
      if (workers !== options.workers.at(-1)) return;
      fleet.google.behave({ ...NORMAL, hungShare: HUNG_SHARE });
      await sleep(HUNG_SETTLE_MS);
      hung.push(await sample(fleet, options.seconds));
    });
  }
  return checksOf(samples, hung[0], isLimited);
}

async function sample(fleet: Fleet, seconds: number): Promise<Sample> {
  await fleet.google.takePolls();
  const usage = await metered(fleet, () => sleep(seconds * 1_000));
  const polls = within(await fleet.google.takePolls(), usage);
  const rate = (polls.length * 1_000) / (usage.to - usage.from);
  return { workers: fleet.workers, rate, usage, polls };
}

function checksOf(samples: Sample[], hung: Sample | undefined, isLimited: boolean): Check[] {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || hung === undefined) throw new Error("Nothing was measured.");
  const each = (figure: (sample: Sample) => number): string => samples.map(figure).map(short).join(" / ");
  const perPoll = ({ usage, polls }: Sample, cores: number): number => (cores * (usage.to - usage.from)) / polls.length;
  const count = last.workers.length;
  const counts = `${each(({ workers }) => workers.length)} workers`;
  const factor = count / first.workers.length;
  return [
    reported(
      `polls per second, ${counts}`,
      each(({ rate }) => rate),
    ),
    {
      what: `${count} workers against ${first.workers.length}`,
      target: `≥ ${short(0.75 * factor)} ×`,
      measured: isLimited ? `${short(last.rate / first.rate)} ×` : "not measured: no control groups",
      met: isLimited && last.rate / first.rate >= 0.75 * factor,
    },
    atLeast(`polls per second, ${count} workers`, 125 * count, { value: last.rate, unit: "" }),
    atMost("PostgreSQL at 1,000 polls per second", 0.5, {
      value: (1_000 * last.usage.postgres) / last.rate,
      unit: "cores",
    }),
    atMost("PostgreSQL per poll", 0.35, { value: perPoll(last, last.usage.postgres), unit: "ms" }),
    reported(
      `PostgreSQL per poll, ${counts}, ms`,
      each((one) => perPoll(one, one.usage.postgres)),
    ),
    reported(
      `worker per poll, ${counts}, ms`,
      each((one) => perPoll(one, one.usage.workers)),
    ),
    reported(
      "cores used by each worker",
      each(({ usage, workers }) => usage.workers / workers.length),
    ),
    reported(
      "cores used by PostgreSQL",
      each(({ usage }) => usage.postgres),
    ),
    reported(
      "cores used by the stand-in",
      each(({ usage }) => usage.google),
    ),
    atMost("WAL per poll", 3, { value: last.usage.walBytes / last.polls.length / 1_000, unit: "kB" }),
    reported(
      "tuples written per poll",
      each(({ usage, polls }) => usage.tuples / polls.length),
    ),
    reported(
      "runs that were polled",
      each(({ polls }) => new Set(polls.map(({ run }) => run)).size),
    ),
    atLeast("rate with 1 % hung responses, relative to the normal one", 30, {
      value: (100 * hung.rate) / last.rate,
      unit: "%",
    }),
  ];
}
