/** What must be true of a fleet at any time, and when everything has come to rest. */

import { isAlive } from "../support/processes.ts";
import { judgeStored, type Stored, STORED, type Verdict } from "../support/research-kill-judge.ts";
import { waitFor } from "../support/wait-for.ts";
import type { FleetWorld } from "./world.ts";

const JOBS = "gemini_search_jobs.job";
const FOLLOWED = `select task_id from research_tasks
  where next_poll_at is not null or (status = 'pending' and kind = 'agent')`;

/** A run and its job are stored in one transaction: at no time is there one without the other. */
export async function runsWithoutJob({ query }: FleetWorld): Promise<number> {
  const rows = await query(
    `select task_id from (${FOLLOWED}) as followed
      where not exists (select 1 from ${JOBS} as job where job.id::text = followed.task_id and job.state <= 'active')`,
  );
  return rows.length;
}

/** An unknown start is one after two and a half minutes. */
const REST_MS = 6 * 60_000;

/** Until every run has ended and every job has gone, or for as long as that may take. */
export async function untilRest({ query }: FleetWorld, timeout = REST_MS): Promise<void> {
  const nothingLeft = async (): Promise<void> => {
    const [runs, jobs] = [await query(FOLLOWED), await query(`select id from ${JOBS}`)];
    if (runs.length + jobs.length > 0) throw new Error(`${runs.length} runs and ${jobs.length} jobs are left.`);
  };
  // Who is late is found by the judge, by name.
  await waitFor(nothingLeft, { timeout, interval: 500 }).catch(() => undefined);
}

/** Ends the fleet as a service manager does, and looks at what it leaves. */
export async function judgeFleet(world: FleetWorld): Promise<Verdict> {
  const { query, members } = world;
  const left = {
    jobs: `select id from ${JOBS}`,
    "runs without a job": FOLLOWED,
    "handed runs": "select task_id from research_tasks where handed_to is not null",
    leases: "select task_id from research_tasks where lease_until is not null",
    slots: "select slot_id from slots",
  };
  const broken: string[] = [];
  for (const [name, statement] of Object.entries(left)) {
    const { length } = await query(statement);
    if (length > 0) broken.push(`${length} ${name} are left.`);
  }
  const codes = await Promise.all(members.map((member) => member.stop()));
  for (const [index, { name, pid, left: gone }] of members.entries()) {
    broken.push(...gone.map((words) => `By itself ${words}`));
    if (codes[index] !== 0) broken.push(`${name} ended with ${codes[index]} when it was told to.`);
    if (isAlive(pid())) broken.push(`${name} is alive.`);
  }
  const stored: Stored = {
    runs: await query(STORED.runs),
    attempts: await query(STORED.attempts),
    results: await query(STORED.results),
    searchable: await query(STORED.searchable),
    notices: await query(STORED.notices),
  };
  const verdict = await judgeStored(world, stored);
  return { broken: [...verdict.broken, ...broken], counts: verdict.counts };
}
