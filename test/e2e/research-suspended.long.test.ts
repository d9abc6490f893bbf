/** Processes that are suspended, calls that are cancelled and clocks that are set back around the one paid request. */

import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { ScenarioInput } from "../../simulator/scenario.ts";
import { openClockWorld } from "../pause/clock-world.ts";
import { drain } from "../kit/kills/kills.ts";
import { judge } from "../kit/judge/kills-judge.ts";
import type { ProductProcess } from "../kit/kills/process.ts";
import { type KillWorld, openKillWorld } from "../kit/kills/world.ts";
import { resumeProcess, suspendProcess, tryWrite } from "../kit/kills/suspend.ts";

const START = "start_deep_research";
const SOON = { interval: 20 };
const QUERY = "What sleeps before it is sent?";

type Interactions = NonNullable<ScenarioInput["interactions"]>;
const scenarioOf = (interactions: Interactions): ScenarioInput => ({
  name: "suspended",
  interactions: { speed: 1_000, ...interactions },
});

async function world(interactions: Interactions): Promise<KillWorld> {
  const opened = await openKillWorld({ scenario: scenarioOf(interactions) });
  onTestFinished(opened.close);
  return opened;
}

interface Row {
  task_id: string;
  status: string;
  error_message: string | null;
  cancel_requested_at: number | null;
}
const rows = (here: KillWorld): Row[] => here.query<Row>("select * from research_tasks where kind = 'agent'");
const statuses = (here: KillWorld): string[] => rows(here).map(({ status }) => status);
const accepted = ({ gemini }: KillWorld): number => gemini.ledger.acceptedStarts().length;

async function end(...children: ProductProcess[]): Promise<void> {
  for (const child of children) child.kill();
  await Promise.all(children.map(({ ended }) => ended));
}

async function expectAllWell(here: KillWorld): Promise<void> {
  await drain(here);
  expect(judge(here).broken).toEqual([]);
}

/** A process that has stored its intent and is suspended before it sends the request. */
async function suspendedBeforeSending(
  here: KillWorld,
): Promise<{ child: ProductProcess; answer: ReturnType<ProductProcess["call"]> }> {
  const child = here.begin({ failpoint: "before-post:1:stop" });
  const answer = child.call(START, { query: QUERY });
  await expect.poll(() => statuses(here), SOON).toEqual(["pending"]);
  return { child, answer };
}

/** Another process finds that the lease has expired and abandons the start. */
async function givenUp(here: KillWorld): Promise<ProductProcess> {
  const sql = "update research_tasks set lease_until = 1 where lease_until is not null";
  await expect.poll(() => tryWrite(here, sql), SOON).toBe(true);
  const worker = here.begin({ args: ["worker"] });
  await expect.poll(() => statuses(here), SOON).toEqual(["start_unknown"]);
  return worker;
}

test("an answer that arrived while the process was suspended past its time limit is read, and its id kept (I8)", async () => {
  const here = await world({ duration_ms: 0, create: [{ latency_ms: 800 }] });
  const child = here.begin({ env: { GEMINI_SEARCH_START_LIMIT_MS: "2000" } });
  const answer = child.call(START, { query: QUERY });
  await expect.poll(() => accepted(here), SOON).toBe(1);
  await suspendProcess(here, child);
  await sleep(4_000);
  resumeProcess(child);
  expect(await answer).toMatchObject({ success: true });
  await end(child);
  await expectAllWell(here);
  expect([accepted(here), statuses(here)]).toEqual([1, ["completed"]]);
});

test("a start that was abandoned while its process was suspended before sending is not sent after it resumes (I8)", async () => {
  const here = await world({ duration_ms: 0 });
  const { child, answer } = await suspendedBeforeSending(here);
  const worker = await givenUp(here);
  resumeProcess(child);
  expect(await answer).toMatchObject({ success: false, status: "failed", error: { code: "INTERRUPTED" } });
  expect(rows(here)[0]?.error_message).toContain("not sent and nothing was charged");
  expect(accepted(here)).toBe(0);
  await end(child, worker);
  await expectAllWell(here);
});

test("a start that was restarted elsewhere while its process was suspended is sent once (I8)", async () => {
  const here = await world({ duration_ms: 0 });
  const { child, answer } = await suspendedBeforeSending(here);
  const worker = await givenUp(here);
  const taskId = rows(here)[0]?.task_id ?? "";
  const other = here.begin();
  const again = { task_id: taskId, accept_possible_double_charge: true };
  expect(await other.call("resume_research", again)).toMatchObject({ success: true });
  resumeProcess(child);
  await answer;
  await expect.poll(() => statuses(here).toSorted(), SOON).toEqual(["completed", "failed"]);
  expect(accepted(here)).toBe(1);
  await end(child, other, worker);
  await expectAllWell(here);
});

test("a restart whose interaction was adopted elsewhere meanwhile is not sent, and the answer says so (Q1, I8)", async () => {
  const here = await world({ duration_ms: 0, create: [{ fault: "accept-then-reset" }] });
  const first = here.begin();
  await first.call(START, { query: QUERY });
  const taskId = rows(here)[0]?.task_id ?? "";
  await end(first);
  const child = here.begin({ failpoint: "before-post:1:stop" });
  const answer = child.call("resume_research", { task_id: taskId, accept_possible_double_charge: true });
  await expect.poll(() => statuses(here).toSorted(), SOON).toEqual(["pending", "start_unknown"]);
  const other = here.begin();
  const [start] = here.gemini.ledger.acceptedStarts();
  await other.call("resume_research", { task_id: taskId, interaction_id: start?.id });
  resumeProcess(child);
  expect(await answer).toMatchObject({ success: true, message: expect.stringContaining("Nothing was sent") });
  expect(accepted(here)).toBe(1);
  await end(child, other);
  await expectAllWell(here);
  expect(statuses(here).toSorted()).toEqual(["completed", "failed"]);
});

test("a start that was cancelled elsewhere while its process was suspended is not sent (L1)", async () => {
  const here = await world({ duration_ms: 0 });
  const { child, answer } = await suspendedBeforeSending(here);
  const other = here.begin();
  await other.call("cancel_research", { task_id: rows(here)[0]?.task_id ?? "" });
  resumeProcess(child);
  expect(await answer).toMatchObject({ success: false, status: "cancelled" });
  expect([accepted(here), statuses(here)]).toEqual([0, ["cancelled"]]);
  await end(child, other);
});

test("a call that its client cancels at once is not charged (I8)", async () => {
  const here = await world({ duration_ms: 0 });
  const child = here.begin();
  void child.call(START, { query: QUERY });
  child.cancelCall();
  await sleep(1_500);
  await expect.poll(() => statuses(here).filter((status) => status !== "cancelled"), SOON).toEqual([]);
  expect(accepted(here)).toBe(0);
  await end(child);
});

test("a call that is cancelled after its intent was stored and before it is sent is not charged (I8)", async () => {
  const here = await world({ duration_ms: 0 });
  const { child } = await suspendedBeforeSending(here);
  child.cancelCall();
  await sleep(100);
  resumeProcess(child);
  await expect.poll(() => statuses(here), SOON).toEqual(["cancelled"]);
  expect(rows(here)[0]?.error_message).toContain("nothing was charged");
  expect(accepted(here)).toBe(0);
  await end(child);
});

test("a run that is being cancelled is not joined by the same question (I9)", async () => {
  const here = await world({ status: "in_progress", cancel: [{ latency_ms: 3_000 }] });
  const child = here.begin({ env: { RESEARCH_SYNC_WINDOW_MS: "0" } });
  const first = await child.call(START, { query: QUERY });
  const cancelling = child.call("cancel_research", { task_id: first?.task_id ?? "" });
  await expect.poll(() => rows(here)[0]?.cancel_requested_at ?? null, SOON).not.toBeNull();
  const second = await child.call(START, { query: QUERY });
  expect(second).toMatchObject({ success: true });
  expect(second?.joined).not.toBe(true);
  expect(second?.task_id).not.toBe(first?.task_id);
  await cancelling;
  await end(child);
});

test("a start is answered in time although the clock is set back an hour meanwhile (I3)", async () => {
  const here = await openClockWorld({ scenario: scenarioOf({ status: "in_progress" }) });
  onTestFinished(here.close);
  const child = here.begin({ env: { RESEARCH_SYNC_WINDOW_MS: "3000" } });
  const began = performance.now();
  const answer = child.call(START, { query: QUERY });
  await expect.poll(() => statuses(here), SOON).toEqual(["running_async"]);
  // By now the call waits for the end of the sync window.
  await sleep(700);
  here.jump(-3_600_000);
  expect(await Promise.race([answer, sleep(15_000)])).toMatchObject({ status: "running_async" });
  expect(performance.now() - began).toBeLessThan(30_000);
  await end(child);
});
