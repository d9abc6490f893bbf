/** Saves a report, a table as data or an archive to a file: completely or not at all, and over another file only on request. */

import { lstat, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { type AppError, invalidInput } from "../../errors.ts";
import { pinFolder } from "./allowed-root.ts";
import { errorCodeOf } from "../../platform/error-code.ts";
import { fileError } from "./file-errors.ts";
import { type FileEnding, MONTH_FOLDER, monthFolder, reportFileName, titledFileName } from "./file-name.ts";
import type { Picture } from "../pictures/picture.ts";
import { publishPictures, withdrawPictures } from "../pictures/publish.ts";
import { claimByReplacing, isTemporary, publishFile } from "./publish-file.ts";

export interface SaveRequest {
  /** Absolute; created if missing. */
  directory: string;
  named: FileNaming;
  /** A function receives the name of the folder with the report's pictures. */
  text: string | Uint8Array | AsyncIterable<Uint8Array> | ((picturesFolder: string) => string);
  pictures?: readonly Picture[] | undefined;
  now: number;
  /** For callers that may not write everywhere: throws for a directory that is not allowed. */
  assertAllowed?: ((directory: string) => Promise<void>) | undefined;
}

type FileNaming =
  /** In a folder per month; the prefix, the run and the time make the name. */
  | { prefix: string; taskId: string; ending?: FileEnding | undefined }
  | { title: string; ending: FileEnding }
  /** Exactly this name, which is refused if it is taken. */
  | { file: string; replaces: boolean };

export interface SavedReport {
  path: string;
  name: string;
  bytes: number;
}

export async function saveMarkdown(request: SaveRequest): Promise<SavedReport> {
  const { directory, named, now, assertAllowed, pictures = [] } = request;
  let folder = "prefix" in named ? path.join(directory, monthFolder(now)) : directory;
  const render = createRender(request);
  try {
    await assertAllowed?.(folder);
    const created = await makeFolder(folder);
    const pinned = assertAllowed === undefined ? undefined : await pinFolder(folder, assertAllowed);
    let published: Published;
    try {
      folder = pinned?.realPath ?? folder;
      published = await publish(pinned?.path ?? folder, request, render);
    } finally {
      await pinned?.close();
    }
    await flushFolders(folder, created);
    await ("prefix" in named ? sweepTemporaryReports(directory, now) : sweepFolder(folder, now));
    return { path: path.join(folder, published.name), ...published };
  } catch (error) {
    const neededBytes = pictures.reduce((sum, { byteLength }) => sum + byteLength, render("").length);
    throw await fileError(error, { folder, name: namerOf(request)(1), neededBytes });
  }
}

/** The candidate names, counted from 1. */
function namerOf({ named, now }: Pick<SaveRequest, "named" | "now">): (number: number) => string {
  return (number) => {
    if ("prefix" in named) return reportFileName({ ...named, now }, number);
    if ("title" in named) return titledFileName(named, number);
    if (number > 1) throw isTaken(named.file);
    return named.file;
  };
}

const isTaken = (file: string): AppError =>
  invalidInput(`${file} exists already. Nothing was saved.`, {
    suggestion: "Choose another name, or replace the file with --force.",
    field: "file",
  });

type Render = (picturesFolder: string) => Buffer;

/** Renders once, for the first folder it is called with. */
function createRender({ text }: SaveRequest): Render {
  let content: Buffer | undefined;
  return (picturesFolder) => (content ??= Buffer.from(textOf(text, picturesFolder)));
}

function textOf(text: SaveRequest["text"], picturesFolder: string): string | Uint8Array {
  if (isStream(text)) return "";
  return typeof text === "function" ? text(picturesFolder) : text;
}

const isStream = (text: SaveRequest["text"]): text is AsyncIterable<Uint8Array> =>
  typeof text === "object" && Symbol.asyncIterator in text;

type Published = Pick<SavedReport, "name" | "bytes">;

/** Pictures first, so that a published report never refers to missing files. */
async function publish(directory: string, request: SaveRequest, render: Render): Promise<Published> {
  const { named, assertAllowed, pictures = [] } = request;
  const name = namerOf(request);
  const replaces = "file" in named && named.replaces;
  const claim = replaces ? { claimName: claimByReplacing } : {};
  if (pictures.length === 0) {
    const content = isStream(request.text) ? request.text : render("");
    const published = await publishFile({ directory, content, name, ...claim });
    return { name: published, bytes: (await stat(path.join(directory, published))).size };
  }
  const { folder, number, isNew } = await publishPictures({ directory, pictures, name, assertAllowed, replaces });
  try {
    const content = render(folder);
    const free = (tried: number): string => name(number - 1 + tried);
    return { name: await publishFile({ directory, content, name: free, ...claim }), bytes: content.length };
  } catch (error) {
    if (isNew) await withdrawPictures(directory, folder).catch(() => undefined);
    throw error;
  }
}

/** Expands `~`, which would otherwise become a directory of that name in the working directory. */
export const outputDirectory = (given: string, home = homedir()): string =>
  path.resolve(given.replace(/^~(?=$|[\\/])/, () => home));

/**
 * Returns the topmost folder it created. Not `mkdir` with `recursive`: it reports a read-only disk as a missing
 * directory.
 */
async function makeFolder(folder: string): Promise<string | undefined> {
  const parent = path.dirname(folder);
  try {
    await mkdir(folder);
    return folder;
  } catch (error) {
    const found = await stat(folder).catch(() => undefined);
    if (found?.isDirectory() === true) return undefined;
    if (errorCodeOf(error) !== "ENOENT" || parent === folder) throw error;
  }
  const above = await makeFolder(parent);
  await mkdir(folder).catch((error: unknown) => {
    // Another process created it first.
    if (errorCodeOf(error) !== "EEXIST") throw error;
  });
  return above ?? folder;
}

/** A file name is durable only once its directory is flushed, and a new directory once its parent is. */
async function flushFolders(folder: string, created: string | undefined): Promise<void> {
  const last = created === undefined ? folder : path.dirname(created);
  for (let current = folder; ; current = path.dirname(current)) {
    await flushFolder(current);
    if (current === last || current === path.dirname(current)) return;
  }
}

/**
 * Errors are ignored: Windows cannot open directories, some file systems cannot flush them, and the report is already
 * saved.
 */
async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

/** Age after which a temporary file belongs to a process that was killed while writing. */
const STALE_AFTER_MS = 3_600_000;

/** Best effort: files that cannot be read or removed stay. */
export async function sweepTemporaryReports(directory: string, now: number): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const months = entries.filter((entry) => entry.isDirectory() && MONTH_FOLDER.test(entry.name));
  for (const month of months) await sweepFolder(path.join(directory, month.name), now);
}

async function sweepFolder(folder: string, now: number): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter(isTemporary)) {
    const file = path.join(folder, name);
    const modified = (await lstat(file).catch(() => undefined))?.mtimeMs ?? now;
    if (modified < now - STALE_AFTER_MS) await rm(file, { force: true, recursive: true }).catch(() => undefined);
  }
}
