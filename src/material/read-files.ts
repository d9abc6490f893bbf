/** Reads files that are named by path, within the directories from which they may be sent. */

import { constants } from "node:fs";
import { type FileHandle, lstat, open, realpath } from "node:fs/promises";
import path from "node:path";
import type { SentFile } from "../gemini/research-agent.ts";
import { errorCodeOf } from "../platform/error-code.ts";
import { isInside } from "../reports/files/allowed-root.ts";
import { checkFile, checkTotal, kindOf, refusal, shownName } from "./check-file.ts";

export interface FileAccess {
  /** Paths are relative to it. */
  workingDirectory: string;
  /** Where the files must be; "any" if the user typed the paths. */
  roots: readonly string[] | "any";
  /** Directories and files that are never sent, such as the program's own configuration and database. */
  privatePaths: readonly string[];
}

export async function readFiles(paths: readonly string[], access: FileAccess): Promise<SentFile[]> {
  const allowed = await realAccess(access);
  const found: { file: string; bytes: number }[] = [];
  for (const given of paths) found.push(await locate(given, allowed));
  checkTotal(found);
  const files: SentFile[] = [];
  for (const { file, bytes } of found) {
    files.push(checkFile({ name: path.basename(file), content: await read(file, bytes) }));
  }
  return files;
}

/** All directories as real paths: a path is compared after its links were resolved. */
async function realAccess({ workingDirectory, roots, privatePaths }: FileAccess): Promise<FileAccess> {
  return {
    workingDirectory,
    roots: roots === "any" ? "any" : await Promise.all(roots.map(realPathOf)),
    privatePaths: await Promise.all(privatePaths.map(realPathOf)),
  };
}

const realPathOf = (directory: string): Promise<string> => realpath(directory).catch(() => path.resolve(directory));

/** The real path and size of a file that may be sent. */
async function locate(given: string, access: FileAccess): Promise<{ file: string; bytes: number }> {
  const requested = path.resolve(access.workingDirectory, given);
  const file = await realpath(requested).catch((error: unknown) => errorCodeOf(error) || "UNKNOWN");
  const isFound = path.isAbsolute(file);
  // Whether a file outside exists is not revealed.
  const root = rootOf(isFound ? file : requested, access);
  if (root === undefined) throw outside(given);
  if (!isFound) throw refusal(`There is no file ${shownName(path.basename(given))}.`, `The path was ${requested}.`);
  if (isHidden(path.relative(root, file), access) || access.privatePaths.some((owned) => isInside(owned, file)))
    throw refusal(`${shownName(path.basename(file))} is hidden or private, and such files are never sent.`);
  const facts = await lstat(file);
  if (!facts.isFile()) throw refusal(`${shownName(path.basename(file))} is not a regular file.`);
  kindOf(path.basename(file));
  return { file, bytes: facts.size };
}

/** The allowed directory that contains the file; undefined if there is none. */
function rootOf(file: string, { roots }: FileAccess): string | undefined {
  return roots === "any" ? path.parse(file).root : roots.find((root) => isInside(root, file));
}

/**
 * Hidden files and directories hold keys and settings: .env, .ssh, .git. Where the user typed the path, only those that
 * are known to hold credentials are refused.
 */
const isHidden = (file: string, { roots }: FileAccess): boolean =>
  file.split(path.sep).some((segment) => (roots === "any" ? CREDENTIALS.test(segment) : segment.startsWith(".")));

const CREDENTIALS = /^\.(?:ssh|gnupg|aws|azure|kube|docker|gcloud|password-store|env\b.*|netrc|npmrc|pypirc|pgpass)$/;

function outside(given: string): Error {
  return refusal(
    `${shownName(path.basename(given))} is outside the directories from which files may be sent.`,
    "The user can add a directory to GEMINI_SEARCH_FILE_ROOTS, or send the file in a terminal: gemini-search-mcp research --file …",
  );
}

/** Refuses links and does not wait for a FIFO that replaced the file since it was checked. */
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

async function read(file: string, bytes: number): Promise<Uint8Array> {
  const handle = await open(file, FLAGS).catch(() => undefined);
  if (handle === undefined) throw refusal(`${shownName(path.basename(file))} cannot be read.`);
  try {
    const content = await contentOf(handle, bytes);
    if (content !== undefined && (await isStill(handle, file))) return content;
  } finally {
    await handle.close();
  }
  throw refusal(`${shownName(path.basename(file))} was changed while it was read.`);
}

async function contentOf(handle: FileHandle, bytes: number): Promise<Uint8Array | undefined> {
  const facts = await handle.stat();
  if (!facts.isFile() || facts.size !== bytes) return undefined;
  // One byte more shows that the file has grown.
  const buffer = Buffer.alloc(bytes + 1);
  let filled = 0;
  for (;;) {
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, filled);
    filled += bytesRead;
    if (bytesRead === 0 || filled > bytes) break;
  }
  return filled === bytes ? buffer.subarray(0, bytes) : undefined;
}

/** A directory of the path may have been replaced by a link. Only Linux returns the path of an open file. */
const isStill = async ({ fd }: FileHandle, file: string): Promise<boolean> =>
  process.platform !== "linux" || (await realpath(`/proc/self/fd/${fd}`).catch(() => file)) === file;
