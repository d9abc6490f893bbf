/** The day on which Google's redirect link to a page expires. */

import { isoTime } from "../platform/clock.ts";
import { isRedirect, type Source } from "./report.ts";

/** Google documents that its redirect links remain accessible for 30 days. */
const REDIRECT_DAYS = 30;
const DAY_MS = 86_400_000;

/** Undefined for an address of the page itself. */
export const linkExpiry = ({ url, resolved_url: resolved }: Pick<Source, "url" | "resolved_url">, at: number) =>
  resolved === undefined && isRedirect(url) ? isoTime(at + REDIRECT_DAYS * DAY_MS).slice(0, 10) : undefined;

/** What a file says beside the link of such a source: nothing, or that it is not the address of the page. */
export const redirectRemark = (source: Pick<Source, "url" | "resolved_url">, endedAt: number | undefined): string[] => {
  if (source.resolved_url !== undefined || !isRedirect(source.url)) return [];
  return ["redirect link", ...(endedAt === undefined ? [] : [`expires ${linkExpiry(source, endedAt)}`])];
};

/** Sources as answers list them: one that has only a redirect link, with its last day. `at` is when the run ended. */
export const withExpiry = (sources: readonly Source[], at: number): Source[] =>
  sources.map((source) => {
    const expires = linkExpiry(source, at);
    return expires === undefined ? source : { ...source, link_expires: expires };
  });
