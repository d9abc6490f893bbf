/** Interaction ids that the database refused: kept in a file, because a lost id is a lost payment. */

import { createHash, randomUUID } from "node:crypto";
import {
  closeSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { failpoint } from "../../platform/failpoint.ts";
import type { Log } from "../../platform/log.ts";
import { startMarkOf, thisProcess } from "../../platform/process-identity.ts";
import type { PollQueue } from "../../queue/queue.ts";
import type { Database } from "../../store/database.ts";
import { hasAttempt } from "../attempt-store.ts";
import { saveInteractionId } from "../interaction-store.ts";

const orphan = z.object({ attempt_id: z.string(), interaction_id: z.string() });

export interface Orphan {
  attemptId: string;
  interactionId: string;
}

const NAME = "orphans.jsonl";
const MAX_APPENDS = 10;

/** The disk that refused the database may be full: the second directory is most often on another one. */
const directoriesFor = (directory: string): string[] => [directory, fallbackFor(directory)];

/** One for each config directory, private to this user. */
function fallbackFor(directory: string): string {
  const installation = createHash("sha256").update(directory).digest("hex").slice(0, 16);
  return join(tmpdir(), `gemini-search-mcp-${process.getuid?.() ?? "user"}-${installation}`);
}

/** Writes the id to the first file that takes it whole; returns its path. Throws when none does. */
export function keepOrphanedId(directory: string, { attemptId, interactionId }: Orphan): string {
  // The line before may be torn.
  const line = `\n${JSON.stringify({ attempt_id: attemptId, interaction_id: interactionId })}\n`;
  let refusal: unknown;
  for (const place of directoriesFor(directory)) {
    const file = join(place, NAME);
    try {
      if (place !== directory) makePrivate(place);
      appendWhole(file, line);
      return file;
    } catch (error) {
      refusal = error;
    }
  }
  throw refusal;
}

/** Another process that imports the file may have read it just before, and removes it. */
function appendWhole(file: string, text: string): void {
  for (let tries = 1; tries <= MAX_APPENDS; tries += 1) if (appendOnce(file, text)) return;
  throw new Error("The file was removed each time.");
}

/**
 * A full disk takes a part of what is written and reports no error. False: what was written may be gone, because the
 * file is not at its path any more. To write an id twice does no harm.
 */
function appendOnce(file: string, text: string): boolean {
  const bytes = Buffer.from(text);
  const handle = openSync(file, "a", 0o600);
  try {
    let written = 0;
    while (written < bytes.length) {
      const count = writeSync(handle, bytes, written);
      if (count === 0) throw new Error("The file did not take the whole line.");
      written += count;
    }
    fsyncSync(handle);
    const [opened, atPath] = [fstatSync(handle), statSync(file, { throwIfNoEntry: false })];
    return atPath?.ino === opened.ino && atPath.dev === opened.dev;
  } finally {
    closeSync(handle);
  }
}

/** In a directory that everybody may write, somebody else may have been first. */
function makePrivate(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (!isPrivate(directory)) throw new Error("The directory belongs to somebody else.");
}

function isPrivate(directory: string): boolean {
  const stats = lstatSync(directory, { throwIfNoEntry: false });
  if (stats === undefined || !stats.isDirectory()) return false;
  return process.getuid === undefined || (stats.uid === process.getuid() && (stats.mode & 0o077) === 0);
}

interface Import {
  directory: string;
  log: Log;
  now: number;
  queue?: PollQueue | undefined;
}

/** Brings kept ids into the database. What it refuses, does not know or cannot be read stays in its file, and is logged once. */
export async function importOrphanedIds(db: Database, { directory, log, now, queue }: Import): Promise<void> {
  let imported = 0;
  for (const file of directoriesFor(directory).flatMap((place) => filesIn(place, { directory, log }))) {
    failpoint("after-orphan-taken");
    let left = 0;
    for (const entry of linesOf(file, log)) {
      const outcome = entry === undefined ? "unreadable" : await bringIn(db, entry, { now, queue });
      if (outcome === "imported") imported += 1;
      if (outcome !== "imported" && outcome !== "known") left += 1;
      if (outcome === "of another database") {
        warnOnce(
          log,
          `${file}: the paid research ${entry?.interaction_id} was started with another database and stays there.`,
        );
      }
    }
    if (left === 0) tryOrWarn(log, file, () => rmSync(file, { force: true }));
  }
  if (imported > 0) log.info(`${imported} research ${imported === 1 ? "run" : "runs"} recovered from orphans.jsonl.`);
}

const filesIn = (place: string, { directory, log }: { directory: string; log: Log }): string[] =>
  tryOrWarn(log, place, () => (place === directory || isPrivate(place) ? takeOver(place) : [])) ?? [];

/** What cannot be read must not keep everything else from being followed. */
function tryOrWarn<T>(log: Log, path: string, action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "a fault";
    // Another process was faster.
    if (code !== "ENOENT")
      warnOnce(log, `${path} cannot be read or removed (${code}): paid research may be waiting there.`);
    return undefined;
  }
}

/** The import is tried again every few seconds. */
const warned = new WeakMap<Log, Set<string>>();

function warnOnce(log: Log, message: string): void {
  const messages = warned.get(log) ?? new Set();
  warned.set(log, messages);
  if (!messages.has(message)) log.warn(message);
  messages.add(message);
}

/** Not read is not empty: a line that stands for the whole file keeps it. */
const linesOf = (file: string, log: Log): (z.infer<typeof orphan> | undefined)[] =>
  tryOrWarn(log, file, () =>
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map(parse),
  ) ?? [undefined];

type Outcome = "imported" | "known" | "of another database" | "refused" | "unreadable";

async function bringIn(
  db: Database,
  entry: z.infer<typeof orphan>,
  { now, queue }: Pick<Import, "now" | "queue">,
): Promise<Outcome> {
  const { attempt_id: attemptId, interaction_id: interactionId } = entry;
  try {
    if (await saveInteractionId(db, { attemptId, interactionId, now }, queue)) return "imported";
    return (await hasAttempt(db, attemptId)) ? "known" : "of another database";
  } catch {
    return "refused";
  }
}

const OURS = /^orphans\.jsonl(?:\.(?<pid>\d+)(?:\.(?<mark>[\w-]+))?(?:\.[\w-]+)?)?$/;

/** As it stands in the names of files: the pid alone would be that of another process one day. */
const self = (): { pid: number; mark: string } => {
  const { pid, startMark } = thisProcess();
  return { pid, mark: markInName(startMark) };
};

const markInName = (startMark: string | null): string => (startMark ?? "unknown").replaceAll(/[^\w-]/g, "_");

/**
 * Only one process can rename a file; a line added meanwhile starts a new one. Files that a process could not empty
 * carry its pid and start mark: they are its own again at the next try, and any process's once it is gone.
 */
function takeOver(directory: string): string[] {
  const { pid, mark } = self();
  return readdirSync(directory).flatMap((name) => {
    const groups = OURS.exec(name)?.groups;
    if (groups === undefined) return [];
    const holder = groups["pid"] === undefined ? undefined : { pid: Number(groups["pid"]), mark: groups["mark"] ?? "" };
    if (holder?.pid === pid && holder.mark === mark) return [join(directory, name)];
    if (holder !== undefined && isAlive(holder)) return [];
    // Each under a name of its own: a second file that got the name of the first would replace it.
    const mine = join(directory, `${NAME}.${pid}.${mark}.${randomUUID()}`);
    try {
      renameSync(join(directory, name), mine);
      return [mine];
    } catch {
      return [];
    }
  });
}

/** One that cannot be told from another with its pid is not: to import an id twice does no harm. */
const isAlive = ({ pid, mark }: { pid: number; mark: string }): boolean => {
  const startMark = startMarkOf(pid);
  return startMark !== null && markInName(startMark) === mark;
};

function parse(line: string): z.infer<typeof orphan> | undefined {
  try {
    return orphan.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
