/** Reads an HTML document: its text, or what is there instead of a page. */

import type { PageText } from "../page.ts";
import { htmlToText, TooDeepError } from "./html-text.ts";
import { type NoPage, noPageIn, type WallContext } from "./walls.ts";

export type PageContent = { outcome: "text"; page: PageText } | NoPage;

/** Pure. Without the addresses a redirect to the home page is not recognised. */
export function readHtml(html: string, context?: WallContext): PageContent {
  try {
    const { page, signals } = htmlToText(html);
    return noPageIn(page, signals, context) ?? { outcome: "text", page };
  } catch (error) {
    if (error instanceof TooDeepError) return { outcome: "unreadable", wall: "too_large" };
    throw error;
  }
}
