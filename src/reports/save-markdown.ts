/** Saves a report as a file of its own in a folder per month: whole or not at all, and never over another. */

import { lstat, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { holdFolder } from "./allowed-root.ts";
import { codeOf, fileError } from "./file-errors.ts";
import { monthFolder, reportFileName } from "./file-name.ts";
import { isTemporary, publishFile } from "./publish-file.ts";

export interface SaveRequest {
  /** Absolute; created where it does not exist. */
  directory: string;
  prefix: string;
  taskId: string;
  text: string;
  now: number;
  /** For callers that may not write everywhere: throws for a directory that is not allowed. */
  allowed?: ((directory: string) => Promise<void>) | undefined;
}

export interface SavedReport {
  path: string;
  name: string;
  bytes: number;
}

export async function saveMarkdown(request: SaveRequest): Promise<SavedReport> {
  const { directory, prefix, taskId, now, allowed } = request;
  const content = Buffer.from(request.text);
  let folder = path.join(directory, monthFolder(now));
  try {
    await allowed?.(folder);
    const created = await makeFolder(folder);
    const held = allowed === undefined ? undefined : await holdFolder(folder, allowed);
    let name: string;
    try {
      folder = held?.real ?? folder;
      name = await publishFile({
        directory: held?.way ?? folder,
        content,
        name: (number) => reportFileName({ prefix, taskId, now }, number),
      });
    } finally {
      await held?.release();
    }
    await flushFolders(folder, created);
    await sweepTemporaryReports(directory, now);
    return { path: path.join(folder, name), name, bytes: content.length };
  } catch (error) {
    throw await fileError(error, { path: folder, neededBytes: content.length });
  }
}

/** `~` is what people write; without this a directory of that name would appear in the working directory. */
export const outputDirectory = (given: string, home = homedir()): string =>
  path.resolve(given.replace(/^~(?=$|[\\/])/, () => home));

/** The highest folder that had to be made. mkdir's own recursion calls a read-only disk a missing directory. */
async function makeFolder(folder: string): Promise<string | undefined> {
  const parent = path.dirname(folder);
  try {
    await mkdir(folder);
    return folder;
  } catch (error) {
    const found = await stat(folder).catch(() => undefined);
    if (found?.isDirectory() === true) return undefined;
    if (codeOf(error) !== "ENOENT" || parent === folder) throw error;
  }
  const above = await makeFolder(parent);
  await mkdir(folder).catch((error: unknown) => {
    // Another process was quicker.
    if (codeOf(error) !== "EEXIST") throw error;
  });
  return above ?? folder;
}

/** A name is only as durable as the directory that holds it, and a new directory as the one above. */
async function flushFolders(folder: string, created: string | undefined): Promise<void> {
  const last = created === undefined ? folder : path.dirname(created);
  for (let current = folder; ; current = path.dirname(current)) {
    await flushFolder(current);
    if (current === last || current === path.dirname(current)) return;
  }
}

/** Windows opens no directories and some file systems flush none. The report has its name; saying no would be wrong. */
async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

/** A file of ours that was being written when its process was killed; none takes this long. */
const LEFT_OVER_AFTER_MS = 3_600_000;

/** Best effort: what cannot be read or removed stays. */
export async function sweepTemporaryReports(directory: string, now: number): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const months = entries.filter((entry) => entry.isDirectory() && /^\d{4}-\d{2}$/.test(entry.name));
  for (const month of months) {
    const folder = path.join(directory, month.name);
    const names = await readdir(folder).catch(() => []);
    for (const name of names.filter(isTemporary)) {
      const file = path.join(folder, name);
      const modified = (await lstat(file).catch(() => undefined))?.mtimeMs ?? now;
      if (modified < now - LEFT_OVER_AFTER_MS) await rm(file, { force: true }).catch(() => undefined);
    }
  }
}
