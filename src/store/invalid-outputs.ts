/** Temporary files that hold an invalid model output during its correction, and their cleanup after a crash. */

import { randomUUID } from "node:crypto";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { Database } from "./database.ts";
import { filesInUse, holdFile, releaseFile } from "./slots.ts";
import { errorCodeOf } from "../platform/error-code.ts";

const FILE_NAME = /^temp-invalid-output-.*\.txt$/;

export interface InvalidOutputsOptions {
  directory: string;
  db: Database;
  processId: string;
  clock: Clock;
  log: Log;
}

export function createInvalidOutputs(options: InvalidOutputsOptions) {
  return {
    keep: async (text: string) => {
      const fileName = await write(options, text);
      return { path: join(options.directory, fileName), remove: () => remove(options, fileName) };
    },
  };
}

/** Registers the file before creating it, so that another starting process does not delete it as an orphan. */
async function write({ directory, db, processId, clock, log }: InvalidOutputsOptions, text: string): Promise<string> {
  for (let stamp = clock.now(); ; stamp += 1) {
    const fileName = `temp-invalid-output-${stamp}.txt`;
    // A database error must not fail the correction; the file is then not protected from cleanup.
    const held = await holdFile(db, { fileName, processId, now: clock.now() }).catch(() => true);
    if (!held) continue;
    try {
      await writeFile(join(directory, fileName), text, { flag: "wx", mode: 0o600 });
      return fileName;
    } catch (error) {
      if (errorCodeOf(error) === "EEXIST") continue;
      // The correction prompt contains the text as well, so the call can continue without the file.
      log.warn("The invalid output could not be written to a file; the correction continues without it.");
      await releaseFile(db, fileName).catch(() => undefined);
      return `temp-invalid-output-${randomUUID()}.txt`;
    }
  }
}

async function remove({ directory, db, log }: InvalidOutputsOptions, fileName: string): Promise<void> {
  try {
    await rm(join(directory, fileName), { force: true });
    await releaseFile(db, fileName);
  } catch {
    log.error(`The temporary file ${fileName} could not be deleted; the next start will try again.`);
  }
}

/** Deletes files that no live process has registered in the database, regardless of their age. */
export async function cleanupOrphanedTempFiles({
  directory,
  db,
  clock,
  log,
}: Pick<InvalidOutputsOptions, "directory" | "db" | "clock" | "log">): Promise<void> {
  let names: string[];
  try {
    names = await readdir(directory);
  } catch {
    log.warn(`The config directory ${directory} cannot be read; orphaned temporary files were not cleaned up.`);
    return;
  }
  const inUse = await filesInUse(db, clock.now());
  let deleted = 0;
  for (const name of names.filter((candidate) => FILE_NAME.test(candidate) && !inUse.has(candidate))) {
    try {
      await rm(join(directory, name), { force: true });
      await releaseFile(db, name);
      deleted += 1;
    } catch {
      log.warn(`The orphaned temporary file ${name} could not be deleted.`);
    }
  }
  log.info(`Cleaned up ${deleted} orphaned temporary ${deleted === 1 ? "file" : "files"}.`);
}
