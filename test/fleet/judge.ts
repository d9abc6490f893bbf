/** Checks the promises of a fleet, at any time and after all runs have ended. */

import { isAlive } from "../kit/server/processes.ts";
import { judgeStored, type Stored, STORED, type Verdict } from "../kit/judge/kills-judge.ts";
import { waitFor } from "../kit/wait-for.ts";
import { MISMATCHES } from "./jobs.ts";
import type { FleetWorld } from "./world.ts";

const UNFINISHED = `select task_id from research_tasks
  where next_poll_at is not null or (status = 'pending' and kind = 'agent')`;

/** A start becomes unknown after two and a half minutes. */
const REST_MS = 6 * 60_000;

/** Waits until every run has ended, up to a timeout. */
export async function untilRest({ query }: FleetWorld, timeout = REST_MS): Promise<void> {
  const nothingLeft = async (): Promise<void> => {
    const runs = await query(UNFINISHED);
    if (runs.length > 0) throw new Error(`${runs.length} runs are left.`);
    // The poll of an ended run is finished shortly afterwards, or expires if its process was killed.
    for (const statement of Object.values(MISMATCHES)) {
      const { length } = await query(statement);
      if (length > 0) throw new Error(`${length} polls do not match their runs.`);
    }
  };
  // The judge reports what is left.
  await waitFor(nothingLeft, { timeout, interval: 500 }).catch(() => undefined);
}

/** Ends the fleet as a service manager does, and checks for leftovers. */
export async function judgeFleet(world: FleetWorld): Promise<Verdict> {
  const { query, members } = world;
  const left = {
    ...MISMATCHES,
    "unfinished runs": UNFINISHED,
    leases: "select task_id from research_tasks where lease_until is not null",
    slots: "select lease_id from leases where process_id <> ''",
  };
  const broken: string[] = [];
  for (const [name, statement] of Object.entries(left)) {
    const { length } = await query(statement);
    if (length > 0) broken.push(`${length} ${name} are left.`);
  }
  const codes = await Promise.all(members.map((member) => member.stop()));
  for (const [index, { name, pid, unexpectedExits }] of members.entries()) {
    broken.push(...unexpectedExits.map((text) => `Unexpected exit: ${text}`));
    if (codes[index] !== 0) broken.push(`${name} exited with ${codes[index]} on SIGTERM.`);
    if (isAlive(pid())) broken.push(`${name} is alive.`);
  }
  const stored: Stored = {
    runs: await query(STORED.runs),
    attempts: await query(STORED.attempts),
    ledger: await query(STORED.ledger),
    results: await query(STORED.results),
    searchable: await query(STORED.searchable),
    notices: await query(STORED.notices),
  };
  const verdict = judgeStored(world, stored);
  return { broken: [...verdict.broken, ...broken, ...judgeKilledStarts(world, stored)], counts: verdict.counts };
}

/**
 * Starts that Google accepted while their server was killed: they are paid, reported as unknown and never sent again.
 */
function judgeKilledStarts({ killedStarts }: FleetWorld, { runs }: Stored): string[] {
  const statusOf = new Map(runs.map(({ task_id, status }) => [task_id, status]));
  return [...killedStarts.keys()].flatMap((taskId) => {
    const status = statusOf.get(taskId) ?? "lost";
    return status === "start_unknown" ? [] : [`Run ${taskId} was being started by a killed server and is ${status}.`];
  });
}
