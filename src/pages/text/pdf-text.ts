/** Reads the text of a PDF: lines that follow each other closely form a block. */

import { getDocumentProxy } from "unpdf";
import { cleanText, oneLine } from "../../platform/clean-text.ts";
import { isRecord } from "../../platform/is-record.ts";
import type { PageText } from "../page.ts";

const MAX_PAGES = 1_000;
const MAX_CHARACTERS = 4_000_000;
const MAX_FACT_CHARACTERS = 300;

type Document = Awaited<ReturnType<typeof getDocumentProxy>>;
type Item = Awaited<ReturnType<Awaited<ReturnType<Document["getPage"]>>["getTextContent"]>>["items"][number];

/** Rejects if the file is damaged or protected by a password. */
export async function pdfToText(bytes: Uint8Array): Promise<PageText> {
  const document = await getDocumentProxy(bytes, {
    // Fonts and pictures of the file are not used.
    disableFontFace: true,
    useSystemFonts: false,
    stopAtErrors: false,
    maxImageSize: 1,
    verbosity: 0,
  });
  const blocks: string[] = [];
  let characters = 0;
  for (let n = 1; n <= Math.min(document.numPages, MAX_PAGES) && characters < MAX_CHARACTERS; n += 1) {
    const page = await document.getPage(n);
    const { items } = await page.getTextContent();
    const found = blocksOf(items);
    characters += found.reduce((sum, block) => sum + block.length, 0);
    blocks.push(...found);
    page.cleanup();
  }
  return { title: blocks[0]?.slice(0, 200) ?? "", blocks, ...(await factsOf(document)) };
}

/** A gap of more than one and a half lines, or a new column, ends a block. */
function blocksOf(items: readonly Item[]): string[] {
  const blocks: string[] = [];
  let text = "";
  let lastY: number | undefined;
  const end = (): void => {
    const block = cleanText(text)
      // A word that was divided at the end of a line.
      .replaceAll(/(\p{Ll})- (?=\p{Ll})/gu, "$1")
      .replaceAll(/\s+/g, " ")
      .trim();
    if (block !== "") blocks.push(block);
    text = "";
  };
  for (const item of items) {
    if (!("str" in item)) continue;
    const y = Number(item.transform[5]);
    const height = item.height === 0 ? 10 : item.height;
    if (lastY !== undefined && item.str.trim() !== "" && (lastY - y > 1.7 * height || y - lastY > 2 * height)) end();
    text += item.hasEOL ? `${item.str} ` : item.str;
    if (item.str.trim() !== "") lastY = y;
  }
  end();
  return blocks;
}

async function factsOf(document: Document): Promise<Partial<Pick<PageText, "title" | "date" | "author">>> {
  const info: unknown = (await document.getMetadata().catch(() => undefined))?.info;
  const text = (key: string): string => {
    const value: unknown = isRecord(info) ? info[key] : undefined;
    return typeof value === "string" ? oneLine(value).slice(0, MAX_FACT_CHARACTERS) : "";
  };
  const facts = {
    title: text("Title"),
    date: /^D:\d{8}/.test(text("CreationDate"))
      ? text("CreationDate").replace(/^D:(\d{4})(\d\d)(\d\d).*/, "$1-$2-$3")
      : "",
    author: text("Author"),
  };
  return Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== ""));
}
