/** The sources of a report as CSL-JSON, from which the other bibliography formats are written. */

import { onOneLine } from "../report-facts.ts";
import { isoTime } from "../../platform/clock.ts";
import { linkExpiry } from "../link-expiry.ts";
import { isRedirect, type Source } from "../report.ts";
import { webUrl } from "../web-url.ts";

/** What a page said about itself when it was read. */
interface PageFacts {
  title?: string | undefined;
  date?: string | undefined;
  author?: string | undefined;
  checkedAt: number;
}

export interface CitedSources {
  taskId: string;
  sources: readonly Source[];
  /** By number of the source, for pages that were read. */
  pages?: ReadonlyMap<number, PageFacts> | undefined;
  /** When the run ended, or was last changed. */
  at: number;
}

interface CslDate {
  "date-parts": [number[]];
}

/** An item of the CSL-JSON schema. */
export interface CslItem {
  id: string;
  type: "webpage";
  title: string;
  "container-title"?: string;
  URL?: string;
  author?: { literal: string }[];
  issued?: CslDate;
  accessed: CslDate;
  note?: string;
}

export const cslItems = ({ taskId, sources, pages, at }: CitedSources): CslItem[] =>
  sources.map((source) => itemOf(source, { taskId, page: pages?.get(source.n), at }));

function itemOf(
  source: Source,
  { taskId, page, at }: { taskId: string; page: PageFacts | undefined; at: number },
): CslItem {
  const expires = linkExpiry(source, at);
  const url = expires === undefined ? webUrl(source.resolved_url ?? source.url) : undefined;
  const site = isRedirect(`https://${source.domain}`) || source.domain === "" ? undefined : source.domain;
  const author = onOneLine(page?.author ?? "");
  const issued = dateOf(page?.date);
  // Google often gives the domain as the title.
  const title = onOneLine(source.title === source.domain ? (page?.title ?? source.title) : source.title);
  return {
    id: `run${taskId.slice(0, 8)}-${source.n}`,
    type: "webpage",
    title: title === "" ? source.domain : title,
    ...(site === undefined ? {} : { "container-title": site }),
    ...(url === undefined ? {} : { URL: url }),
    ...(author === "" ? {} : { author: [{ literal: author }] }),
    ...(issued === undefined ? {} : { issued }),
    accessed: dateOf(isoTime(page?.checkedAt ?? at)) ?? { "date-parts": [[1970]] },
    ...(expires === undefined ? {} : { note: expiryNote(source.url, expires) }),
  };
}

/** The address is normalised: a line break in it would begin another field in RIS. */
const expiryNote = (url: string, expires: string): string =>
  `Google's link to this page expires on ${expires}: ${webUrl(url) ?? ""}`;

/** Only dates that begin with the year: in others day and month cannot be told apart. */
function dateOf(text: string | undefined): CslDate | undefined {
  const [, year, month, day] = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?!\d)/.exec(text?.trim() ?? "") ?? [];
  if (year === undefined) return undefined;
  const parts = [year, month, day].filter((part) => part !== undefined).map(Number);
  const [, m = 1, d = 1] = parts;
  return m >= 1 && m <= 12 && d >= 1 && d <= 31 ? { "date-parts": [parts] } : { "date-parts": [[Number(year)]] };
}

/** `2024-03-01`, as exact as it is known. */
export const isoDate = ({ "date-parts": [parts] }: CslDate): string =>
  parts.map((part, index) => String(part).padStart(index === 0 ? 4 : 2, "0")).join("-");
