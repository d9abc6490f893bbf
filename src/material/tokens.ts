/** A rough count of the tokens that files add to a request. */

import type { FileKind } from "../gemini/research-agent.ts";
import { kindOf } from "./check-file.ts";

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
