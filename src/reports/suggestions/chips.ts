/** Reads Google's Search Suggestions: the markup that may be shown, and the queries it links to. */

import sanitizeHtml from "sanitize-html";
import { onOneLine } from "../report-facts.ts";

interface SearchSuggestion {
  query: string;
  /** A search on Google. */
  url: string;
}

export interface ReadSuggestions {
  /** Still only to be shown in a sandbox: it brings styles of its own. */
  html: string;
  /** Each query once. */
  chips: SearchSuggestion[];
}

export function readSuggestions(received: readonly string[]): ReadSuggestions {
  const chips = new Map<string, SearchSuggestion>();
  const html = received.map((block) => allowedMarkup(block, (chip) => chips.set(chip.query, chip))).join("\n");
  return { html: html.replaceAll(STYLE, withoutLoading), chips: [...chips.values()] };
}

/** As a browser reads it: everything up to the closing tag, or to the end. */
const STYLE = /<style>(.*?)(?:<\/style>|$)/gis;
/** Google's styles load nothing, escape nothing and hold no markup, which inside of an SVG would be read as such. */
const CAN_LOAD = /[\\<]|url|@import|image-set|src\s*\(/i;

const withoutLoading = (element: string, css: string): string => (CAN_LOAD.test(css) ? "<style></style>" : element);

/** What Google's suggestions consist of. Nothing among it loads anything or acts by itself. */
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
    // Its styles are Google's own and must stay as they are; the sandbox keeps them to itself and loads nothing.
    allowVulnerableTags: true,
    allowedSchemes: ["https"],
    allowProtocolRelative: false,
    // SVG attributes have capitals.
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

/** A suggestion leads to Google; whatever leads elsewhere is none. */
function googleLink(href: string | undefined): { href: string } | Record<string, never> {
  if (href === undefined || !URL.canParse(href)) return {};
  const { protocol, hostname } = new URL(href);
  const isGoogle = hostname === "google.com" || hostname.endsWith(".google.com");
  return protocol === "https:" && isGoogle ? { href } : {};
}

const LONGEST_LINK = 120;

/**
 * For answers that models read. Google's own links have about 400 characters; a search for the same query leads to the
 * same page, and where its address can be read it is not said twice.
 */
export function suggestionLink({ query, url }: SearchSuggestion): string {
  const search = `https://www.google.com/search?q=${encodeURIComponent(query).replaceAll("%20", "+")}`;
  const address = (url.length <= LONGEST_LINK ? url : search).replaceAll("(", "%28").replaceAll(")", "%29");
  if (address === search && /^[\w ,.'-]+$/.test(query)) return address;
  return `[${query.replaceAll(/[[\]\\`]/g, " ")}](${address})`;
}
