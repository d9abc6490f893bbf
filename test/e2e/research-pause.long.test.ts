/** A process that is suspended for longer than its lease, during a paid request or a poll, and then resumes. */

import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { ScenarioInput } from "../../simulator/scenario.ts";
import { drain } from "../kit/kills/kills.ts";
import { judge } from "../kit/judge/kills-judge.ts";
import type { ProductProcess } from "../kit/kills/process.ts";
import { type KillWorld, openKillWorld } from "../kit/kills/world.ts";
import { resumeProcess, suspendProcess, tryWrite } from "../kit/kills/suspend.ts";

const SOON = { interval: 20 };
const QUESTIONS = Array.from({ length: 8 }, (_, n) => `What sleeps for ${n} hours?`);

async function world(interactions: NonNullable<ScenarioInput["interactions"]>): Promise<KillWorld> {
  const opened = await openKillWorld({ scenario: { name: "pause", interactions: { speed: 1_000, ...interactions } } });
  onTestFinished(opened.close);
  return opened;
}

const statuses = (here: KillWorld): string[] =>
  here.query<{ status: string }>("select distinct status from research_tasks").map(({ status }) => status);

/** As if the pause had been longer than the lease: other processes use the times in the row. */
async function expireLeases(here: KillWorld): Promise<void> {
  // A claimed run is due again when its lease ends.
  const due = "next_poll_at = case when next_poll_at is null then null else 1 end";
  const sql = `update research_tasks set lease_until = 1, ${due} where lease_until is not null`;
  await expect.poll(() => tryWrite(here, sql), SOON).toBe(true);
}

/** Starts all questions; resolves when Google has accepted them and before it has answered any. */
async function stoppedWhileSending(here: KillWorld): Promise<{ child: ProductProcess; answers: Promise<unknown[]> }> {
  const child = here.begin();
  const answers = Promise.all(QUESTIONS.map((query) => child.call("start_deep_research", { query })));
  await expect.poll(() => here.gemini.ledger.acceptedStarts().length, SOON).toBe(QUESTIONS.length);
  await suspendProcess(here, child);
  return { child, answers };
}

async function expectAllWell(here: KillWorld): Promise<void> {
  await drain(here);
  expect(judge(here).broken).toEqual([]);
}

async function end(child: ProductProcess): Promise<void> {
  child.kill();
  await child.ended;
}

/** Long enough to suspend all processes before the first response. */
const SLOW_START = [{ latency_ms: 2_000 }];

test("a process suspended during the paid request sends one start, and its late id is kept (I8, P2)", async () => {
  const here = await world({ duration_ms: 0, create: SLOW_START });
  const { child, answers } = await stoppedWhileSending(here);
  await expireLeases(here);
  const other = here.begin({ args: ["worker"] });
  await expect.poll(() => statuses(here), SOON).toEqual(["start_unknown"]);
  resumeProcess(child);
  for (const answer of await answers) expect(answer).toMatchObject({ success: true });
  await expect.poll(() => statuses(here), SOON).toEqual(["completed"]);
  await Promise.all([end(child), end(other)]);
  await expectAllWell(here);
  expect(here.gemini.ledger.acceptedStarts().length).toBe(QUESTIONS.length);
});

test("a run that is cancelled while its sender is suspended is cancelled at Google once its id is known (I8, L1)", async () => {
  const here = await world({ status: "in_progress", create: SLOW_START });
  const { child, answers } = await stoppedWhileSending(here);
  await expireLeases(here);
  const worker = here.begin({ args: ["worker"] });
  await expect.poll(() => statuses(here), SOON).toEqual(["start_unknown"]);
  const other = here.begin();
  for (const { task_id } of here.query<{ task_id: string }>("select task_id from research_tasks")) {
    expect(await other.call("cancel_research", { task_id })).toMatchObject({ status: "cancelled", confirmed: false });
  }
  resumeProcess(child);
  await answers;
  const confirmed = (): number => here.query("select task_id from research_tasks where cancel_confirmed = 1").length;
  await expect.poll(confirmed, SOON).toBe(QUESTIONS.length);
  await Promise.all([end(child), end(other), end(worker)]);
  await expectAllWell(here);
});

test("when a start is repeated with consent while its sender is suspended, both ids are kept (I8)", async () => {
  const here = await world({ duration_ms: 0, create: SLOW_START });
  const { child, answers } = await stoppedWhileSending(here);
  await expireLeases(here);
  const worker = here.begin({ args: ["worker"] });
  await expect.poll(() => statuses(here), SOON).toEqual(["start_unknown"]);
  const other = here.begin();
  const runs = here.query<{ task_id: string }>("select task_id from research_tasks");
  const again = { accept_possible_double_charge: true };
  await Promise.all(runs.map(({ task_id }) => other.call("resume_research", { task_id, ...again })));
  resumeProcess(child);
  await answers;
  const ids = (): number =>
    here.query("select distinct interaction_id from research_attempts where interaction_id is not null").length;
  await expect.poll(ids, SOON).toBe(2 * QUESTIONS.length);
  await expect.poll(() => statuses(here), SOON).toEqual(["completed"]);
  await Promise.all([end(child), end(other), end(worker)]);
  await expectAllWell(here);
  expect(here.gemini.ledger.acceptedStarts().length).toBe(2 * QUESTIONS.length);
});

test("when a process is suspended during a poll, another takes over after the lease, and the end is announced once (P2, P5, O2)", async () => {
  // The polls of eight runs are sent over almost 2 s; all of them must be in progress at the suspension.
  const here = await world({ duration_ms: 0, get: [{ latency_ms: 10_000 }, {}] });
  const child = here.begin();
  await Promise.all(QUESTIONS.map((query) => child.call("start_deep_research", { query })));
  const { ledger } = here.gemini;
  const polls = (): number =>
    ledger.acceptedStarts().reduce((sum, { id }) => sum + ledger.trafficOf(id).polls.length, 0);
  await expect.poll(polls, SOON).toBe(QUESTIONS.length);
  await suspendProcess(here, child);
  const other = here.begin({ args: ["worker"] });
  await sleep(1_000);
  // The lease is valid although its owner is suspended.
  expect(polls()).toBe(QUESTIONS.length);
  await expireLeases(here);
  await expect.poll(() => statuses(here), SOON).toEqual(["completed"]);
  const saved = here.query("select task_id, saved_at from research_results order by task_id");
  await expect.poll(() => here.notified().length, SOON).toBe(QUESTIONS.length);
  resumeProcess(child);
  await sleep(2_000);
  await Promise.all([end(child), end(other)]);
  await expectAllWell(here);
  expect(here.query("select task_id, saved_at from research_results order by task_id")).toEqual(saved);
  expect(here.notified().length).toBe(QUESTIONS.length);
});
