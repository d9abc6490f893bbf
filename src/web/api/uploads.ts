/** Files that the page uploads with a start: read into memory, within bounds, and held only for the start. */

import { z } from "zod";
import { AppError } from "../../errors.ts";
import { MAX_FILES, MAX_FILES_BYTES, type NamedFile, tokensOfNamed } from "../../material/read-files.ts";
import { MAX_BODY_BYTES, readJsonBody } from "./json.ts";
import type { Upload } from "../wire.ts";

/** Base64 has four characters for three bytes. */
const MAX_UPLOAD_BODY_BYTES = Math.ceil(MAX_FILES_BYTES / 3) * 4 + MAX_BODY_BYTES;
/** Each may hold the body, its text and the files at once: about 60 MB. One user has one, so that others can upload. */
const MAX_UPLOADS_AT_ONCE = 8;

const uploadsField = z
  .array(z.strictObject({ name: z.string().min(1).max(255), data: z.string() }) satisfies z.ZodType<Upload>)
  .max(MAX_FILES)
  .default([]);

export interface WithUploads {
  /** The body without its uploads. */
  body: Record<string, unknown>;
  uploads: NamedFile[];
}

interface Uploading {
  request: Request;
  owner: string;
}

/** Returns a function that reads the body of a start and passes it on, few large ones at a time and one per user. */
export function createUploadReader(): (
  { request, owner }: Uploading,
  use: (start: WithUploads) => Promise<Response>,
) => Promise<Response> {
  const uploading = new Set<string>();
  return async ({ request, owner }, use) => {
    const length = Number(request.headers.get("content-length") ?? Infinity);
    if (length <= MAX_BODY_BYTES) return use(withUploads(await readJsonBody(request)));
    if (uploading.has(owner) || uploading.size === MAX_UPLOADS_AT_ONCE) throw busy();
    uploading.add(owner);
    try {
      return await use(withUploads(await readJsonBody(request, MAX_UPLOAD_BODY_BYTES)));
    } finally {
      uploading.delete(owner);
    }
  };
}

function withUploads({ uploads, ...body }: Record<string, unknown>): WithUploads {
  const parsed = uploadsField.safeParse(uploads);
  if (!parsed.success) throw notUploads();
  return { body, uploads: parsed.data.map(({ name, data }) => ({ name, content: decoded(data) })) };
}

/** Node skips what is not base64, and the content is shorter then. A regular expression would be slow on megabytes. */
function decoded(data: string): Buffer {
  const content = Buffer.from(data, "base64");
  const padding = data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0;
  if (content.length !== (data.length / 4) * 3 - padding) throw notUploads();
  return content;
}

const notUploads = (): AppError => invalid("uploads must be up to ten files with name and data in base64.");

const attachmentsField = z
  .array(z.strictObject({ name: z.string().min(1).max(255), bytes: z.int().min(0) }))
  .max(MAX_FILES)
  .default([]);

/** The tokens of files that the page has not uploaded yet. */
export function expectedTokens(attachments: unknown): number {
  const parsed = attachmentsField.safeParse(attachments);
  if (!parsed.success) throw invalid("attachments must be up to ten files with name and bytes.");
  return parsed.data.reduce((sum, file) => sum + tokensOfNamed(file), 0);
}

const invalid = (message: string): AppError =>
  new AppError({ code: "INVALID_INPUT", message, details: { status: 400, field: "files" } });

const busy = (): AppError =>
  new AppError({
    code: "BUSY",
    message: "Other files are being uploaded right now. Nothing was started.",
    suggestion: "Try again in a moment.",
  });
