/** Kills during a follow-up, at each point of its start and of the fallback to the stored report, judged by Google's ledger. */

import { expect, onTestFinished, test } from "vitest";
import { judge } from "../kit/judge/kills-judge.ts";
import { prepare } from "../kit/kills/kills.ts";
import { openKillWorld } from "../kit/kills/world.ts";

interface Kill {
  point: string;
  forgotten: boolean;
  paid: number;
  /** Of a follow-up that makes a table; it never continues the research at Google. */
  columns?: string[] | undefined;
}

const questionAt = ({ point, forgotten, columns = [] }: Omit<Kill, "paid">): string =>
  `What about ${point}, ${forgotten}?${columns.join("")}`;

/** Failpoints, and how many requests of the follow-up Google may have accepted when the process is killed there. */
const KILLS: Kill[] = [
  // Google continues the research.
  { point: "after-intent:1", forgotten: false, paid: 0 },
  { point: "before-post:1", forgotten: false, paid: 0 },
  { point: "after-post:1", forgotten: false, paid: 1 },
  { point: "after-id:1", forgotten: false, paid: 1 },
  // Google has refused to; the stored report follows in a second attempt.
  { point: "after-post:1", forgotten: true, paid: 0 },
  { point: "after-fallback:1", forgotten: true, paid: 0 },
  { point: "after-post:2", forgotten: true, paid: 1 },
  { point: "after-id:1", forgotten: true, paid: 1 },
  // A table is made of the stored report.
  { point: "after-intent:1", forgotten: false, paid: 0, columns: ["Maker"] },
  { point: "after-post:1", forgotten: false, paid: 1, columns: ["Maker"] },
  { point: "after-id:1", forgotten: false, paid: 1, columns: ["Maker"] },
];

test("a kill during a follow-up or table loses no run and is never followed by a second paid request (V1, V5)", async () => {
  const interactions = { speed: 1_000, usage_after_ms: 0, duration_ms: 60_000 };
  const world = await openKillWorld({ scenario: { name: "follow-ups", interactions } });
  onTestFinished(world.close);
  await prepare(world);
  const [parent] = world.query<{ task_id: string }>("select task_id from research_tasks");
  const killAt = async ({ point, forgotten, paid, columns }: Kill): Promise<void> => {
    const child = world.begin({ failpoint: point });
    const question = questionAt({ point, forgotten, columns });
    const input = { task_id: parent?.task_id ?? "", question, wait: false, ...(columns && { columns }) };
    const answer = child.call("ask_followup", input);
    expect(await child.ended).toMatchObject({ killed: true });
    expect(await answer).toBeUndefined();
    const [run] = world.query<{ task_id: string; followup_context: string }>(
      "select task_id, followup_context from research_tasks where query = ?",
      question,
    );
    const starts = world.gemini.ledger.acceptedStarts().filter(({ labels }) => labels["run"] === run?.task_id);
    // What is sent is stored before it is sent.
    const hasFallenBack = forgotten && point !== "after-post:1";
    expect({ question, paid: starts.length, context: run?.followup_context }).toEqual({
      question,
      paid,
      context: hasFallenBack || columns !== undefined ? "stored_report" : "google",
    });
    world.returned.add(run?.task_id ?? "");
  };
  for (const forgotten of [false, true]) {
    world.gemini.setScenario({ name: "follow-ups", interactions: { ...interactions, previous_forgotten: forgotten } });
    await Promise.all(KILLS.filter((kill) => kill.forgotten === forgotten).map(killAt));
  }
  const paidBefore = world.gemini.ledger.acceptedStarts().length;
  const life = world.begin();
  await life.call("list_research", {});
  const statusOf = (kill: Kill): string | undefined =>
    world.query<{ status: string }>("select status from research_tasks where query = ?", questionAt(kill))[0]?.status;
  await expect
    .poll(() => KILLS.map((kill) => ({ ...kill, status: statusOf(kill) })))
    .toEqual(KILLS.map((kill) => ({ ...kill, status: kill.point === "after-id:1" ? "completed" : "start_unknown" })));
  expect(world.gemini.ledger.acceptedStarts()).toHaveLength(paidBefore);
  // The user decides about one of them: it is sent again with the report, which only its parent has stored.
  const [resumed] = world.query<{ task_id: string }>(
    "select task_id from research_tasks where query = ?",
    questionAt({ point: "after-fallback:1", forgotten: true }),
  );
  const task_id = resumed?.task_id ?? "";
  const answer = await life.call("resume_research", { task_id, accept_possible_double_charge: true });
  expect(answer).toMatchObject({ success: true });
  const restarted = String(answer?.["task_id"]);
  expect(world.gemini.ledger.acceptedStarts().slice(paidBefore)).toMatchObject([
    { query: expect.stringContaining("A run to be saved"), labels: { run: restarted } },
  ]);
  const statusOfRestart = (): string | undefined =>
    world.query<{ status: string }>("select status from research_tasks where task_id = ?", restarted)[0]?.status;
  await expect.poll(statusOfRestart).toBe("completed");
  // Asked for again, a table whose start is unknown is not sent, and one that was finished meanwhile is free.
  const tables = KILLS.filter(({ columns }) => columns !== undefined);
  const again = await Promise.all(
    tables.map((kill) =>
      life.call("ask_followup", { task_id: parent?.task_id, question: questionAt(kill), columns: kill.columns }),
    ),
  );
  expect(again).toMatchObject([
    { error: { code: "START_UNKNOWN" } },
    { error: { code: "START_UNKNOWN" } },
    { success: true, joined: true, results: { table: { columns: ["Maker"] } } },
  ]);
  expect(world.gemini.ledger.acceptedStarts()).toHaveLength(paidBefore + 1);
  life.closeStdin();
  await life.ended;
  expect(judge(world).broken).toEqual([]);
}, 120_000);
