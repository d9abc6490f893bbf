/** Fills the disk at each stage of a paid run, and checks the promises while it is full and after space is freed. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { drain } from "../kit/kills/kills.ts";
import { judge } from "../kit/judge/kills-judge.ts";
import type { ProductProcess } from "../kit/kills/process.ts";
import { type DiskWorld, openDiskWorld } from "./small-disk.ts";

type Interactions = NonNullable<NonNullable<Parameters<typeof openDiskWorld>[0]>["scenario"]>["interactions"];

export interface Stage {
  name: string;
  /**
   * Whether a limit of file sizes can simulate the stage: it needs neither a second disk with free space nor a process
   * that starts while the disk is full.
   */
  limited?: boolean;
  interactions: Interactions;
  /** Returns one sentence for each broken promise, and leaves free space on the disk. */
  play(here: DiskWorld): Promise<string[]>;
}

const QUERY = { query: "What fits on a full disk?" };
const REFUSED = ["DISK_FULL", "SQLITE_ERROR"];
const QUICK = { speed: 1_000, duration_ms: 0 };

export const STAGES: Stage[] = [
  { name: "before there is a database", interactions: QUICK, play: beforeTheDatabase },
  { name: "before the process starts", interactions: QUICK, play: beforeTheProcess },
  { name: "as a file system that is mounted read-only", interactions: QUICK, play: mountedReadOnly },
  { name: "before the start", limited: true, interactions: QUICK, play: beforeTheStart },
  { name: "after the intent", interactions: { ...QUICK, create: [{ latency_ms: 1_500 }] }, play: afterTheIntent },
  {
    name: "after the intent, and the process dies",
    limited: true,
    interactions: { ...QUICK, create: [{ latency_ms: 1_500 }] },
    play: afterTheIntentAndKilled,
  },
  { name: "while Google researches", interactions: { ...QUICK, duration_ms: 1_500_000 }, play: whileResearching },
  {
    name: "during the last poll",
    interactions: { ...QUICK, get: [{ latency_ms: 1_500 }, {}] },
    play: beforeTheFinish,
  },
  {
    name: "while no other disk has room",
    limited: true,
    interactions: { ...QUICK, duration_ms: 1_500_000 },
    play: nowhereAtAll,
  },
  { name: "before a report is saved", interactions: QUICK, play: whileSaving },
];

export async function playStage({ name, interactions, play }: Stage, open = openDiskWorld): Promise<string[]> {
  const here = await open({ scenario: { name: "full-disk", interactions } });
  try {
    const broken = await play(here);
    await drain(here);
    const verdict = judge(here);
    return [...broken, ...verdict.broken].map((sentence) => `Full ${name}: ${sentence}`);
  } finally {
    await here.close();
  }
}

const MAX_WAIT_MS = 40_000;

/** Waits for an event; a timeout is reported as a broken promise. */
async function until(what: string, happened: () => boolean | Promise<boolean>): Promise<string[]> {
  for (const end = Date.now() + MAX_WAIT_MS; Date.now() < end; await sleep(20)) if (await happened()) return [];
  return [`${what} did not happen in time.`];
}

const posts = ({ gemini }: DiskWorld): number => gemini.ledger.acceptedStarts().length;
const completed = (here: DiskWorld) => (): boolean =>
  here.query("select task_id from research_tasks where status = 'completed'").length > 0;

async function end(child: ProductProcess): Promise<void> {
  child.kill();
  await child.ended;
}

function unless(kept: boolean, sentence: string): string[] {
  return kept ? [] : [sentence];
}

const namesFileAndSpace = (message: string | undefined, directory: string): boolean =>
  message?.includes(directory) === true && /[\d,]+ bytes/.test(message);

async function refusedStart(here: DiskWorld, child: ProductProcess, before: number): Promise<string[]> {
  const answer = await child.call("start_deep_research", { ...QUERY, force_new: true });
  const code = answer?.error?.code ?? "success";
  const message = answer?.error?.message;
  return [
    ...unless(
      code !== "DISK_FULL" || namesFileAndSpace(message, here.configDir),
      `File and space are not named: ${message}`,
    ),
    ...unless(REFUSED.includes(code), `A start without space for its intent was answered with ${code}.`),
    ...unless(posts(here) === before, `${posts(here) - before} starts were sent without a stored intent.`),
  ];
}

async function acceptedStart(here: DiskWorld, child: ProductProcess): Promise<string[]> {
  const answer = await child.call("start_deep_research", { ...QUERY, force_new: true });
  if (answer?.task_id !== undefined) here.returned.add(answer.task_id);
  return unless(answer?.success === true, `A start with free space was refused: ${answer?.error?.code}.`);
}

async function beforeTheDatabase(here: DiskWorld): Promise<string[]> {
  here.disk.fill();
  const first = here.begin();
  const refused = await refusedStart(here, first, 0);
  here.disk.free();
  await sleep(RETRY_MS);
  const accepted = await acceptedStart(here, first);
  const over = await until("The run", completed(here));
  await end(first);
  return [...refused, ...accepted, ...over];
}

/** A process opens a database again that it could not write, at most once a second. */
const RETRY_MS = 1_100;

/** The only handles are closed, so that the next process finds no files of the log. */
async function endedRun(here: DiskWorld): Promise<{ task_id: string; broken: string[] }> {
  const child = here.begin();
  const accepted = await acceptedStart(here, child);
  const over = await until("The run", completed(here));
  const announced = await until("The notification", () => here.notified().length === 1);
  child.closeStdin();
  await child.ended;
  const [task_id = ""] = here.returned;
  return { task_id, broken: [...accepted, ...over, ...announced] };
}

/** Stored runs are answered by a process that could not write when it started, and that writes as soon as it can. */
async function readThenWritten(here: DiskWorld, { task_id, free }: { task_id: string; free(): void }) {
  const child = here.begin();
  const refused = await refusedStart(here, child, 1);
  const report = await child.call("get_research_results", { task_id });
  const status = await child.call("check_research_status", { task_id });
  const save = await child.call("save_research_to_markdown", { task_id, output_dir: here.temporary });
  const search = await child.call("search", QUERY);
  const suggestion = String((await child.call("start_deep_research", QUERY))?.error?.["suggestion"]);
  free();
  await sleep(RETRY_MS);
  const accepted = await acceptedStart(here, child);
  const over = await until("The second run", () => here.notified().length === 2);
  await end(child);
  const broken = [
    ...refused,
    ...unless(String(report?.["report"]).length > 100, `The report could not be read: ${JSON.stringify(report)}`),
    ...unless(status?.status === "completed", `The status was ${JSON.stringify(status)}.`),
    ...unless(save?.success === true, `The report could not be saved elsewhere: ${JSON.stringify(save)}`),
    ...unless(search?.success === true, `A search failed: ${JSON.stringify(search)}`),
    ...accepted,
    ...over,
  ];
  return { broken, suggestion };
}

async function beforeTheProcess(here: DiskWorld): Promise<string[]> {
  const { task_id, broken } = await endedRun(here);
  here.disk.fill();
  const read = await readThenWritten(here, { task_id, free: here.disk.free });
  return [...broken, ...read.broken, ...unless(read.suggestion.startsWith("Free some space"), read.suggestion)];
}

async function mountedReadOnly(here: DiskWorld): Promise<string[]> {
  const { task_id, broken } = await endedRun(here);
  here.disk.remount("ro");
  const read = await readThenWritten(here, { task_id, free: () => here.disk.remount("rw") });
  return [...broken, ...read.broken, ...unless(read.suggestion.startsWith("Mount it writable"), read.suggestion)];
}

async function beforeTheStart(here: DiskWorld): Promise<string[]> {
  const child = here.begin();
  const first = await acceptedStart(here, child);
  const over = await until("The first run", completed(here));
  here.disk.fill();
  const refused = await refusedStart(here, child, 1);
  here.disk.free();
  const second = await acceptedStart(here, child);
  await end(child);
  return [...first, ...over, ...refused, ...second, ...unless(posts(here) === 2, `${posts(here)} starts, not 2.`)];
}

/** Resolves when the disk is full and Google's response is pending. */
async function fullAfterIntent(here: DiskWorld) {
  const child = here.begin();
  const answer = child.call("start_deep_research", QUERY);
  const sent = await until("The start", () => posts(here) === 1);
  here.disk.fill();
  return { child, answer, sent };
}

const idIn = (here: DiskWorld): string => here.gemini.ledger.acceptedStarts()[0]?.id ?? "";

async function afterTheIntent(here: DiskWorld): Promise<string[]> {
  const { child, answer, sent } = await fullAfterIntent(here);
  const taskId = (await answer)?.task_id;
  if (taskId !== undefined) here.returned.add(taskId);
  const logged = await until("A log line with the refused id", () => child.stderr().includes(idIn(here)));
  const rescued = await backedUp(here);
  here.disk.free();
  const over = await until("The run", completed(here));
  const last = await until("The notification", () => here.notified().length === 1);
  await end(child);
  return [
    ...sent,
    ...unless(taskId !== undefined, "No task_id was returned."),
    ...logged,
    ...rescued,
    ...over,
    ...last,
  ];
}

/** The log then holds the only record of the interaction id, which the user adopts. */
async function afterTheIntentAndKilled(here: DiskWorld): Promise<string[]> {
  const { child, answer, sent } = await fullAfterIntent(here);
  await answer;
  const logged = await until("A log line with the refused id", () => child.stderr().includes(idIn(here)));
  await end(child);
  here.disk.free();
  await drain(here);
  const unknown = here.query<{ task_id: string }>("select task_id from research_tasks where status = 'start_unknown'");
  const other = here.begin();
  for (const { task_id } of unknown) await other.call("resume_research", { task_id, interaction_id: idIn(here) });
  const over = await until("The adopted run", completed(here));
  await end(other);
  return [...sent, ...logged, ...over, ...unless(posts(here) === 1, `${posts(here)} starts, not 1.`)];
}

/** The whole report is in a file on the other disk. */
async function backedUp(here: DiskWorld): Promise<string[]> {
  const files = (): string[] =>
    readdirSync(here.temporary, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"));
  const seen = await until("A backup", () => files().length > 0);
  if (seen.length > 0) return seen;
  const text = readFileSync(join(here.temporary, files()[0] ?? ""), "utf8");
  const headers = { "x-goog-api-key": here.env["GEMINI_API_KEY"] ?? "" };
  const answer = await fetch(`${here.gemini.url}/v1beta/interactions/${idIn(here)}`, { headers });
  const { readInteraction } = await import("../../src/gemini/interactions/reader.ts");
  const lastLine =
    readInteraction(await answer.json())
      ?.report.trim()
      .split("\n")
      .at(-1) ?? "";
  return unless(lastLine !== "" && text.includes(lastLine), "The backup is not the whole report.");
}

/** The error of get_research_results names the file with the report. */
async function namesBackupInError(here: DiskWorld, child: ProductProcess): Promise<string[]> {
  const [task_id = ""] = here.returned;
  return until("The path of the backup in the error of get_research_results", async () => {
    const error = (await child.call("get_research_results", { task_id }))?.error;
    return error?.code === "SQLITE_ERROR" && error.message.includes(here.temporary);
  });
}

/** The stored row still says that it runs. */
async function tellsTheEnd(here: DiskWorld, child: ProductProcess): Promise<string[]> {
  const [task_id = ""] = here.returned;
  const status = await child.call("check_research_status", { task_id, wait_seconds: 50 });
  const saved = await child.call("save_research_to_markdown", { task_id, output_dir: here.temporary });
  const text = saved?.success === true ? readFileSync(String(saved["file_path"]), "utf8") : "";
  return [
    ...unless(status?.error?.code === "SQLITE_ERROR", `The status does not tell the end: ${JSON.stringify(status)}`),
    ...unless(Number(status?.["cost_so_far"]) > 0, `The status tells no cost: ${JSON.stringify(status)}`),
    ...unless(text.length > 500, `The backup could not be saved elsewhere: ${JSON.stringify(saved)}`),
  ];
}

async function rescuedThenCollected(here: DiskWorld, child: ProductProcess): Promise<string[]> {
  const rescued = [
    ...(await backedUp(here)),
    ...(await namesBackupInError(here, child)),
    ...(await tellsTheEnd(here, child)),
  ];
  const early = unless(!completed(here)(), "The run ended in the database, so the disk was not full.");
  here.disk.free();
  const over = await until("The run", completed(here));
  const announced = await until("The notification", () => here.notified().length === 1);
  await end(child);
  return [...rescued, ...early, ...over, ...announced];
}

async function whileResearching(here: DiskWorld): Promise<string[]> {
  const child = here.begin();
  const accepted = await acceptedStart(here, child);
  here.disk.fill();
  return [...accepted, ...(await rescuedThenCollected(here, child))];
}

async function beforeTheFinish(here: DiskWorld): Promise<string[]> {
  const child = here.begin();
  const accepted = await acceptedStart(here, child);
  const polled = await until("A poll", () => here.gemini.ledger.trafficOf(idIn(here)).polls.length > 0);
  here.disk.fill();
  return [...accepted, ...polled, ...(await rescuedThenCollected(here, child))];
}

async function nowhereAtAll(here: DiskWorld): Promise<string[]> {
  const child = here.begin({ env: { TMPDIR: here.configDir } });
  const accepted = await acceptedStart(here, child);
  here.disk.fill();
  const logged = await until("A log line about it", () => child.stderr().includes("neither the database nor a file"));
  here.disk.free();
  const over = await until("The run", completed(here));
  await end(child);
  return [...accepted, ...logged, ...over];
}

async function whileSaving(here: DiskWorld): Promise<string[]> {
  const child = here.begin();
  const accepted = await acceptedStart(here, child);
  const over = await until("The run", completed(here));
  const announced = await until("The notification", () => here.notified().length === 1);
  const [task_id = ""] = here.returned;
  const save = () => child.call("save_research_to_markdown", { task_id, include_metadata: false });
  here.disk.fill();
  const error = (await save())?.error;
  const details = error?.["details"] as Record<string, unknown> | undefined;
  const complete =
    String(details?.["path"]).startsWith(here.reportsDir) &&
    Number(details?.["needed_bytes"]) > 0 &&
    Number(details?.["available_bytes"]) >= 0;
  here.disk.free();
  const again = await save();
  await end(child);
  return [
    ...accepted,
    ...over,
    ...announced,
    ...unless(error?.code === "DISK_FULL", `A save on a full disk was answered with ${error?.code}.`),
    ...unless(complete, `Path, needed and available space were not returned: ${JSON.stringify(error)}`),
    ...unless(namesFileAndSpace(error?.message, here.reportsDir), `The message does not name them: ${error?.message}`),
    ...unless(again?.success === true, "A save with free space was refused."),
  ];
}
