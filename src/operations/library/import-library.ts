/**
 * `import_library`: Markdown reports from elsewhere become finished runs, and the runs of an exported archive come back.
 * For people at the page and the terminal only: an assistant that wrote a report has it in its conversation.
 */

import { open } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { LOCAL_OWNER } from "../../caller.ts";
import { AppError } from "../../errors.ts";
import { oneLine } from "../../platform/clean-text.ts";
import { countOf } from "../../platform/count.ts";
import { errorCodeOf } from "../../platform/error-code.ts";
import { isZip, type ZipSource } from "../../reports/files/zip.ts";
import type { MarkdownReport } from "../../reports/markdown/read-markdown.ts";
import { type Call, defineOperation, type OperationDeps, outputSchema } from "../operation.ts";
import { pathField } from "../parts/report-file.ts";

const MAX_IMPORTED_FILES = 1_000;

export const importLibrary = defineOperation({
  name: "import_library",
  title: "Import reports",
  description: "Imports Markdown reports and exported archives. Free, local.",
  input: z.strictObject({
    files: z
      .array(pathField("files"), { error: "{files} must be a list of files." })
      .max(MAX_IMPORTED_FILES, { error: `{files} must be at most ${MAX_IMPORTED_FILES} files.` })
      .default([]),
  }),
  output: outputSchema({
    imported: z.number(),
    present: z.number(),
    unreadable: z.array(z.string()),
    runs: z.array(z.looseObject({ task_id: z.string(), query: z.string(), is_new: z.boolean() })),
    message: z.string(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  positional: undefined,
  run: async (deps, { files }, call) => {
    const sources = [...(call.uploads ?? []).map(ofUpload), ...files.map((file) => path.resolve(file)).map(ofPath)];
    // All Markdown is read before any is stored: a wrong file among them imports nothing.
    const opened = [];
    try {
      for (const openFile of sources) opened.push(await openFile());
      const read = [];
      for (const file of opened) {
        const markdown = await markdownIn(file);
        if (markdown === undefined && call.owner !== LOCAL_OWNER) throw operatorOnly();
        read.push({ file, markdown });
      }
      const sum = { imported: 0, present: 0, unreadable: [] as string[], runs: [] as Imported[] };
      for (const { file, markdown } of read) {
        if (markdown === undefined) {
          const { restoreArchive } = await import("./archive.ts");
          const { imported, present, unreadable } = await restoreArchive(deps, { ...call, source: file });
          sum.imported += imported;
          sum.present += present;
          sum.unreadable.push(...unreadable);
        } else {
          const run = await importOne(deps, call, { file, markdown });
          sum.runs.push(run);
          sum[run.is_new ? "imported" : "present"] += 1;
        }
      }
      return { success: true, ...sum, message: messageOf(sum) };
    } finally {
      for (const { close } of opened) await close();
    }
  },
  toText: ({ message }) => message,
});

interface Imported {
  task_id: string;
  query: string;
  is_new: boolean;
}

interface OpenFile extends ZipSource {
  name: string;
  /** When it was last changed. */
  at: number | undefined;
  close: () => Promise<void>;
}

const ofUpload =
  ({ name, content, at }: NonNullable<Call["uploads"]>[number]) =>
  async (): Promise<OpenFile> => {
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    const read = async (from: number, length: number) => bytes.subarray(from, from + length);
    return { name, at, bytes: bytes.length, read, close: async () => {} };
  };

const ofPath = (file: string) => async (): Promise<OpenFile> => {
  const name = path.basename(file);
  const handle = await open(file).catch((error: unknown) => {
    throw notRead(name, errorCodeOf(error) === "ENOENT" ? "does not exist" : "cannot be read");
  });
  const facts = await handle.stat();
  if (!facts.isFile()) {
    await handle.close();
    throw notRead(name === "" ? file : name, "is not a file");
  }
  const { size: bytes, mtimeMs: at } = facts;
  const read = async (from: number, length: number): Promise<Buffer> => {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.min(length, bytes)), 0, null, from);
    return buffer.subarray(0, bytesRead);
  };
  return { name, at: Math.round(at), bytes, read, close: () => handle.close() };
};

/** About ten times the longest reports of Deep Research. */
export const MAX_MARKDOWN_BYTES = 2_000_000;

/** Undefined for an archive. */
async function markdownIn(file: OpenFile): Promise<MarkdownReport | undefined> {
  if (isZip(await file.read(0, 4))) return undefined;
  if (file.bytes > MAX_MARKDOWN_BYTES) throw notRead(file.name, `is larger than ${MAX_MARKDOWN_BYTES / 1_000_000} MB`);
  const text = decoded(await file.read(0, file.bytes));
  if (text === undefined) throw notRead(file.name, "is neither Markdown (UTF-8) nor an exported archive");
  const { readMarkdown } = await import("../../reports/markdown/read-markdown.ts");
  const markdown = readMarkdown(text);
  if (markdown.question === undefined) throw notRead(file.name, "is empty");
  return markdown;
}

function decoded(content: Buffer): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(content);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

const MAX_QUESTION_CHARACTERS = 10_000;

async function importOne(
  deps: Pick<OperationDeps, "database" | "clock">,
  { owner, client }: Call,
  { file, markdown }: { file: OpenFile; markdown: MarkdownReport },
): Promise<Imported> {
  const { importReport } = await import("../../runs/library/import-store.ts");
  const { question: whole = file.name, report, sources } = markdown;
  const question = whole.slice(0, MAX_QUESTION_CHARACTERS).toWellFormed();
  const now = deps.clock.now();
  const at = Math.min(now, markdown.at ?? file.at ?? now);
  const imported = { owner, client, question, report, sources, at, now };
  const { taskId, isNew } = await importReport(await deps.database(), imported);
  return { task_id: taskId, query: question, is_new: isNew };
}

const notRead = (name: string, why: string): AppError =>
  new AppError({
    code: "INVALID_INPUT",
    message: `${oneLine(name)} ${why}. Nothing was imported.`,
    details: { status: 400, field: "files" },
  });

/** An archive contains ids and figures of its own, which a run of another user must not be measured against. */
const operatorOnly = (): AppError =>
  new AppError({
    code: "PERMISSION_DENIED",
    message: "Only the operator of this server imports archives. Nothing was imported.",
    suggestion: "Import the Markdown files in it.",
  });

function messageOf({ imported, present, unreadable }: { imported: number; present: number; unreadable: string[] }) {
  return [
    imported === 0 ? "Nothing new." : `Imported ${countOf(imported, "run")}.`,
    ...(present === 0 ? [] : [`${countOf(present, "run")} ${present === 1 ? "is" : "are"} there already.`]),
    ...(unreadable.length === 0 ? [] : [`${countOf(unreadable.length, "run")} of the archive cannot be read.`]),
  ].join(" ");
}
