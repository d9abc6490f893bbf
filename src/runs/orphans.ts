/** Interaction ids that the database refused: kept in a file, because a lost id is a lost payment. */

import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { failpoint } from "../platform/failpoint.ts";
import type { Log } from "../platform/log.ts";
import type { Database } from "../store/database.ts";
import { hasAttempt } from "./attempt-store.ts";
import { saveInteractionId } from "./start-store.ts";

const orphan = z.object({ attempt_id: z.string(), interaction_id: z.string() });

const fileIn = (directory: string): string => join(directory, "orphans.jsonl");

export function keepOrphan(directory: string, attemptId: string, interactionId: string): void {
  const file = openSync(fileIn(directory), "a", 0o600);
  try {
    // The line before may be half written, by a disk that was full.
    writeSync(file, `\n${JSON.stringify({ attempt_id: attemptId, interaction_id: interactionId })}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Brings kept ids into the database. What it refuses, does not know or cannot be read stays in its file. */
export async function importOrphans(
  db: Database,
  { directory, log, now }: { directory: string; log: Log; now: number },
): Promise<void> {
  let imported = 0;
  for (const file of takeOver(directory)) {
    failpoint("after-orphan-taken");
    const lines = linesOf(file);
    // Not read is not empty: it stays.
    if (lines === undefined) continue;
    let left = 0;
    for (const entry of lines.map(parse)) {
      const outcome = entry === undefined ? "unreadable" : await bringIn(db, entry, now);
      if (outcome === "imported") imported += 1;
      if (outcome !== "imported" && outcome !== "known") left += 1;
    }
    if (left === 0) rmSync(file, { force: true });
  }
  if (imported > 0) log.info(`${imported} research ${imported === 1 ? "run" : "runs"} recovered from orphans.jsonl.`);
}

/** Undefined where another was faster: process numbers of containers that share a directory coincide. */
function linesOf(file: string): string[] | undefined {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line.trim() !== "");
  } catch {
    return undefined;
  }
}

type Outcome = "imported" | "known" | "of another database" | "refused" | "unreadable";

async function bringIn(db: Database, entry: z.infer<typeof orphan>, now: number): Promise<Outcome> {
  const { attempt_id: attemptId, interaction_id: interactionId } = entry;
  try {
    if (await saveInteractionId(db, { attemptId, interactionId, now })) return "imported";
    return (await hasAttempt(db, attemptId)) ? "known" : "of another database";
  } catch {
    return "refused";
  }
}

const OURS = /^orphans\.jsonl(?:\.(\d+)(?:\.[\w-]+)?)?$/;

/**
 * Only one process can rename a file; a line added meanwhile starts a new one. Files that a process could not empty
 * carry its number: they are its own again at the next try, and anybody's once it is gone.
 */
function takeOver(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const match = OURS.exec(name);
    if (match === null) return [];
    const holder = match[1] === undefined ? undefined : Number(match[1]);
    if (holder === process.pid) return [join(directory, name)];
    if (holder !== undefined && isAlive(holder)) return [];
    // Each under a name of its own: a second file that got the name of the first would replace it.
    const mine = `${fileIn(directory)}.${process.pid}.${randomUUID()}`;
    try {
      renameSync(join(directory, name), mine);
      return [mine];
    } catch {
      return [];
    }
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function parse(line: string): z.infer<typeof orphan> | undefined {
  try {
    return orphan.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
