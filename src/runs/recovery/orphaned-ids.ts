/** Keeps interaction ids that the database rejected in a file, and imports them later: a lost id is a lost payment. */

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
import type { Engine } from "../engine/engine.ts";
import type { Database } from "../../store/database.ts";
import { hasAttempt } from "../attempt-store.ts";
import { saveInteractionId } from "../interaction-store.ts";
import { errorCodeOf } from "../../platform/error-code.ts";

const orphan = z.object({ attempt_id: z.string(), interaction_id: z.string() });

export interface Orphan {
  attemptId: string;
  interactionId: string;
}

const FILE_NAME = "orphans.jsonl";
const MAX_APPENDS = 10;

/** The disk of the state directory may be full; the second directory is usually on another one. */
const directoriesFor = (directory: string): string[] => [directory, fallbackFor(directory)];

/** One per state directory, private to this user. */
function fallbackFor(directory: string): string {
  const installation = createHash("sha256").update(directory).digest("hex").slice(0, 16);
  return join(tmpdir(), `gemini-search-mcp-${process.getuid?.() ?? "user"}-${installation}`);
}

/** Appends the id to the first file that can be written and returns its path. Throws if none can. */
export function keepOrphanedId(directory: string, { attemptId, interactionId }: Orphan): string {
  // Starts with a newline, because the previous line may be incomplete.
  const line = `\n${JSON.stringify({ attempt_id: attemptId, interaction_id: interactionId })}\n`;
  let refusal: unknown;
  for (const candidate of directoriesFor(directory)) {
    const file = join(candidate, FILE_NAME);
    try {
      if (candidate !== directory) makePrivate(candidate);
      appendWhole(file, line);
      return file;
    } catch (error) {
      refusal = error;
    }
  }
  throw refusal;
}

/** Retries, because a process that is importing the file may remove it after having read it. */
function appendWhole(file: string, text: string): void {
  for (let tries = 1; tries <= MAX_APPENDS; tries += 1) if (appendOnce(file, text)) return;
  throw new Error("The file was removed each time.");
}

/**
 * A write to a full disk may be short without an error. Returns false if the file is no longer at its path, so that the
 * line may be lost. Writing an id twice is harmless.
 */
function appendOnce(file: string, text: string): boolean {
  const bytes = Buffer.from(text);
  const handle = openSync(file, "a", 0o600);
  try {
    let written = 0;
    while (written < bytes.length) {
      const count = writeSync(handle, bytes, written);
      if (count === 0) throw new Error("Only part of the line could be written.");
      written += count;
    }
    fsyncSync(handle);
    const [opened, atPath] = [fstatSync(handle), statSync(file, { throwIfNoEntry: false })];
    return atPath?.ino === opened.ino && atPath.dev === opened.dev;
  } finally {
    closeSync(handle);
  }
}

/** Another user may have created the directory first, since the temporary directory is world-writable. */
function makePrivate(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (!isPrivate(directory)) throw new Error("The directory is not private to this user.");
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
  queue?: Engine | undefined;
}

/** Imports kept ids. A file stays while any of its lines is rejected, unreadable or of another database. */
export async function importOrphanedIds(db: Database, { directory, log, now, queue }: Import): Promise<void> {
  let imported = 0;
  for (const file of directoriesFor(directory).flatMap((candidate) => filesIn(candidate, { directory, log }))) {
    failpoint("after-orphan-taken");
    let left = 0;
    for (const entry of linesOf(file, log)) {
      const outcome = entry === undefined ? "unreadable" : await importEntry(db, entry, { now, queue });
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

const filesIn = (candidate: string, { directory, log }: { directory: string; log: Log }): string[] =>
  tryOrWarn(log, candidate, () => (candidate === directory || isPrivate(candidate) ? takeFiles(candidate) : [])) ?? [];

/** An unreadable file must not stop the sweep. */
function tryOrWarn<T>(log: Log, path: string, action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    const code = errorCodeOf(error) || "unknown error";
    // On ENOENT another process has taken the file.
    if (code !== "ENOENT")
      warnOnce(log, `${path} cannot be read or removed (${code}): paid research may be waiting there.`);
    return undefined;
  }
}

/** The import is retried every few seconds, so each message is logged once. */
const warned = new WeakMap<Log, Set<string>>();

function warnOnce(log: Log, message: string): void {
  const messages = warned.get(log) ?? new Set();
  warned.set(log, messages);
  if (!messages.has(message)) log.warn(message);
  messages.add(message);
}

/** Returns one undefined entry for an unreadable file, so that the file is kept. */
const linesOf = (file: string, log: Log): (z.infer<typeof orphan> | undefined)[] =>
  tryOrWarn(log, file, () =>
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map(parse),
  ) ?? [undefined];

type Outcome = "imported" | "known" | "of another database" | "refused" | "unreadable";

async function importEntry(
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

/** A new file, or one of which some process has not imported every line. */
const ORPHAN_FILE = /^orphans\.jsonl(?:\.[\w.-]+)?$/;

/**
 * A new file is renamed before it is read, so that a line that is added meanwhile goes to another file. Every process
 * imports all files: importing an id twice is harmless.
 */
function takeFiles(directory: string): string[] {
  const names = readdirSync(directory).filter((name) => ORPHAN_FILE.test(name));
  return names.flatMap((name) => {
    if (name !== FILE_NAME) return [join(directory, name)];
    // A unique name, so that no other file is overwritten.
    const taken = join(directory, `${FILE_NAME}.${randomUUID()}`);
    try {
      renameSync(join(directory, name), taken);
      return [taken];
    } catch {
      return [];
    }
  });
}

function parse(line: string): z.infer<typeof orphan> | undefined {
  try {
    return orphan.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
