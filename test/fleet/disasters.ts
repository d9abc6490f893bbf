/** Failures of a fleet, one at a time, and the polls and starts that were in flight when they happened. */

import { setTimeout as sleep } from "node:timers/promises";
import { connectHttp } from "../kit/server/http-server.ts";
import { waitFor } from "../kit/wait-for.ts";
import { pollsInFlightSince } from "./jobs.ts";
import { startRun } from "./load.ts";
import type { Member } from "./member.ts";
import type { FleetWorld } from "./world.ts";

export const DISASTERS = ["worker", "server", "starting", "fast", "immediate", "rolling", "cut"] as const;
export type Disaster = (typeof DISASTERS)[number];

/** The polls of a worker that is dead or disconnected. */
export interface Orphaned {
  disaster: Disaster;
  at: number;
  interactionIds: string[];
}

/** Longer than pg-boss keeps a poll for a worker without a heartbeat. */
const GONE_MS = 40_000;
const CUT_MS = { min: 30_000, max: 90_000 };
/** By then a poll with a response is finished; an unfinished one belongs to the lost worker. */
const OVER_MS = 2_500;
const STARTED_WITHIN_MS = 20_000;

/** Resolves when the affected processes run again. Undefined if no polls were orphaned. */
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
      await untilPolling(world);
      const at = Date.now();
      const again = one("worker").restart("SIGKILL", world.isolated ? GONE_MS : 3_000 + 3_000 * random());
      const [orphaned] = await Promise.all([orphansSince(world, disaster, at), again]);
      return orphaned;
    }
    case "server":
      await one("server").restart("SIGKILL", 3_000 * random());
      break;
    case "starting":
      await killWhileStarting(world, one("server"));
      break;
    case "rolling":
      for (const member of members.toSorted(() => random() - 0.5)) await member.restart("SIGTERM", 0);
      break;
    case "fast":
    case "immediate":
      await postgres.restart(disaster);
      break;
    case "cut": {
      const { machine } = one("worker");
      if (machine === undefined) return "impossible";
      await untilPolling(world);
      const at = Date.now();
      await machine.cut();
      const orphaned = await orphansSince(world, disaster, at);
      await sleep(CUT_MS.min + (CUT_MS.max - CUT_MS.min) * random());
      await machine.mend();
      return orphaned;
    }
  }
  return undefined;
}

/** Waits until runs are polled, because losing an idle worker has little effect. */
const untilPolling = ({ query }: FleetWorld): Promise<void> =>
  waitFor(
    async () => {
      const runs = await query("select task_id from research_tasks where status = 'running_async'");
      if (runs.length < 3) throw new Error("Fewer than three runs are unfinished.");
    },
    { timeout: 60_000, interval: 200 },
  );

async function orphansSince({ query }: FleetWorld, disaster: Disaster, at: number): Promise<Orphaned> {
  await sleep(OVER_MS);
  return { disaster, at, interactionIds: await pollsInFlightSince(query, at) };
}

/** Kills a server after Google has accepted one of its paid starts and before it has responded. */
async function killWhileStarting(world: FleetWorld, server: Member): Promise<void> {
  const { gemini, tokens, random, killedStarts } = world;
  const clients = await Promise.all(tokens.map((token) => connectHttp(server.url ?? "", "modern", token)));
  const topic = `in flight at ${server.name}, ${Date.now()}`;
  const inFlight = (): string[] =>
    gemini.ledger
      .acceptedStarts()
      .filter(({ answered, query }) => answered === "cut" && query.endsWith(topic))
      .map(({ labels }) => labels["run"] ?? "");
  const sent: Promise<unknown>[] = [];
  for (const end = Date.now() + STARTED_WITHIN_MS; inFlight().length === 0; await sleep(2)) {
    if (Date.now() > end) throw new Error("No start was seen in flight.");
    const isAnswered =
      gemini.ledger.acceptedStarts().filter(({ query }) => query.endsWith(topic)).length >= sent.length;
    if (isAnswered) sent.push(...clients.map((client) => startRun(world, client, topic).catch(() => undefined)));
  }
  const at = Date.now();
  await server.restart("SIGKILL", 3_000 * random());
  // Starts that were answered just before the kill are ordinary ones.
  for (const taskId of inFlight()) killedStarts.set(taskId, at);
  await Promise.all(sent);
  await Promise.all(clients.map((client) => client.close().catch(() => undefined)));
}

/** For each run, the time from the last poll before the failure to the first after it, if there was one. */
export function silencesOf({ gemini }: FleetWorld, { at, interactionIds }: Orphaned): number[] {
  return interactionIds.flatMap((id) => {
    const { polls } = gemini.ledger.trafficOf(id);
    const before = polls.findLast((poll) => poll <= at) ?? at;
    const next = polls.find((poll) => poll > at);
    return next === undefined ? [] : [next - before];
  });
}

export interface Silence {
  ms: number;
  from: number;
}

/** The longest gaps between two polls of one run, over all runs. */
export function longestSilences({ gemini }: FleetWorld, count: number): Silence[] {
  return gemini.ledger
    .acceptedStarts()
    .flatMap(({ id, at }) => {
      const { polls } = gemini.ledger.trafficOf(id);
      return polls.map((poll, n) => ({ from: polls[n - 1] ?? at, ms: poll - (polls[n - 1] ?? at) }));
    })
    .toSorted((one, other) => other.ms - one.ms)
    .slice(0, count);
}
