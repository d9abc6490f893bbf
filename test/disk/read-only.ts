/** Read-only directories, for a user other than root. */

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

/** Returns one sentence for each broken promise. */
export async function playReadOnly(): Promise<string[]> {
  const here = await openKillWorld({
    scenario: { name: "read-only", interactions: { speed: 1_000, duration_ms: 0 } },
  });
  const folder = join(here.configDir, "..");
  const temporary = join(folder, "tmp");
  mkdirSync(temporary);
  if (UID !== undefined) execFileSync("chown", ["-R", String(UID), folder]);
  const begin = (): ProductProcess => here.begin({ uid: UID, env: { TMPDIR: temporary } });
  try {
    const taskId = await completedRun(here, begin());
    const broken = [...(await readOnlyReports(here, begin(), taskId)), ...(await readOnlyConfig(here, begin))];
    await drain(here);
    return [...broken, ...(await judge(here)).broken];
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

async function readOnlyConfig(here: KillWorld, begin: () => ProductProcess): Promise<string[]> {
  chmodSync(here.configDir, READ_ONLY);
  const posts = here.gemini.ledger.acceptedStarts().length;
  const child = begin();
  const start = await child.call("start_deep_research", { query: "What is never sent?", force_new: true });
  const search = await child.call("search", { query: "What works without a disk?" });
  await end(child);
  chmodSync(here.configDir, WRITABLE);
  return [
    ...unless(start?.error?.code === "SQLITE_ERROR", `A start was answered with ${start?.error?.code ?? "success"}.`),
    ...unless(here.gemini.ledger.acceptedStarts().length === posts, "A start was sent without a stored intent."),
    ...unless(search?.success === true, "A search needed the disk."),
    ...unless(child.stderr().includes("[WARN] The config directory"), "No warning was logged."),
  ];
}
