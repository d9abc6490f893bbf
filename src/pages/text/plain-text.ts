/** Reads a plain text: its first line is the title, its paragraphs are the blocks. */

import { cleanText } from "../../platform/clean-text.ts";
import type { PageText } from "../page.ts";

export function plainToText(text: string): PageText {
  const blocks = cleanText(text)
    .split(/\n(?:[ \t]*\n)+/)
    .map((block) => block.replaceAll(/\s+/g, " ").trim())
    .filter((block) => block !== "");
  return { title: (blocks[0] ?? "").slice(0, 200), blocks };
}
