/** Ids that the database refused, and processes that died before importing them: no id is lost. */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { drain } from "../kit/kills/kills.ts";
import { judge } from "../kit/judge/kills-judge.ts";
import { type KillWorld, openKillWorld } from "../kit/kills/world.ts";
import { openResearch, untilStatus } from "../kit/server/research.ts";

/** The contents of the files of ids. A file may be renamed or imported while it is read. */
const orphans = ({ configDir }: Pick<KillWorld, "configDir">): string =>
  readdirSync(configDir)
    .filter((name) => name.startsWith("orphans"))
    .map((name) => {
      try {
        return readFileSync(join(configDir, name), "utf8");
      } catch {
        return "";
      }
    })
    .join("");

/**
 * Another process writes for so long that the id of a start in flight cannot be saved; then the starting process dies.
 */
async function startRefusedByDatabase(here: KillWorld, query: string): Promise<void> {
  const before = here.gemini.ledger.acceptedStarts().length;
  // It does not poll, so that it does not end the run itself.
  const life = here.begin({ env: { RESEARCH_MAX_RPS: "0" } });
  void life.call("start_deep_research", { query });
  await expect.poll(() => here.gemini.ledger.acceptedStarts().length).toBe(before + 1);
  const database = new DatabaseSync(join(here.configDir, "deep_research.db"), { timeout: 5_000 });
  database.exec("begin immediate");
  const { id } = here.gemini.ledger.acceptedStarts().at(-1) ?? { id: "" };
  await expect.poll(() => orphans(here)).toContain(id);
  life.kill();
  await life.ended;
  database.exec("rollback");
  database.close();
}

test(
  "an id that the database refused survives a kill at every step of its import (I8, P2)",
  { timeout: 90_000 },
  async () => {
    const interactions = { speed: 1_000, duration_ms: 0, create: [{ latency_ms: 3_000 }] };
    const here = await openKillWorld({ scenario: { name: "orphans", interactions } });
    onTestFinished(here.close);
    const takeAndDie = async (): Promise<void> => {
      const worker = here.begin({ args: ["worker"], failpoint: "after-orphan-taken" });
      expect((await worker.ended).killed).toBe(true);
    };
    await startRefusedByDatabase(here, "What is left of the first?");
    await takeAndDie();
    await startRefusedByDatabase(here, "What is left of the second?");
    await takeAndDie();
    const [, second] = here.gemini.ledger.acceptedStarts();
    expect(orphans(here)).toContain(second?.id);
    await drain(here);
    const { broken, counts } = judge(here);
    expect(broken).toEqual([]);
    expect(counts).toMatchObject({ paid_starts: 2, runs: 2, completed: 2 });
  },
);

test("a file of a dead process whose pid is alive again is imported when a server starts (I8, P2)", async (context) => {
  const scene = await openResearch(context, { create: [{ fault: "accept-then-reset" }] });
  const first = await scene.server();
  const [taskIds, files]: [string[], [string, string][]] = [[], []];
  // The pid of this test, with the start mark of an earlier process, and without one.
  for (const suffix of ["0a1b_42.5d3e", "5d3e8a1c-0000-4000-8000-000000000000"]) {
    const { structured } = await first.call("start_deep_research", { query: `What is left in ${suffix}?` });
    const { task_id } = structured;
    const [attempt] = scene.sql("select attempt_id from research_attempts where task_id = ?", task_id);
    const interaction_id = scene.gemini.ledger.acceptedStarts().at(-1)?.id;
    taskIds.push(task_id);
    files.push([`orphans.jsonl.${process.pid}.${suffix}`, JSON.stringify({ ...attempt, interaction_id })]);
  }
  await first.close();
  for (const [name, line] of files) writeFileSync(join(scene.configDir, name), `\n${line}\n`);
  const second = await scene.server();
  for (const taskId of taskIds) await untilStatus(second, taskId, "completed");
  expect([orphans(scene), scene.posts()]).toEqual(["", 2]);
});
