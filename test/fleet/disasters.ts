/** What goes wrong in a fleet, one thing at a time, and which runs were in whose hands when it did. */

import { setTimeout as sleep } from "node:timers/promises";
import { waitFor } from "../support/wait-for.ts";
import type { Member } from "./member.ts";
import type { FleetWorld } from "./world.ts";

export const DISASTERS = ["worker", "server", "fast", "immediate", "rolling", "cut"] as const;
export type Disaster = (typeof DISASTERS)[number];

/** The runs of a worker that nobody hears of any more. */
export interface Orphaned {
  disaster: Disaster;
  member: string;
  at: number;
  interactionIds: string[];
}

const BUSY_MS = 60_000;
/** Longer than any lease: back sooner, it would release what it held itself. */
const GONE_MS = 75_000;
const CUT_MS = { least: 30_000, most: 90_000 };

/** Undefined where nobody lost runs; done when what was ended is there again. */
export async function strike(world: FleetWorld, disaster: Disaster): Promise<Orphaned | undefined | "impossible"> {
  const { members, postgres, random } = world;
  const one = (service: Member["service"]): Member => {
    const all = members.filter((member) => member.service === service);
    const chosen = all[Math.floor(random() * all.length)];
    if (chosen === undefined) throw new Error(`There is no ${service}.`);
    return chosen;
  };
  switch (disaster) {
    case "worker": {
      const { worker, orphaned } = await busyWorker(world, disaster);
      // Started again where it was, it knows that its predecessor is dead; others know only that it is silent.
      await worker.restart("SIGKILL", world.apart ? GONE_MS : 3_000 * random());
      return orphaned;
    }
    case "server":
      await one("server").restart("SIGKILL", 3_000 * random());
      break;
    case "rolling":
      for (const member of members.toSorted(() => random() - 0.5)) await member.restart("SIGTERM", 0);
      break;
    case "fast":
    case "immediate":
      await postgres.restart(disaster);
      break;
    case "cut": {
      if (!world.apart) return "impossible";
      const { worker, orphaned } = await busyWorker(world, disaster);
      if (worker.machine === undefined) return "impossible";
      await worker.machine.cut();
      await sleep(CUT_MS.least + (CUT_MS.most - CUT_MS.least) * random());
      await worker.machine.mend();
      return orphaned;
    }
  }
  return undefined;
}

/** One that has runs, of those that have: the loss of an idle one shows nothing. */
async function busyWorker(world: FleetWorld, disaster: Disaster): Promise<{ worker: Member; orphaned: Orphaned }> {
  const workers = world.members.filter(({ service }) => service === "worker").toSorted(() => world.random() - 0.5);
  return waitFor(
    async () => {
      for (const worker of workers) {
        const orphaned = await orphansOf(world, disaster, worker);
        if (orphaned.interactionIds.length > 0) return { worker, orphaned };
      }
      throw new Error("No worker has any run.");
    },
    { timeout: BUSY_MS, interval: 200 },
  );
}

async function orphansOf(world: FleetWorld, disaster: Disaster, worker: Member): Promise<Orphaned> {
  const rows = await world.query<{ interaction_id: string }>(
    `select interaction_id from research_tasks join processes on process_id = handed_to
      where pid = $1 and status = 'running_async' and interaction_id is not null`,
    [worker.pid()],
  );
  const interactionIds = rows.map(({ interaction_id }) => interaction_id);
  return { disaster, member: worker.name, at: Date.now(), interactionIds };
}

/** For each run, from the last look before until the next after; those that had ended at Google by then apart. */
export function silencesOf({ gemini }: FleetWorld, { at, interactionIds }: Orphaned): number[] {
  return interactionIds.flatMap((id) => {
    const { looks } = gemini.ledger.trafficOf(id);
    const before = looks.findLast((look) => look <= at) ?? at;
    const next = looks.find((look) => look > at);
    return next === undefined ? [] : [next - before];
  });
}

export interface Silence {
  ms: number;
  from: number;
}

/** Over all runs that were started, the longest times in which nobody asked for one of them that was not over. */
export function longestSilences({ gemini }: FleetWorld, count: number): Silence[] {
  return gemini.ledger
    .acceptedStarts()
    .flatMap(({ id, at }) => {
      const { looks } = gemini.ledger.trafficOf(id);
      return looks.map((look, n) => ({ from: looks[n - 1] ?? at, ms: look - (looks[n - 1] ?? at) }));
    })
    .toSorted((one, other) => other.ms - one.ms)
    .slice(0, count);
}
