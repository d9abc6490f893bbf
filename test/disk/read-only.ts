/** Read-only directories and a read-only database, for a user other than root. */

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { drain } from "../kit/kills/kills.ts";
import { judge } from "../kit/judge/kills-judge.ts";
import type { ProductProcess } from "../kit/kills/process.ts";
import { type KillWorld, openKillWorld } from "../kit/kills/world.ts";
import { ROOT } from "../kit/server/server.ts";

/** The uid of `nobody`; undefined if the tests do not run as root. */
const UID = process.getuid?.() === 0 ? 65_534 : undefined;

/** File modes do not restrict root, and another user may not be allowed to read this checkout. */
export function canRunUnprivileged(): boolean {
  if (process.platform !== "linux") return false;
  try {
    const file = join(ROOT, "dist-failpoints/main.js");
    const options = { stdio: "ignore", ...(UID === undefined ? {} : { uid: UID }) } as const;
    execFileSync(process.execPath, ["-e", "fs.readFileSync(process.argv[1])", file], options);
    return true;
  } catch {
    return false;
  }
}

const [READ_ONLY, WRITABLE] = [0o500, 0o700];

const HOUR_MS = 3_600_000;
const AT_ONCE = { name: "read-only", interactions: { speed: 1_000, duration_ms: 0 } };
const HOUR = { name: "an hour", interactions: { speed: 1, duration_ms: HOUR_MS } };

/** Returns one sentence for each broken promise. */
export async function playReadOnly(): Promise<string[]> {
  const here = await openKillWorld({ scenario: AT_ONCE });
  const folder = join(here.configDir, "..");
  const temporary = join(folder, "tmp");
  mkdirSync(temporary);
  if (UID !== undefined) execFileSync("chown", ["-R", String(UID), folder]);
  const begin = (): ProductProcess => here.begin({ uid: UID, env: { TMPDIR: temporary } });
  try {
    const taskId = await completedRun(here, begin());
    const broken = [
      ...(await readOnlyReports(here, begin(), taskId)),
      ...(await readOnlyConfig(here, begin, taskId)),
      ...(await readOnlyFile(here, begin, taskId)),
      ...(await withoutDatabase(here, { folder, temporary })),
    ];
    await drain(here);
    return [...broken, ...judge(here).broken];
  } finally {
    await here.close();
  }
}

const unless = (kept: boolean, sentence: string): string[] => (kept ? [] : [sentence]);

async function end(child: ProductProcess): Promise<void> {
  child.closeStdin();
  await child.ended;
}

async function completedRun(here: KillWorld, child: ProductProcess): Promise<string> {
  const answer = await child.call("start_deep_research", { query: "What may be written?" });
  const taskId = answer?.task_id;
  if (taskId === undefined) throw new Error(`A start in a writable directory was refused: ${JSON.stringify(answer)}`);
  here.returned.add(taskId);
  while (here.notified().length === 0) await sleep(20);
  await end(child);
  return taskId;
}

async function readOnlyReports(here: KillWorld, child: ProductProcess, task_id: string): Promise<string[]> {
  const save = () => child.call("save_research_to_markdown", { task_id, include_metadata: false });
  chmodSync(here.reportsDir, READ_ONLY);
  const error = (await save())?.error;
  const read = await child.call("get_research_results", { task_id });
  chmodSync(here.reportsDir, WRITABLE);
  const again = await save();
  await end(child);
  const details = JSON.stringify(error?.["details"] ?? {});
  return [
    ...unless(error?.code === "PERMISSION_DENIED", `A save to a read-only directory was answered with ${error?.code}.`),
    ...unless(details.includes(here.reportsDir), "The path was not returned."),
    ...unless(read?.success === true, "The report could not be read."),
    ...unless(again?.success === true, "A save to a writable directory was refused."),
  ];
}

/** A running process refuses starts, answers from the stored runs, and starts again once it may write. */
async function readOnlyDatabase(
  here: KillWorld,
  child: ProductProcess,
  { path, writable, taskId }: { path: string; writable: number; taskId: string },
): Promise<string[]> {
  const posts = here.gemini.ledger.acceptedStarts().length;
  const start = (query: string) => child.call("start_deep_research", { query, force_new: true });
  const refused = (await start("What is never sent?"))?.error;
  const sent = here.gemini.ledger.acceptedStarts().length - posts;
  const report = await child.call("get_research_results", { task_id: taskId });
  const status = await child.call("check_research_status", { task_id: taskId });
  const list = await child.call("list_research", {});
  const search = await child.call("search", { query: "What works without a disk?" });
  chmodSync(path, writable);
  const end = Date.now() + MAX_RECOVERY_MS;
  let started = await start("What is sent again?");
  while (started?.success !== true && Date.now() < end) {
    await sleep(100);
    started = await start("What is sent again?");
  }
  if (started?.task_id !== undefined) here.returned.add(started.task_id);
  const completed = () => child.call("check_research_status", { task_id: started?.task_id, wait_seconds: 1 });
  while (Date.now() < end && (await completed())?.status !== "completed");
  const what = `With ${path} read-only`;
  return [
    ...unless(refused?.code === "SQLITE_ERROR", `${what} a start was answered with ${refused?.code ?? "success"}.`),
    ...unless(sent === 0, `${what} a start was sent without a stored intent.`),
    ...unless(
      String(refused?.["suggestion"]).includes(`write permission for ${path}`),
      `${what}: ${JSON.stringify(refused)}`,
    ),
    ...unless(
      String(report?.["report"]).length > 100,
      `${what} the stored report could not be read: ${JSON.stringify(report)}`,
    ),
    ...unless(status?.status === "completed", `${what} the status was ${JSON.stringify(status)}.`),
    ...unless(JSON.stringify(list?.["runs"]).includes(taskId), `${what} the run was not listed.`),
    ...unless(search?.success === true, `${what} a search failed.`),
    ...unless(started?.success === true, `Writable again, a start was refused: ${JSON.stringify(started)}`),
  ];
}

const MAX_RECOVERY_MS = 20_000;

async function readOnlyConfig(here: KillWorld, begin: () => ProductProcess, taskId: string): Promise<string[]> {
  chmodSync(here.configDir, READ_ONLY);
  const child = begin();
  const broken = await readOnlyDatabase(here, child, { path: here.configDir, writable: WRITABLE, taskId });
  await end(child);
  return [...broken, ...unless(child.stderr().includes("[WARN] The config directory"), "No warning was logged.")];
}

async function readOnlyFile(here: KillWorld, begin: () => ProductProcess, taskId: string): Promise<string[]> {
  const path = join(here.configDir, "deep_research.db");
  const task_id = await runningRun(here, begin());
  chmodSync(path, 0o400);
  const child = begin();
  const resumed = await child.call("resume_research", { task_id });
  const broken = await readOnlyDatabase(here, child, { path, writable: 0o600, taskId });
  here.gemini.skip(HOUR_MS);
  await end(child);
  return [
    ...broken,
    ...unless(
      String(resumed?.["message"]).startsWith("The run continues at Google, but its report cannot be stored now."),
      `With ${path} read-only, a resumed run was answered with ${JSON.stringify(resumed)}.`,
    ),
    ...unless(child.stderr().includes("Stored runs can be read"), "No warning was logged."),
  ];
}

async function runningRun(here: KillWorld, child: ProductProcess): Promise<string> {
  here.gemini.setScenario(HOUR);
  const answer = await child.call("start_deep_research", { query: "What takes an hour?" });
  here.gemini.setScenario(AT_ONCE);
  const taskId = answer?.task_id;
  if (taskId === undefined) throw new Error(`A start was refused: ${JSON.stringify(answer)}`);
  here.returned.add(taskId);
  await end(child);
  return taskId;
}

/** The first searches of an installation are in memory; they stay there until the process ends, and are not lost. */
async function withoutDatabase(here: KillWorld, { folder, temporary }: Record<"folder" | "temporary", string>) {
  const config = join(folder, "fresh");
  mkdirSync(config);
  if (UID !== undefined) execFileSync("chown", [String(UID), config]);
  chmodSync(config, READ_ONLY);
  const child = here.begin({ uid: UID, env: { TMPDIR: temporary, GEMINI_SEARCH_CONFIG_DIR: config } });
  const search = await child.call("search", { query: "What is kept in memory?" });
  chmodSync(config, WRITABLE);
  await sleep(RETRY_MS);
  const refused = (await child.call("start_deep_research", { query: "What is not sent?" }))?.error;
  const task_id = Object(search?.["metadata"]).task_id;
  const read = await child.call("get_research_results", { task_id });
  await end(child);
  return [
    ...unless(String(refused?.["suggestion"]).endsWith("Then restart gemini-search-mcp."), JSON.stringify(refused)),
    ...unless(read?.["report"] === search?.["result"], `A search in memory was lost: ${JSON.stringify(read)}`),
  ];
}

/** Longer than the interval in which a process tries again to write a database. */
const RETRY_MS = 1_100;
