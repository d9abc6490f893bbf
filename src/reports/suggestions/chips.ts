/** Parses Google's Search Suggestions into the markup that may be shown and the queries it links to. */

import sanitizeHtml from "sanitize-html";
import { onOneLine } from "../report-facts.ts";

interface SearchSuggestion {
  query: string;
  /** A Google search. */
  url: string;
}

export interface ReadSuggestions {
  /** Still has its own styles, so it is shown in a frame or a shadow root only. */
  html: string;
  /** Without duplicate queries. */
  chips: SearchSuggestion[];
}

export function readSuggestions(received: readonly string[]): ReadSuggestions {
  const chips = new Map<string, SearchSuggestion>();
  const html = received.map((block) => allowedMarkup(block, (chip) => chips.set(chip.query, chip))).join("\n");
  return { html: html.replaceAll(STYLE, withoutLoading), chips: [...chips.values()] };
}

/** As browsers parse it: everything up to the closing tag or the end. */
const STYLE = /<style>(.*?)(?:<\/style>|$)/gis;
/**
 * Google's styles contain none of this: nothing that loads, no escapes, and no markup, which would be parsed inside an
 * SVG.
 */
const CAN_LOAD = /[\\<]|url|@import|image-set|src\s*\(/i;

const withoutLoading = (element: string, css: string): string => (CAN_LOAD.test(css) ? "<style></style>" : element);

/** The tags and attributes of Google's suggestions; none of them loads or runs anything. */
const ALLOWED_ATTRIBUTES = {
  a: ["class", "href"],
  div: ["class"],
  span: ["class"],
  svg: ["class", "width", "height", "viewBox", "fill", "xmlns"],
  g: ["class", "fill"],
  path: ["d", "fill", "fill-rule", "clip-rule", "opacity"],
  circle: ["cx", "cy", "r", "fill"],
  rect: ["x", "y", "width", "height", "rx", "fill"],
};

function allowedMarkup(block: string, onChip: (chip: SearchSuggestion) => void): string {
  return sanitizeHtml(block, {
    allowedTags: ["style", ...Object.keys(ALLOWED_ATTRIBUTES)],
    allowedAttributes: ALLOWED_ATTRIBUTES,
    // Google's terms require its styles unchanged; the sandbox confines them and loads nothing.
    allowVulnerableTags: true,
    allowedSchemes: ["https"],
    allowProtocolRelative: false,
    // SVG attributes are case-sensitive.
    parser: { lowerCaseAttributeNames: false },
    transformTags: {
      a: (tagName, { href, ...attribs }) => ({ tagName, attribs: { ...attribs, ...googleLink(href) } }),
    },
    exclusiveFilter: ({ tag, attribs, text }) => {
      const query = onOneLine(text);
      if (tag === "a" && query !== "" && attribs["href"] !== undefined) onChip({ query, url: attribs["href"] });
      return false;
    },
  });
}

/** Suggestions link to Google; other links are removed. */
function googleLink(href: string | undefined): { href: string } | Record<string, never> {
  if (href === undefined || !URL.canParse(href)) return {};
  const { protocol, hostname } = new URL(href);
  const isGoogle = hostname === "google.com" || hostname.endsWith(".google.com");
  return protocol === "https:" && isGoogle ? { href } : {};
}

const MAX_LINK_CHARACTERS = 120;

/**
 * For results that models read. Google's own links have about 400 characters; a search for the same query leads to the
 * same page. A readable URL is not repeated as a label.
 */
export function suggestionLink({ query, url }: SearchSuggestion): string {
  const search = `https://www.google.com/search?q=${encodeURIComponent(query).replaceAll("%20", "+")}`;
  const target = (url.length <= MAX_LINK_CHARACTERS ? url : search).replaceAll("(", "%28").replaceAll(")", "%29");
  if (target === search && /^[\w ,.'-]+$/.test(query)) return target;
  return `[${query.replaceAll(/[[\]\\`]/g, " ")}](${target})`;
}
