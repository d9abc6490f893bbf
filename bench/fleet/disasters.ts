/** Kills one worker and stops another for a while: which polls are late, how late, and what a stale worker writes. */

import { setTimeout as sleep } from "node:timers/promises";
import { countMismatches } from "../../test/fleet/jobs.ts";
import { atMost, type Check } from "./check.ts";
import { NORMAL } from "./google-process.ts";
import type { FleetOptions } from "./options.ts";
import { lateAfter } from "./polls.ts";
import { runsInFlightSince } from "./schedule.ts";
import type { Fleet, World } from "./world.ts";

const INTERVAL_MS = 10_000;
const WORKERS = { pollIntervalMs: INTERVAL_MS, maxRps: 10_000 };
const COUNT = 4;
/** 400 polls per second. */
const MAX_RUNS = 4_000;
/** Tolerance beyond the jitter of an interval: a busy machine, a full batch. */
const SLACK_MS = 3_000;
/** A poll with a response is finished by then; one without belongs to the worker that is gone. */
const OVER_MS = 2_500;
/** The database may execute a fetch that the worker sent just before. */
const FETCH_MS = 500;
const WATCH_MS = 35_000;
const STALE_MS = 5_000;

export const measureDisasters = (world: World, { runs }: FleetOptions): Promise<Check[]> =>
  world.withFleet(Math.min(runs, MAX_RUNS), async (fleet) => {
    // Every response is newer than the last, so a value that goes back was written by a poll that had been taken over.
    // Responses take a second, so that the worker has polls in flight when it is killed or stopped.
    fleet.google.behave({ ...NORMAL, changedShare: 1, latencyMs: 1_000 });
    await fleet.reader.query(NOTE_STALE);
    await fleet.addWorkers(COUNT, WORKERS);
    // The first polls of all runs coincide; a few intervals with jitter spread them.
    await sleep(2.5 * INTERVAL_MS);
    const killed = await watch(fleet, "kill -9", () => fleet.workers[0]?.signal("SIGKILL"));
    await fleet.addWorkers(1, WORKERS);
    const stopped = await watch(fleet, "SIGSTOP", () => fleet.workers[1]?.signal("SIGSTOP"));
    fleet.workers[1]?.signal("SIGCONT");
    await sleep(STALE_MS);
    const [stale] = await fleet.reader.query<{ n: number }>("select count(*) as n from stale_writes");
    return [
      ...killed,
      ...stopped,
      atMost("stale settles accepted", 0, { value: stale?.n ?? Number.NaN, unit: "" }),
      await jobsCheck(fleet, "jobs that are missing or too many, after both"),
    ];
  });

/** The number in the text only grows at Google. */
const NOTE_STALE = `
  create table stale_writes (was text, became text);
  create function note_stale() returns trigger language plpgsql as $$ begin
    insert into stale_writes values (old.current_action, new.current_action);
    return null;
  end $$;
  create trigger note_stale after update on research_tasks for each row
    when (substring(new.current_action from '\\d+$')::int < substring(old.current_action from '\\d+$')::int)
    execute function note_stale()`;

async function watch(fleet: Fleet, name: string, strike: () => void): Promise<Check[]> {
  const before = await fleet.google.takePolls();
  strike();
  const at = Date.now();
  await sleep(OVER_MS);
  const orphaned = new Set(await runsInFlightSince(fleet.reader, at + FETCH_MS));
  await sleep(WATCH_MS - OVER_MS);
  const polls = [...before, ...(await fleet.google.takePolls())];
  const { late, worstMs } = lateAfter(polls, { from: at, to: at + WATCH_MS }, 1.1 * INTERVAL_MS + SLACK_MS);
  const others = late.filter((run) => !orphaned.has(run));
  return [
    atMost(`${name}: late runs that were not in flight`, 0, {
      value: others.length,
      unit: `of ${late.length} late, ${orphaned.size} in flight, ${fleet.runs} runs`,
    }),
    atMost(`${name}: longest wait for the next poll`, 30, { value: worstMs / 1_000, unit: "s" }),
    await jobsCheck(fleet, `${name}: jobs that are missing or too many`),
  ];
}

/** A poll is completed in one transaction, so each unfinished run has exactly one job at any time. */
const jobsCheck = async ({ reader, runs }: Fleet, what: string): Promise<Check> =>
  atMost(what, 0, { value: await countMismatches(reader.query), unit: `of ${runs}` });
