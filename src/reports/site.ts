/** A web site that a run opened or cited, as lists show it. */

import { oneLine } from "../platform/clean-text.ts";
import { isRedirect, numberSources } from "./report.ts";
import { webUrl } from "./web-address.ts";

export interface Site {
  url: string;
  /** The title of the page, or its domain. */
  title: string;
  /** Empty if one of Google's redirect links hides it. */
  domain: string;
}

const MAX_TITLE_CHARACTERS = 200;

/** Undefined for what is no http or https address, or has no name. */
export function siteOf(page: { url: string; title: string }): Site | undefined {
  const url = webUrl(page.url);
  if (url === undefined) return undefined;
  const [source] = numberSources([{ url, title: cut(oneLine(page.title)) }]);
  if (source === undefined) return undefined;
  const { title, domain } = source;
  if (!isRedirect(`https://${domain}`)) return { url, title, domain };
  return title === domain ? undefined : { url, title, domain: "" };
}

/** By code points, because half a surrogate pair cannot be stored. */
const cut = (title: string): string =>
  title.length <= MAX_TITLE_CHARACTERS ? title : `${[...title].slice(0, MAX_TITLE_CHARACTERS).join("")}…`;

/** Equal for pages of one site. */
export const siteKey = ({ domain, title }: Site): string => domain || title;
