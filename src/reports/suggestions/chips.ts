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
  const blocks = received.map(
    (block) => stylesOf(block) + allowedMarkup(block.replaceAll(STYLE, ""), (chip) => chips.set(chip.query, chip)),
  );
  return { html: blocks.join("\n"), chips: [...chips.values()] };
}

/**
 * Taken out before the rest is sanitized: inside an SVG, parsers disagree about where a style ends, and what the
 * sanitizer takes for CSS may be markup in a browser.
 */
const STYLE = /<style\b[^<>]*>(.*?)(?:<\/style\b[^<>]*>|$)/gis;
/** Google's styles contain none of this: nothing that loads, no escapes, and no markup. */
const UNSAFE_CSS = /[\\<]|url|@import|image-set|src\s*\(/i;

/** Google's terms require its styles unchanged; a sandbox or a shadow root confines them. */
const stylesOf = (block: string): string =>
  [...block.matchAll(STYLE)]
    .map(([, css = ""]) => css)
    .filter((css) => !UNSAFE_CSS.test(css))
    .map((css) => `<style>${css}</style>`)
    .join("");

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

/** A `url()` could load something. */
const COLOUR = /^(?:#[0-9a-f]{3,8}|[a-z]{1,20})$/i;

function allowedMarkup(block: string, onChip: (chip: SearchSuggestion) => void): string {
  return sanitizeHtml(block, {
    allowedTags: Object.keys(ALLOWED_ATTRIBUTES),
    allowedAttributes: ALLOWED_ATTRIBUTES,
    allowedSchemes: ["https"],
    allowProtocolRelative: false,
    // SVG attributes are case-sensitive.
    parser: { lowerCaseAttributeNames: false },
    transformTags: {
      "*": (tagName, { fill = "", ...attribs }) => ({
        tagName,
        attribs: COLOUR.test(fill) ? { ...attribs, fill } : attribs,
      }),
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
