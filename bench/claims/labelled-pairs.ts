/** Claims with pages and the verdict that a reader gives them, from a JSON file. */

import { readFileSync } from "node:fs";
import { z } from "zod";
import type { PageText } from "../../src/pages/page.ts";
import { type PageContent, readHtml } from "../../src/pages/text/read-html.ts";

const pair = z.object({
  id: z.string(),
  kind: z.string(),
  lang: z.string(),
  page_lang: z.string(),
  claim: z.string(),
  page_title: z.string().optional(),
  page_text: z.string().optional(),
  page_html: z.string().optional(),
  expected: z.enum(["supported", "weak", "unsupported", "contradicted", "unreadable", "gone"]),
});

export type LabelledPair = z.infer<typeof pair>;

/** A pair without a page has the page of the pair before it. */
export function readPairs(file: string): LabelledPair[] {
  let page: Pick<LabelledPair, "page_title" | "page_text" | "page_html"> = {};
  return z
    .array(pair)
    .parse(JSON.parse(readFileSync(file, "utf8")))
    .map((read) => {
      const { page_title, page_text, page_html } = read;
      if (page_title !== undefined) page = { page_title, page_text, page_html };
      return { ...read, ...page };
    });
}

const known = new Map<string, PageContent>();

/** The same object for all pairs of a page, which is then read once, as in the product. */
export function pageOf(labelled: LabelledPair): PageContent {
  const key = JSON.stringify([labelled.page_title, labelled.page_text, labelled.page_html]);
  const page = known.get(key) ?? readPage(labelled);
  known.set(key, page);
  return page;
}

function readPage({ page_title, page_text, page_html }: LabelledPair): PageContent {
  if (page_html !== undefined) return readHtml(page_html);
  return { outcome: "text", page: textPage(page_title ?? "", page_text ?? "") };
}

/** Lines that end inside a sentence, as in the text of a PDF, continue in the next line. */
export function textPage(title: string, text: string): PageText {
  const blocks: string[] = [];
  let isOpen = false;
  for (const line of text.split("\n")) {
    if (isOpen && line.trim() !== "") blocks.push(`${blocks.pop() ?? ""}\n${line}`);
    else if (line.trim() !== "") blocks.push(line);
    isOpen = line.trim() !== "" && !/[.!?。！？:"”]\s*$/u.test(line);
  }
  return { title, blocks };
}
