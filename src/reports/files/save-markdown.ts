/** Saves a report as a file of its own in a folder per month: whole or not at all, and never over another. */

import { lstat, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { holdFolder } from "./allowed-root.ts";
import { codeOf, fileError } from "./file-errors.ts";
import { monthFolder, reportFileName } from "./file-name.ts";
import type { Picture } from "../pictures/picture.ts";
import { publishPictures, withdrawPictures } from "../pictures/publish.ts";
import { isTemporary, publishFile } from "./publish-file.ts";

export interface SaveRequest {
  /** Absolute; created where it does not exist. */
  directory: string;
  prefix: string;
  taskId: string;
  /** Given the name of the folder beside it that holds its pictures. */
  text: string | ((picturesFolder: string) => string);
  pictures?: readonly Picture[] | undefined;
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
  const { directory, now, allowed, pictures = [] } = request;
  let folder = path.join(directory, monthFolder(now));
  const render = renderedOnce(request);
  try {
    await allowed?.(folder);
    const created = await makeFolder(folder);
    const held = allowed === undefined ? undefined : await holdFolder(folder, allowed);
    let published: Published;
    try {
      folder = held?.real ?? folder;
      published = await publish(held?.way ?? folder, request, render);
    } finally {
      await held?.release();
    }
    await flushFolders(folder, created);
    await sweepTemporaryReports(directory, now);
    return { path: path.join(folder, published.name), ...published };
  } catch (error) {
    const neededBytes = pictures.reduce((sum, { byteLength }) => sum + byteLength, render("").length);
    throw await fileError(error, { path: folder, neededBytes });
  }
}

type Render = (picturesFolder: string) => Buffer;

/** The first folder that it is asked for is the one that it names. */
function renderedOnce({ text }: SaveRequest): Render {
  let content: Buffer | undefined;
  return (picturesFolder) => (content ??= Buffer.from(typeof text === "string" ? text : text(picturesFolder)));
}

type Published = Pick<SavedReport, "name" | "bytes">;

/** The pictures first: a report that is there has all it refers to. */
async function publish(directory: string, request: SaveRequest, render: Render): Promise<Published> {
  const { prefix, taskId, now, allowed, pictures = [] } = request;
  const name = (number: number): string => reportFileName({ prefix, taskId, now }, number);
  if (pictures.length === 0) {
    const content = render("");
    return { name: await publishFile({ directory, content, name }), bytes: content.length };
  }
  const { folder, number } = await publishPictures({ directory, pictures, name, allowed });
  try {
    const content = render(folder);
    const free = (tried: number): string => name(number - 1 + tried);
    return { name: await publishFile({ directory, content, name: free }), bytes: content.length };
  } catch (error) {
    await withdrawPictures(directory, folder).catch(() => undefined);
    throw error;
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
      if (modified < now - LEFT_OVER_AFTER_MS) await rm(file, { force: true, recursive: true }).catch(() => undefined);
    }
  }
}
