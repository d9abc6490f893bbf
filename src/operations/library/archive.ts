/**
 * The archive of a library, written and read: `gemini-search-mcp.json` says what it is, and each run has a folder with
 * `run.json`, from which it comes back, and for people `report.md` with its pictures.
 */

import { hash } from "node:crypto";
import { z } from "zod";
import { AppError } from "../../errors.ts";
import { isoTime } from "../../platform/clock.ts";
import { titledFileName } from "../../reports/files/file-name.ts";
import { openZip, type ZipArchive, type ZipEntry, zipOf, type ZipSource } from "../../reports/files/zip.ts";
import {
  isViewable,
  MAX_PICTURE_BYTES,
  MAX_PICTURES,
  sniffPicture,
  withinPictureBounds,
} from "../../reports/pictures/keep.ts";
import type { Picture } from "../../reports/pictures/picture.ts";
import { pictureFileName } from "../../reports/pictures/publish.ts";
import { complexityIn } from "../../runs/history/run-estimate.ts";
import { currentOf } from "../../runs/conversation-store.ts";
import { findPictures } from "../../runs/file-store.ts";
import { archivedRun, endedLines, endedRuns, readArchived, restoreRun } from "../../runs/library/archive-store.ts";
import { parseOptions, variantOf } from "../../runs/start/start-options.ts";
import type { Database } from "../../store/database.ts";
import { archivedChecks, readChecks, restoreChecks } from "../../verification/archive-store.ts";
import { laterTurns } from "../followup/conversation.ts";
import type { Call, OperationDeps } from "../operation.ts";
import { markdownFile } from "../parts/report-file.ts";
import { refused } from "../perform.ts";
import { wishesIn } from "../question/wishes.ts";
import { factsOf } from "../view/whole-view.ts";

const MANIFEST = "gemini-search-mcp.json";
const MAX_MANIFEST_BYTES = 10_000;
const FORMAT = "gemini-search-mcp library";
const VERSION = 1;
const RECORD = "run.json";
const REPORT = "report.md";
/** The ids of runs that could not be read. */
const LEFT_OUT = "not-exported.txt";
const PICTURES = "report_files";

const manifest = z.object({ format: z.literal(FORMAT), version: z.number() });
const runFile = archivedRun.extend(archivedChecks.shape);
type RunFile = z.output<typeof runFile>;

export interface Exported {
  owner: string;
  /** With what they continue and what continues them; undefined: all runs. */
  taskIds: readonly string[] | undefined;
  /** Called with each run that is written. */
  onRun?: () => void;
  /** Called with each run that cannot be read. */
  onLeftOut?: (taskId: string) => void;
}

/** The bytes of an archive, with one run in memory at a time. */
export const archiveOf = (deps: OperationDeps, exported: Exported): AsyncGenerator<Buffer> =>
  zipOf(entriesOf(deps, exported));

async function* entriesOf(
  deps: OperationDeps,
  { owner, taskIds, onRun, onLeftOut }: Exported,
): AsyncGenerator<ZipEntry> {
  const db = await deps.database();
  const now = deps.clock.now();
  const folders = new Map<string, number>();
  const leftOut: string[] = [];
  yield { name: MANIFEST, content: jsonOf({ format: FORMAT, version: VERSION, exported_at: isoTime(now) }), at: now };
  const ids = taskIds === undefined ? endedRuns(db, owner) : await conversationsOf(db, owner, taskIds);
  for await (const taskId of ids) {
    try {
      const entries = await entriesOfRun(deps, { owner, taskId, folders });
      if (entries === undefined) continue;
      yield* entries;
      onRun?.();
    } catch (error) {
      // A database that fails ends the archive; a row that cannot be read harms no other run.
      if (error instanceof AppError) throw error;
      refused(error, deps);
      leftOut.push(taskId);
      onLeftOut?.(taskId);
    }
  }
  if (leftOut.length > 0) yield { name: LEFT_OUT, content: Buffer.from(`${leftOut.join("\n")}\n`), at: now };
}

/** Read before any of them is written; undefined if the run was deleted meanwhile. */
async function entriesOfRun(
  deps: OperationDeps,
  { owner, taskId, folders }: { owner: string; taskId: string; folders: Map<string, number> },
): Promise<ZipEntry[] | undefined> {
  const db = await deps.database();
  const record = await readArchived(db, taskId, (picture) => `${PICTURES}/${pictureFileName(picture)}`);
  if (record === undefined) return undefined;
  const file = { ...record, ...(await readChecks(db, taskId)) };
  const pictures = await findPictures(db, taskId);
  const saved = await savedReport(deps, owner, taskId);
  const folder = freeFolder(saved?.title ?? record.run.title ?? record.run.query, folders);
  const at = Date.parse(record.run.completed_at ?? record.run.created_at);
  return [
    { name: `${folder}/${RECORD}`, content: jsonOf(file), at },
    ...pictures.map((picture) => ({
      name: `${folder}/${PICTURES}/${pictureFileName(picture)}`,
      content: picture.content,
      at,
    })),
    ...(saved === undefined ? [] : [{ name: `${folder}/${REPORT}`, content: Buffer.from(saved.text), at }]),
  ];
}

const jsonOf = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value, null, 2)}\n`);

async function conversationsOf(db: Database, owner: string, taskIds: readonly string[]): Promise<string[]> {
  const all = new Set<string>();
  for (const taskId of taskIds) {
    const run = await currentOf(db, owner, taskId);
    for (const turn of [run, ...(await laterTurns(db, run))]) all.add(turn.taskId);
  }
  return endedLines(db, owner, [...all]);
}

/** As `save` writes it; undefined for a run without a report, or with another one in its place. */
async function savedReport(deps: OperationDeps, owner: string, taskId: string) {
  try {
    const { run, title, text } = await markdownFile(deps, { owner, task_id: taskId });
    return run.taskId === taskId && typeof text === "function" ? { title, text: text(PICTURES) } : undefined;
  } catch (error) {
    // It may be a later run in its place that cannot be read; the record alone brings the run back.
    if (!(error instanceof AppError)) refused(error, deps);
    return undefined;
  }
}

/** Names that differ by case only would be one folder on many systems. */
function freeFolder(title: string, taken: Map<string, number>): string {
  const name = titledFileName({ title, ending: "md" }, 1).slice(0, -".md".length);
  const number = (taken.get(name.toLowerCase()) ?? 0) + 1;
  taken.set(name.toLowerCase(), number);
  return number === 1 ? name : `${name} (${number})`;
}

/** Of everything that is read from one archive, and of one run without its pictures; an upload is in memory, too. */
const BOUNDS = {
  here: { unpackedBytes: 8_000_000_000, recordBytes: 64_000_000 },
  network: { unpackedBytes: 500_000_000, recordBytes: 16_000_000 },
};
/** Elements of all lists of a record. Beyond it, its schema would name each wrong one of millions. */
const MAX_ELEMENTS = 200_000;

export interface Restored {
  imported: number;
  /** Were there already, and stayed as they are. */
  present: number;
  /** Names of folders whose run cannot be read. */
  unreadable: string[];
}

export async function restoreArchive(
  deps: Pick<OperationDeps, "database" | "clock" | "log">,
  { source, owner, from, signal }: Pick<Call, "owner" | "from" | "signal"> & { source: ZipSource },
): Promise<Restored> {
  const { unpackedBytes, recordBytes } = BOUNDS[from];
  const archive = await openZip(source, unpackedBytes);
  const about = manifest.safeParse(parsed(await archive.read(MANIFEST, MAX_MANIFEST_BYTES)));
  if (!about.success) throw notOurs();
  if (about.data.version > VERSION) throw newer();
  const db = await deps.database();
  const restored: Restored = { imported: 0, present: 0, unreadable: [] };
  const added = new Set<string>();
  const now = deps.clock.now();
  for (const name of archive.names.filter((each) => each.endsWith(`/${RECORD}`))) {
    signal.throwIfAborted();
    const folder = name.slice(0, -RECORD.length);
    const read = await readRun(archive, { folder, recordBytes, now }).catch((error: unknown) => {
      deps.log.debug(`${name}: ${String(error)}`);
      return undefined;
    });
    if (read === undefined) {
      restored.unreadable.push(folder.slice(0, -1));
      continue;
    }
    const { rows, pictures } = read;
    const { task_id: taskId } = rows.run;
    const isNew = await db.transaction().execute(async (transaction) => {
      const isAdded = await restoreRun(transaction, { owner, rows, pictures, now, added });
      if (isAdded) await restoreChecks(transaction, taskId, rows);
      return isAdded;
    });
    restored[isNew ? "imported" : "present"] += 1;
    if (isNew) added.add(taskId);
  }
  return restored;
}

const parsed = (content: Buffer | undefined): unknown => {
  try {
    return JSON.parse(content?.toString() ?? "");
  } catch {
    return undefined;
  }
};

/** Throws for what no list, page or answer could show. */
async function readRun(
  archive: ZipArchive,
  { folder, recordBytes, now }: { folder: string; recordBytes: number; now: number },
): Promise<{ rows: RunFile; pictures: Picture[] }> {
  const record = parsed(await archive.read(`${folder}${RECORD}`, recordBytes));
  if (elementsIn(record) > MAX_ELEMENTS) throw new RangeError("too many elements");
  const rows = runFile.parse(record);
  if (latestOf(rows.run) > now) throw new RangeError("a time that is still to come");
  const options = parseOptions(rows.run.options);
  variantOf(options);
  wishesIn(options);
  complexityIn(rows.run.estimate);
  factsOf({ metadata: parseOptions(rows.result?.metadata ?? "{}") });
  const pictures: Picture[] = [];
  for (const { n, file, offset } of rows.pictures.slice(0, MAX_PICTURES)) {
    const content = await archive.read(folder + file, MAX_PICTURE_BYTES);
    const sniffed = content && sniffPicture(content);
    if (content === undefined || sniffed === undefined || !isViewable(sniffed)) continue;
    const facts = { n, offset, byteLength: content.length, hash: hash("sha256", content, "hex") };
    pictures.push({ ...sniffed, ...facts, content });
  }
  return { rows, pictures: withinPictureBounds(pictures) };
}

const elementsIn = (value: unknown): number => {
  if (typeof value !== "object" || value === null) return 0;
  const own = Array.isArray(value) ? value.length : 0;
  if (own > MAX_ELEMENTS) return own;
  return Object.values(value).reduce<number>((sum, each) => sum + elementsIn(each), own);
};

/** A run from the future would be the newest one, and could not be deleted. A deadline may be ahead. */
const latestOf = ({
  created_at,
  started_at,
  completed_at,
  last_event_at,
  cancel_requested_at,
}: RunFile["run"]): number =>
  Math.max(created_at, ...[started_at, completed_at, last_event_at, cancel_requested_at].map((at) => at ?? 0));

const notOurs = (): AppError =>
  new AppError({
    code: "INVALID_INPUT",
    message: "This archive was not exported by gemini-search-mcp.",
    suggestion: "Import the Markdown files in it.",
    details: { status: 400, field: "files" },
  });

const newer = (): AppError =>
  new AppError({
    code: "INVALID_INPUT",
    message: "A newer version has exported this archive. Nothing was imported.",
    suggestion: "Update gemini-search-mcp, then import it again.",
    details: { status: 400, field: "files" },
  });
