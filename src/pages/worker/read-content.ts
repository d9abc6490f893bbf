/** Reads the bytes of a response by their kind; runs in the page worker. */

import { cleanText } from "../../platform/clean-text.ts";
import type { PageText } from "../page.ts";
import { decodeText } from "../text/charset.ts";
import { type PageContent, readHtml } from "../text/read-html.ts";

export interface Job {
  bytes: Uint8Array;
  contentType: string;
  requestedUrl: string;
  finalUrl: string;
}

export async function readContent(job: Job): Promise<PageContent> {
  const content = await readKind(job);
  return content.outcome === "text" ? { ...content, page: bounded(content.page) } : content;
}

/** Tables repeat their heads for each cell, so that a small page can have a long text. */
const MAX_CHARACTERS = 4_000_000;

function bounded(page: PageText): PageText {
  let left = MAX_CHARACTERS;
  const blocks = page.blocks.filter((block) => (left -= block.length) >= 0);
  return { ...page, blocks };
}

async function readKind({ bytes, contentType, ...context }: Job): Promise<PageContent> {
  const kind = kindOf(bytes, contentType);
  if (kind === "other") return { outcome: "unreadable", wall: "format" };
  if (kind === "pdf") return await readPdf(bytes);
  const text = decodeText(bytes, contentType);
  if (kind === "html") return readHtml(text, context);
  const page = plainToText(text);
  return page.blocks.length === 0 ? { outcome: "unreadable", wall: "format" } : { outcome: "text", page };
}

/** The first line is the title, the paragraphs are the blocks. */
function plainToText(text: string): PageText {
  const blocks = cleanText(text)
    .split(/\n(?:[ \t]*\n)+/)
    .map((block) => block.replaceAll(/\s+/g, " ").trim())
    .filter((block) => block !== "");
  return { title: (blocks[0] ?? "").slice(0, 200), blocks };
}

type Kind = "html" | "plain" | "pdf" | "other";

/** The first bytes decide where the declared type is missing or general: many servers send a PDF as octet-stream. */
function kindOf(bytes: Uint8Array, contentType: string): Kind {
  const type = contentType.split(";")[0]?.trim().toLowerCase() ?? "";
  const start = Buffer.from(bytes.subarray(0, 1_024)).toString("latin1");
  if (start.slice(0, 64).includes("%PDF-")) return "pdf";
  if (type === "application/pdf") return "other";
  if (type === "text/html" || type === "application/xhtml+xml") return "html";
  const isGeneral = type === "" || type === "application/octet-stream" || type === "text/plain";
  if (isGeneral && /^\s*(?:<!--[^>]*-->\s*)*<(?:!doctype html|html|head|body)\b/i.test(start)) return "html";
  // eslint-disable-next-line no-control-regex
  if (isGeneral || /^text\/(?:markdown|csv|x-markdown|x-rst)$/.test(type)) return /\0/.test(start) ? "other" : "plain";
  return "other";
}

async function readPdf(bytes: Uint8Array): Promise<PageContent> {
  try {
    const { pdfToText } = await import("../text/pdf-text.ts");
    const page = await pdfToText(bytes);
    // Without text it is a scan.
    return page.blocks.length === 0 ? { outcome: "unreadable", wall: "format" } : { outcome: "text", page };
  } catch {
    return { outcome: "unreadable", wall: "format" };
  }
}
