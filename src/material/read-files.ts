/**
 * Reads the files that a start sends: named by path, within the directories from which they may be sent, what their names
 * say, and within limits of size and number.
 */

import { constants } from "node:fs";
import { type FileHandle, lstat, open, realpath } from "node:fs/promises";
import path from "node:path";
import { createHash } from "node:crypto";
import type { FileKind, SentFile } from "../gemini/research-agent.ts";
import { errorCodeOf } from "../platform/error-code.ts";
import { isInside } from "../reports/files/allowed-root.ts";
import { AppError } from "../errors.ts";
import { oneLine } from "../platform/clean-text.ts";
import { isViewable, sniffPicture } from "../reports/pictures/keep.ts";

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
  const content = await handle.readFile();
  return content.length === bytes ? content : undefined;
}

/** A directory of the path may have been replaced by a link. Only Linux returns the path of an open file. */
const isStill = async ({ fd }: FileHandle, file: string): Promise<boolean> =>
  process.platform !== "linux" || (await realpath(`/proc/self/fd/${fd}`).catch(() => file)) === file;

/** More are possible at Google (3,000), but then a file search store is the better place for them. */
export const MAX_FILES = 10;
/**
 * Google documents 100 MB for a request, and 50 MB for a PDF in it. A finished interaction may repeat its input, in
 * base64, and must then still fit into the 16 MB of one response: otherwise a report that was paid for could not be
 * read. A shorter upload also breaks off less often, after which it is unknown whether the start was charged.
 */
export const MAX_FILES_BYTES = 9_000_000;
/** Documented for plain text. */
const MAX_TEXT_BYTES = 7_000_000;
const MAX_NAME_CHARACTERS = 120;

const KINDS: Readonly<Record<string, FileKind>> = {
  pdf: "pdf",
  txt: "text",
  text: "text",
  md: "markdown",
  markdown: "markdown",
  csv: "csv",
  png: "png",
  jpg: "jpeg",
  jpeg: "jpeg",
  webp: "webp",
};

const KIND_NAMES: Record<FileKind, string> = {
  pdf: "PDF",
  text: "text",
  markdown: "Markdown",
  csv: "CSV",
  png: "PNG",
  jpeg: "JPEG",
  webp: "WebP",
};

export interface NamedFile {
  /** Without its directory. */
  name: string;
  content: Uint8Array;
  /** When it was last changed, where that is known. */
  at?: number | undefined;
}

/** Throws unless the file is what its name says. */
export function checkFile({ name: given, content }: NamedFile): SentFile {
  const name = shownName(given);
  const kind = kindOf(name);
  if (content.length === 0) throw refusal(`${name} is empty.`);
  const problem = problemWith(kind, content);
  if (problem !== undefined) throw refusal(`${name} ${problem}.`);
  return { name, kind, bytes: content.length, sha256: createHash("sha256").update(content).digest("hex"), content };
}

/** Throws for a name whose type cannot be sent. */
function kindOf(name: string): FileKind {
  const extension = /\.([A-Za-z]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  const kind = Object.hasOwn(KINDS, extension) ? KINDS[extension] : undefined;
  if (kind !== undefined) return kind;
  throw refusal(
    `${shownName(name)} has a type that cannot be sent.`,
    `Supported types: ${Object.values(KIND_NAMES).join(", ")}.`,
  );
}

/** Without what a terminal or a model would act on. */
const shownName = (name: string): string => {
  const shown = oneLine(name.replaceAll(/[/\\]/g, " "));
  return shown.length <= MAX_NAME_CHARACTERS ? shown : `…${shown.slice(-MAX_NAME_CHARACTERS)}`;
};

/** Throws if the files are too many or too large together. Called with sizes before any content is read. */
export function checkTotal(files: readonly { bytes: number }[]): void {
  if (files.length > MAX_FILES) throw refusal(`At most ${MAX_FILES} files can be sent.`, USE_A_STORE);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes <= MAX_FILES_BYTES) return;
  const limit = `${MAX_FILES_BYTES / 1_000_000} MB`;
  throw refusal(`The files are ${(bytes / 1_000_000).toFixed(1)} MB in total; the limit is ${limit}.`, USE_A_STORE);
}

const USE_A_STORE = "Send fewer or smaller files, or put them into a file search store.";

function problemWith(kind: FileKind, content: Uint8Array): string | undefined {
  if (kind === "pdf") return isPdf(content) ? undefined : "is not a PDF, although its name says so";
  if (kind === "text" || kind === "markdown" || kind === "csv") return problemWithText(content);
  const picture = sniffPicture(content);
  if (picture?.mimeType !== `image/${kind}`) return `is not a ${KIND_NAMES[kind]} picture, although its name says so`;
  return isViewable(picture) ? undefined : "has too many pixels";
}

/** Readers accept the header anywhere in the first kilobyte. */
const isPdf = (content: Uint8Array): boolean => Buffer.from(content.subarray(0, 1_024)).includes("%PDF-");

function problemWithText(content: Uint8Array): string | undefined {
  if (content.length > MAX_TEXT_BYTES) return `is larger than ${MAX_TEXT_BYTES / 1_000_000} MB, the limit for text`;
  if (isPdf(content)) return "is a PDF, although its name says text";
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(content);
    return text.includes("\0") ? "is not text, although its name says so" : undefined;
  } catch {
    return "is not text in UTF-8";
  }
}

const NOTHING_SENT = "Nothing was sent.";

const refusal = (message: string, suggestion?: string): AppError =>
  new AppError({
    code: "INVALID_INPUT",
    message: `${message} ${NOTHING_SENT}`,
    ...(suggestion === undefined ? {} : { suggestion }),
    details: { field: "files" },
  });

/** Documented: a page of a PDF has 258 tokens besides its text, a picture up to 1,120. */
const PDF_BYTES_PER_TOKEN = 60;
const TEXT_BYTES_PER_TOKEN = 4;
const TOKENS_PER_PICTURE = 1_120;
const MIN_PDF_TOKENS = 500;

export function tokensOf({ kind, bytes }: { kind: FileKind; bytes: number }): number {
  if (kind === "pdf") return Math.max(MIN_PDF_TOKENS, Math.round(bytes / PDF_BYTES_PER_TOKEN));
  if (kind === "png" || kind === "jpeg" || kind === "webp") return TOKENS_PER_PICTURE;
  return Math.round(bytes / TEXT_BYTES_PER_TOKEN);
}

/** For files that are not there yet: a name and a size. */
export const tokensOfNamed = ({ name, bytes }: { name: string; bytes: number }): number =>
  tokensOf({ kind: kindOf(name), bytes });
