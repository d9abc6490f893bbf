/** Interaction ids that the database refused: kept in a file, because a lost id is a lost payment. */

import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { failpoint } from "../platform/failpoint.ts";
import type { Log } from "../platform/log.ts";
import type { Database } from "../store/database.ts";
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

/** Brings kept ids into the database. What it refuses again stays kept. */
export async function importOrphans(
  db: Database,
  { directory, log, now }: { directory: string; log: Log; now: number },
): Promise<void> {
  let imported = 0;
  for (const file of takeOver(directory)) {
    failpoint("after-orphan-taken");
    const entries = readFileSync(file, "utf8").split("\n").flatMap(parse);
    for (const { attempt_id: attemptId, interaction_id: interactionId } of entries) {
      try {
        if (await saveInteractionId(db, { attemptId, interactionId, now })) imported += 1;
      } catch {
        keepOrphan(directory, attemptId, interactionId);
      }
    }
    rmSync(file, { force: true });
  }
  if (imported > 0) log.info(`${imported} research ${imported === 1 ? "run" : "runs"} recovered from orphans.jsonl.`);
}

const OURS = /^orphans\.jsonl(?:\.(\d+)(?:\.[\w-]+)?)?$/;

/** Only one process can rename a file; a line added meanwhile starts a new one. One that died importing is replaced. */
function takeOver(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const match = OURS.exec(name);
    if (match === null || (match[1] !== undefined && isAlive(Number(match[1])))) return [];
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

function parse(line: string): z.infer<typeof orphan>[] {
  if (line.trim() === "") return [];
  try {
    return [orphan.parse(JSON.parse(line))];
  } catch {
    return [];
  }
}
