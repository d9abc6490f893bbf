/** Decides whether a file can be sent: by its name, its content, and the limits on size and number. */

import { createHash } from "node:crypto";
import { AppError } from "../errors.ts";
import type { FileKind, SentFile } from "../gemini/research-agent.ts";
import { oneLine } from "../platform/clean-text.ts";
import { isViewable } from "../reports/pictures/keep.ts";
import { sniffPicture } from "../reports/pictures/sniff.ts";

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
export function kindOf(name: string): FileKind {
  const extension = /\.([A-Za-z]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  const kind = Object.hasOwn(KINDS, extension) ? KINDS[extension] : undefined;
  if (kind !== undefined) return kind;
  throw refusal(
    `${shownName(name)} has a type that cannot be sent.`,
    `Supported types: ${Object.values(KIND_NAMES).join(", ")}.`,
  );
}

/** Without what a terminal or a model would act on. */
export const shownName = (name: string): string => {
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

export const refusal = (message: string, suggestion?: string): AppError =>
  new AppError({
    code: "INVALID_INPUT",
    message: `${message} ${NOTHING_SENT}`,
    ...(suggestion === undefined ? {} : { suggestion }),
    details: { field: "files" },
  });
