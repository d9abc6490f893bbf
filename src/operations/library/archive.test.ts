import { deflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { pngOf } from "../../../test/kit/browser/pictures.ts";
import {
  insertSampleRun,
  sampleFollowup,
  sampleId,
  sampleMonths,
  sampleStatuses,
} from "../../../test/kit/browser/sample-runs.ts";
import { openRun, openWorld } from "../../../test/kit/store/cited-run.ts";
import { openApp } from "../../../test/kit/store/operation-deps.ts";
import { insertRun, openDatabase } from "../../../test/kit/store/store-rows.ts";
import { unzip } from "../../../test/kit/unzip.ts";
import { type Caller, LOCAL_CALLER, networkCaller } from "../../caller.ts";
import type { ZipSource } from "../../reports/files/zip.ts";
import { openZip, zipOf } from "../../reports/files/zip.ts";
import { currentOf } from "../../runs/conversation-store.ts";
import { readStored } from "../../runs/history/read.ts";
import { readTimeline } from "../../runs/history/timeline.ts";
import { endedRuns } from "../../runs/library/archive-store.ts";
import { organizeRun } from "../../runs/library/organize-store.ts";
import { readSpending } from "../../runs/ledger/ledger-store.ts";
import { saveResult, saveRound } from "../../runs/result-store.ts";
import { finishedAgentRuns, listRuns } from "../../runs/run-store.ts";
import type { Database } from "../../store/database.ts";
import { citationsView } from "../citations/citations-view.ts";
import type { OperationDeps } from "../operation.ts";
import { htmlFile, markdownFile } from "../parts/report-file.ts";
import { readLive } from "../view/read-view.ts";
import { wholeOf } from "../view/whole-view.ts";
import { archiveOf, restoreArchive } from "./archive.ts";
import { importLibrary } from "./import-library.ts";

const NOW = Date.UTC(2026, 10, 19);
const PNG = pngOf(2, 2);
const owner = "local";
const [CITED, PLAN, RESEARCH, OPEN_PLAN, RUNNING, STOPPED] = [701, 702, 703, 704, 705, 706].map(sampleId) as [
  string,
  string,
  string,
  string,
  string,
  string,
];

function depsOf(db: Database): OperationDeps {
  const { deps } = openApp();
  return {
    ...deps,
    clock: { ...deps.clock, now: () => NOW },
    database: async () => db,
    backupOf: () => undefined,
    findRun: (of, taskId) => currentOf(db, of, taskId),
  };
}

const saveText = (db: Database, taskId: string, query: string, report: string, isSearched = true): Promise<void> =>
  db.transaction().execute((transaction) =>
    saveResult(transaction, {
      taskId,
      query,
      isSearched,
      result: { report, sources: [], metadata: {}, partial: false },
      now: NOW,
    }),
  );

/** Runs of every kind and status, a conversation, a checked report, a plan with its research, and pictures. */
async function filledDatabase(): Promise<Database> {
  const db = await openDatabase();
  const samples = [...sampleMonths(8, NOW), ...sampleStatuses(NOW), sampleFollowup(NOW)];
  const [first] = samples;
  if (first?.report !== undefined)
    first.report.pictures = [{ mimeType: "image/png", data: PNG.toString("base64"), offset: 4 }];
  for (const run of samples) await insertSampleRun(db, run);
  await openRun(CITED, db);
  await openWorld(db).verify({ taskId: CITED });
  const ended = { status: "completed", created_at: NOW - 5, started_at: NOW - 5, completed_at: NOW - 4 } as const;
  await insertRun(db, { ...ended, task_id: PLAN, part: "plan", query: "Onda?", deadline_at: NOW + 1 });
  await saveText(db, PLAN, "Onda?", "1. Ask fishermen", false);
  const research = { task_id: RESEARCH, part: "research", query: "Onda?", carries_on: PLAN, cost_usd: 3 };
  await insertRun(db, { ...ended, created_at: NOW - 3, ...research });
  await saveText(db, RESEARCH, "Onda?", "# Onda\n\nIt is deep.");
  await insertRun(db, { ...ended, task_id: OPEN_PLAN, part: "plan" });
  await insertRun(db, { task_id: RUNNING, status: "running_async", next_poll_at: NOW });
  const stopped = {
    kind: "deep_search",
    interaction_id: null,
    error_code: "INTERRUPTED",
    error_message: "It stopped.",
  };
  await insertRun(db, { ...ended, task_id: STOPPED, ...stopped, status: "failed" });
  const round = {
    roundNumber: 1,
    report: "Half.",
    verified: false,
    summary: "Half",
    sources: [],
    queries: ["a"],
    metadata: {},
  };
  await saveRound(db, STOPPED, { ...round, now: NOW - 4 });
  const marks = { title: "The lake", tag: ["onda"], note: "Ask Anna.", starred: true, archived: true };
  await organizeRun(db, { owner, taskId: CITED, ...marks, now: NOW });
  return db;
}

/** Everything that a user sees of a run. */
async function viewsOf(db: Database, taskId: string): Promise<unknown> {
  const deps = depsOf(db);
  const stored = await readStored(db, owner, taskId);
  const live = await readLive(deps, stored.run);
  const wanted = { owner, task_id: taskId };
  const saved = await markdownFile(deps, wanted).catch((error: unknown) => String(error));
  return {
    live,
    whole: await wholeOf(stored, { now: NOW }),
    timeline: await readTimeline(db, stored.run),
    citations: stored.result && live.has_report ? await citationsView(deps, owner, stored.run.taskId) : undefined,
    saved: typeof saved === "string" ? saved : { ...saved, run: 0, text: textOf(saved.text) },
    html: live.has_report ? textOf((await htmlFile(deps, wanted)).text) : undefined,
  };
}

const textOf = (text: unknown): unknown => (typeof text === "function" ? text("files") : text);

async function bytesOf(archive: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of archive) pieces.push(piece);
  return Buffer.concat(pieces);
}

const sourceOf = (bytes: Buffer): ZipSource => ({
  bytes: bytes.length,
  read: async (from, length) => bytes.subarray(from, from + length),
});

const restore = (db: Database, archive: Buffer, caller = LOCAL_CALLER) =>
  restoreArchive(depsOf(db), { ...caller, source: sourceOf(archive), signal: new AbortController().signal });

const exported = async (db: Database, taskIds?: readonly string[]): Promise<Buffer> =>
  bytesOf(archiveOf(depsOf(db), { owner, taskIds }));

async function idsOf(db: Database): Promise<string[]> {
  const ids: string[] = [];
  for await (const id of endedRuns(db, owner)) ids.push(id);
  return ids;
}

test("what was exported and restored elsewhere is shown, saved and found as before (Z5)", async () => {
  const db = await filledDatabase();
  const other = await openDatabase();
  const ids = await idsOf(db);
  const archive = await exported(db);
  expect(await restore(other, archive)).toEqual({ imported: ids.length, present: 0, unreadable: [] });
  expect(ids).toEqual(expect.arrayContaining([CITED, PLAN, RESEARCH, STOPPED]));
  expect(ids).not.toContain(OPEN_PLAN);
  expect(ids).not.toContain(RUNNING);
  await forgetWhatActs(db);
  // Another archive of it has the same files.
  const [before, after] = [unzip(await exported(db)), unzip(await exported(other))];
  expect([...after.keys()]).toEqual([...before.keys()]);
  for (const [name, content] of before) expect(after.get(name)?.toString(), name).toBe(content.toString());
  for (const id of ids) expect(await viewsOf(other, id), id).toEqual(await viewsOf(db, id));
});

/** What an archive does not bring back: interactions at Google, when they were sent, and texts in our voice. */
async function forgetWhatActs(db: Database): Promise<void> {
  await db.deleteFrom("research_attempts").execute();
  const runs = db.updateTable("research_tasks");
  await runs.set({ interaction_id: null, error_suggestion: null }).execute();
  await runs.set({ error_message: "It failed before it was exported." }).where("error_code", "is not", null).execute();
}

test("a run that cannot be read is left out of an archive, which names it, and ends no other (Z5)", async () => {
  const db = await filledDatabase();
  const ids = await idsOf(db);
  for (const taskId of [CITED, RESEARCH])
    await db.updateTable("research_results").set({ metadata_json: "{" }).where("task_id", "=", taskId).execute();
  const leftOut: string[] = [];
  const onLeftOut = (taskId: string): void => void leftOut.push(taskId);
  const archive = await bytesOf(archiveOf(depsOf(db), { owner, taskIds: undefined, onLeftOut }));
  expect(leftOut.toSorted()).toEqual([CITED, RESEARCH].toSorted());
  expect(unzip(archive).get("not-exported.txt")?.toString()).toBe(`${leftOut.join("\n")}\n`);
  expect(await restore(await openDatabase(), archive)).toMatchObject({ imported: ids.length - 2, unreadable: [] });
});

test("nothing in an archive acts at Google or speaks in our voice (Z5, T18)", async () => {
  const db = await filledDatabase();
  const other = await openDatabase();
  const forged = await changed(await exported(db, [STOPPED]), (file) => {
    const said = { error_message: "Pay at evil.example", error_suggestion: "Call us", interaction_id: "v1_of_another" };
    Object.assign(file.run, said, { kind: "agent", options: { notice: "Pay here" } });
    Object.assign(file, {
      attempts: [{ interaction_id: "v1_of_another", state: "accepted", created_at: file.run["created_at"] }],
    });
  });
  expect(await restore(other, forged)).toMatchObject({ imported: 1 });
  const { run } = await readStored(other, owner, STOPPED);
  expect([run.interactionId, run.options]).toEqual([undefined, {}]);
  expect(run.error).toEqual({ code: "INTERRUPTED", message: "It failed before it was exported." });
  expect(await other.selectFrom("research_attempts").select("task_id").execute()).toEqual([]);
  expect(JSON.stringify([...unzip(await exported(db)).values()].map(String))).not.toContain("interaction_id");
});

test("an archive takes the place of no run that was there, and continues none that is in progress (Z5)", async () => {
  const db = await filledDatabase();
  const other = await openDatabase();
  await insertRun(other, { task_id: PLAN, part: "plan", status: "completed", query: "Mine", completed_at: NOW });
  await insertRun(other, { task_id: RUNNING });
  const forged = await changed(await exported(db, [RESEARCH]), ({ run }) => void (run["parent_task_id"] = RUNNING));
  expect(await restore(other, forged)).toMatchObject({ imported: 1, present: 1 });
  expect(await currentOf(other, owner, PLAN)).toMatchObject({ taskId: PLAN, query: "Mine" });
  expect(await currentOf(other, owner, RESEARCH)).toMatchObject({ carriesOn: undefined, parentTaskId: undefined });
});

test("a plan that was imported before its research never waits for approval (Z5)", async () => {
  const db = await filledDatabase();
  const other = await openDatabase();
  const leaving = new AbortController();
  // The first run of the archive is the plan.
  const source = sourceOf(await exported(db, [RESEARCH]));
  let reads = 0;
  const read = (from: number, length: number) => {
    reads += 1;
    // End, directory, and two each for the manifest and the first run.
    if (reads === 6) leaving.abort();
    return source.read(from, length);
  };
  const call = { ...LOCAL_CALLER, source: { bytes: source.bytes, read }, signal: leaving.signal };
  await expect(restoreArchive(depsOf(other), call)).rejects.toThrow("aborted");
  expect(await currentOf(other, owner, PLAN)).toMatchObject({ status: "failed", error: { code: "PLAN_EXPIRED" } });
});

test("what comes back is not polled, sent, checked or counted in a budget, and nothing is overwritten (Z5)", async () => {
  const db = await filledDatabase();
  const archive = await exported(db);
  const other = await openDatabase();
  await insertRun(other, { task_id: CITED, query: "Mine", status: "failed" });
  const { present, imported } = await restore(other, archive);
  expect([present, imported]).toEqual([1, (await idsOf(db)).length - 1]);
  expect((await currentOf(other, owner, CITED)).query).toBe("Mine");
  expect(await restore(other, archive)).toMatchObject({ imported: 0, present: imported + 1 });
  const span = { fromDay: 0, untilDay: 100_000 };
  expect(await readSpending(other, span)).toEqual([]);
  const counted = other.selectFrom("ledger").select((row) => row.fn.sum<number>("micros").as("micros"));
  expect(await counted.executeTakeFirst()).toEqual({ micros: 0 });
  const due = other.selectFrom("research_tasks").select("task_id").where("next_poll_at", "is not", null);
  expect(await due.execute()).toEqual([]);
  const unchecked = other.selectFrom("research_results").select("task_id").where("citations_checked_at", "is", null);
  expect(await unchecked.execute()).toEqual([]);
  expect((await currentOf(other, owner, RESEARCH)).cost.usd).toBe(3);
});

test("a part of the library is exported with its conversations, and a plan without its research has expired (Z5)", async () => {
  const db = await filledDatabase();
  const [long, followup] = [sampleId(1), sampleId(6)];
  const files = unzip(await exported(db, [long, RESEARCH]));
  const records = [...files].filter(([name]) => name.endsWith("/run.json"));
  const ids = records.map(([, content]) => JSON.parse(content.toString()).run.task_id as string);
  expect(ids.toSorted()).toEqual([long, followup, PLAN, RESEARCH].toSorted());
  const alone = await bytesOf(
    zipOf(entriesOf([...files].filter(([name, content]) => !name.includes("/") || content.includes("Ask fishermen")))),
  );
  const other = await openDatabase();
  // The follow-up continues a run that is not there.
  expect(await restore(other, alone)).toMatchObject({ imported: 1, present: 0 });
  expect(await currentOf(other, owner, PLAN)).toMatchObject({ status: "failed", error: { code: "PLAN_EXPIRED" } });
});

async function* entriesOf(files: Iterable<readonly [string, Buffer]>) {
  for (const [name, content] of files) yield { name, content, at: NOW };
}

test("a run that another user has, and relations to runs of others, are left alone (Z5, N2)", async () => {
  const db = await filledDatabase();
  const other = await openDatabase();
  await insertRun(other, { task_id: PLAN, owner: "another", part: "plan", status: "completed" });
  await restore(other, await exported(db, [RESEARCH]));
  expect(await currentOf(other, "another", PLAN)).toMatchObject({ status: "awaiting_approval" });
  expect(await currentOf(other, owner, RESEARCH)).toMatchObject({ carriesOn: undefined });
});

const record = (db: Database): Promise<Buffer> => exported(db, [sampleId(5)]);

/** `run.json`, to be changed. */
interface RecordFile {
  run: Record<string, unknown>;
  result: Record<string, unknown>;
  pictures: Record<string, unknown>[];
  events: unknown[];
}

async function changed(archive: Buffer, change: (file: RecordFile) => unknown): Promise<Buffer> {
  const files = [...unzip(archive)].map(([name, content]): [string, Buffer] => {
    if (!name.endsWith("/run.json")) return [name, content];
    const file: RecordFile = JSON.parse(content.toString());
    return [name, Buffer.from(JSON.stringify(change(file) ?? file))];
  });
  return bytesOf(zipOf(entriesOf(files)));
}

test.for<[string, (file: RecordFile) => unknown]>([
  ["a status that is not an end", ({ run }) => void (run["status"] = "running_async")],
  ["an id that is a path", ({ run }) => void (run["task_id"] = "../../etc/passwd")],
  ["options that no answer can show", ({ run }) => void (run["options"] = { variant: { material: 5 } })],
  ["wishes that no answer can show", ({ run }) => void (run["options"] = { wishes: "x" })],
  ["an estimate of another kind", ({ run }) => void (run["estimate"] = { complexity: 7 })],
  ["facts of another kind", ({ result }) => void (result["metadata"] = { rounds: "x" })],
  ["sources of another kind", ({ result }) => void (result["sources"] = [{ n: "x" }])],
  ["a number beyond the database's", ({ result }) => void (result["citations"] = [{ n: 2 ** 40, start: 0, end: 1 }])],
  [
    "events with one number",
    (run) =>
      void (run.events = [1, 1].map((seq) => ({
        seq,
        at: "2026-01-01T00:00:00Z",
        kind: "x",
        event_key: null,
        data: { text: "" },
      }))),
  ],
  ["a time that is none", ({ run }) => void (run["created_at"] = "yesterday")],
  ["a time that is still to come", ({ run }) => void (run["created_at"] = "2031-01-01T00:00:00Z")],
  ["a question as long as a book", ({ run }) => void (run["query"] = "x".repeat(1_000_000))],
  ["no object", () => [[]]],
])("a record with %s is left out, and harms no other (Z5, T17)", async ([, change]) => {
  const db = await filledDatabase();
  const other = await openDatabase();
  expect(await restore(other, await changed(await record(db), change))).toMatchObject({ imported: 0, present: 0 });
  const all = { owner, status: undefined, kind: undefined, limit: 10, before: undefined };
  expect(await listRuns(other, all)).toEqual([]);
});

test("texts of a record are cleaned like those of the web, and a picture is what its bytes are (Z5, T17)", async () => {
  const db = await filledDatabase();
  const first = sampleMonths(1, NOW)[0]?.row.task_id ?? "";
  const hostile = await changed(await exported(db, [first]), (file) => {
    file.run["query"] = "a\u001b]52;c;eA==\u0007b\u202Ec";
    file.run["note"] = "x\u0000y";
    file.result["report"] = "one\u200Btwo";
    Object.assign(file.pictures[0] ?? {}, { mimeType: "text/html" });
    file.pictures.push({ n: 2, file: "../../../../etc/passwd", offset: 0 }, { n: 3, file: "run.json", offset: 0 });
  });
  const other = await openDatabase();
  expect(await restore(other, hostile)).toMatchObject({ imported: 1 });
  const { run, result } = await readStored(other, owner, first);
  expect([run.query, run.note, result?.report]).toEqual(["abc", "xy", "onetwo"]);
  expect(result?.pictures).toMatchObject([{ n: 1, mimeType: "image/png", byteLength: PNG.length }]);
});

test("a record with too many elements is left out unchecked, and pictures beyond the first are not read (Z5, T15)", async () => {
  const db = await filledDatabase();
  const other = await openDatabase();
  const wrong = await changed(await record(db), (file) => void (file.events = Array(250_000).fill(0)));
  const said: string[] = [];
  const deps = depsOf(other);
  const log = { ...deps.log, debug: (line: string) => void said.push(line) };
  const call = { ...LOCAL_CALLER, source: sourceOf(wrong), signal: AbortSignal.any([]) };
  expect(await restoreArchive({ ...deps, log }, call)).toMatchObject({ imported: 0, unreadable: [expect.any(String)] });
  // Not a word about each of them.
  expect(said).toEqual([expect.stringMatching(/too many elements$/)]);
  const first = sampleMonths(1, NOW)[0]?.row.task_id ?? "";
  const many = await changed(await exported(db, [first]), (file) => {
    const [picture] = file.pictures;
    file.pictures = Array.from({ length: 1_400 }, (_, index) => ({ ...picture, n: index + 1 }));
  });
  expect(await restore(other, many)).toMatchObject({ imported: 1 });
  const source = { reads: 0 };
  const counted = sourceOf(many);
  const counting = {
    bytes: counted.bytes,
    read: (...args: [number, number]) => ((source.reads += 1), counted.read(...args)),
  };
  await restoreArchive(depsOf(await openDatabase()), {
    ...LOCAL_CALLER,
    source: counting,
    signal: AbortSignal.any([]),
  });
  expect(source.reads).toBeLessThan(100);
});

test("an upload unpacks to at most 16 MB a run, and damaged entries count as what they might have been (Z5, T15)", async () => {
  const db = await filledDatabase();
  const large = await changed(await record(db), (file) => void Object.assign(file, { more: "x".repeat(20_000_000) }));
  expect(await restore(await openDatabase(), large, networkCaller(owner))).toMatchObject({ imported: 0 });
  expect(await restore(await openDatabase(), large)).toMatchObject({ imported: 1 });
  const damaged = await bytesOf(
    zipOf(
      entriesOf([
        ["a", Buffer.alloc(600)],
        ["b", Buffer.alloc(600)],
      ]),
    ),
  );
  // The checksum of the first entry, in the directory.
  damaged.writeUInt32LE(1, damaged.indexOf("PK\u0001\u0002") + 16);
  const archive = await openZip(sourceOf(damaged), 1_000);
  await expect(archive.read("a", 1_000)).rejects.toThrow("not a whole ZIP archive");
  await expect(archive.read("b", 1_000)).rejects.toThrow("unpacks to more");
});

test("archives are imported by the operator only, before anything is stored (Z5)", async () => {
  const db = await filledDatabase();
  const other = await openDatabase();
  const uploads = [
    { name: "a.md", content: Buffer.from("# A report"), at: NOW },
    { name: "b.zip", content: await record(db), at: NOW },
  ];
  const call = { signal: AbortSignal.any([]), progress: () => {}, client: "page", uploads };
  const imported = (caller: Caller) => importLibrary.run(depsOf(other), { files: [] }, { ...caller, ...call });
  await expect(imported(networkCaller("anna"))).rejects.toThrow("Only the operator of this server imports archives.");
  expect(await other.selectFrom("research_tasks").select("task_id").execute()).toEqual([]);
  expect(await imported(networkCaller(owner))).toMatchObject({ imported: 2 });
});

test("the figures of an archive are no basis of estimates (Z5)", async () => {
  const db = await filledDatabase();
  const other = await openDatabase();
  await restore(other, await exported(db));
  expect(await finishedAgentRuns(db, owner, 50)).not.toEqual([]);
  expect(await finishedAgentRuns(other, owner, 50)).toEqual([]);
});

test("an archive that is none, damaged, a bomb, of another program or of a newer version is refused (Z5, T15)", async () => {
  const db = await openDatabase();
  const archiveWith = (about: unknown) =>
    bytesOf(zipOf(entriesOf([["gemini-search-mcp.json", Buffer.from(JSON.stringify(about))]])));
  const ours = await archiveWith({ format: "gemini-search-mcp library", version: 1 });
  expect(await restore(db, ours)).toEqual({ imported: 0, present: 0, unreadable: [] });
  const refusal = (archive: Buffer) =>
    restore(db, archive).then(
      () => "none",
      (error: Error) => error.message,
    );
  expect(await refusal(Buffer.from("PK\u0003\u0004 and no more"))).toBe("This is not a whole ZIP archive.");
  expect(await refusal(ours.subarray(0, -5))).toBe("This is not a whole ZIP archive.");
  expect(await refusal(await archiveWith({}))).toContain("was not exported by gemini-search-mcp");
  expect(await refusal(await archiveWith({ format: "gemini-search-mcp library", version: 2 }))).toContain(
    "newer version",
  );
  const flipped = Buffer.from(ours);
  flipped[60] = (flipped[60] ?? 0) ^ 1;
  expect(await refusal(flipped)).toMatch(/not a whole ZIP archive|unpacks to more/);
  // 100 MB in 100 KB, in the place of what says what the archive is.
  const bomb = Buffer.alloc(100_000_000);
  const packed = await bytesOf(zipOf(entriesOf([["gemini-search-mcp.json", bomb]])));
  expect(packed.length).toBeLessThan(deflateRawSync(bomb).length + 1_000);
  expect(await refusal(packed)).toContain("unpacks to more than an export contains");
});
