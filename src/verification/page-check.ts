/** The outcome of reading a cited page, as it is stored and shown. */

import { oneLine } from "../platform/clean-text.ts";
import type { PageReading, Receipt, Wall } from "../pages/page.ts";
import { shinglesOf } from "./copies.ts";

/** Link health and facts of a page. */
export interface PageCheck extends Receipt {
  /** Number of the source. */
  source: number;
  outcome: PageReading["outcome"];
  /** Why there is no text. */
  reason?: string | undefined;
  /** A judge refused claims of the page for a reason that lasts, and is not offered them again soon. */
  isRefused: boolean;
  /** As the page states them. */
  date?: string | undefined;
  author?: string | undefined;
  shingles?: number[] | undefined;
}

/** Its site answered: with the page, a wall in front of it, or that it is gone. */
export const isReached = ({ outcome }: Pick<PageCheck, "outcome">): boolean =>
  outcome !== "unreachable" && outcome !== "not_checked";

/** The wall in front of a page, as the end of a sentence about it. */
const WALLS: Record<Wall, string> = {
  login: "The page asks for a login.",
  paywall: "The page is behind a paywall.",
  captcha: "The page asks whether its reader is a human.",
  consent: "The page shows only a consent dialog.",
  script_only: "The page has no text without running its scripts.",
  format: "The page is in a format that is not read.",
  too_large: "The page is too large.",
  robots: "The site does not want programs to read this page (robots.txt).",
};

export function checkOf(source: number, reading: PageReading): PageCheck {
  const { url, finalUrl, httpStatus, checkedAt, hash, outcome } = reading;
  const receipt = { source, url, finalUrl, httpStatus, checkedAt, hash, outcome, isRefused: false };
  if (reading.outcome !== "text") return { ...receipt, reason: whyUnread(reading) };
  const { date = "", author = "", blocks } = reading.page;
  return {
    ...receipt,
    date: oneLine(date) || undefined,
    author: oneLine(author) || undefined,
    shingles: shinglesOf(blocks),
  };
}

/** Why there is no text, as a sentence. */
export const whyUnread = (reading: Exclude<PageReading, { outcome: "text" }>): string =>
  reading.outcome === "unreadable" ? WALLS[reading.wall] : reading.reason;
