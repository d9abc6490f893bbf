/**
 * Allow-list for report HTML, applied after the Markdown renderer: only these tags, and only ids, classes and URLs of
 * the forms that this program generates.
 */

import sanitizeHtml from "sanitize-html";
import { MATHML_ATTRIBUTES, MATHML_TAGS } from "./allowed-mathml.ts";

const HEADINGS = ["h2", "h3", "h4", "h5", "h6"];

const TEXT = ["p", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "s", "hr", "br", "a", "sup", "span"];
/** Only placeholders: pictures are inserted after sanitizing, and no image passes the allow-list. */
const PICTURES = ["figure"];
const TABLES = ["div", "table", "thead", "tbody", "tr", "th", "td"];
const FOOTNOTES = ["section"];

export const ALLOWED_TAGS: readonly string[] = [
  ...HEADINGS,
  ...TEXT,
  ...TABLES,
  ...PICTURES,
  ...FOOTNOTES,
  ...MATHML_TAGS,
];

const ID = /^(?:s-[a-z0-9-]+|cite-\d+-\d+|fnref-\d+-\d+)$/;
const LOCAL_LINK = /^#(?:source-\d+|s-[a-z0-9-]+|fn-\d+|fnref-\d+-\d+)$/;

const DIRECTION = { dir: /^(?:auto|ltr|rtl)$/, lang: /^[a-z]{2}$/ };

/** Tag → attribute → pattern of its allowed values. */
export const ALLOWED_ATTRIBUTES: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  a: {
    id: ID,
    href: new RegExp(`${LOCAL_LINK.source}|^https?://`, "i"),
    rel: /^noopener noreferrer nofollow$/,
    target: /^_blank$/,
    referrerpolicy: /^no-referrer$/,
    "aria-label": /^(?:Source|Footnote|Back to reference) \d+/,
  },
  sup: { class: /^(?:cite|note)$/ },
  span: { class: /^task$/, role: /^img$/, "aria-label": /^(?:Done|To do)$/ },
  div: {
    ...DIRECTION,
    class: /^(?:table|code|maths)$/,
    role: /^region$/,
    "aria-label": /^Table \d+$/,
    tabindex: /^0$/,
    "data-language": /^[\w+#.-]{1,20}$/,
  },
  section: { class: /^footnotes$/, "aria-label": /^Footnotes$/ },
  p: DIRECTION,
  blockquote: DIRECTION,
  ul: DIRECTION,
  th: { ...DIRECTION, class: /^(?:center|right)$/ },
  td: { ...DIRECTION, class: /^(?:center|right)$/ },
  ol: { ...DIRECTION, start: /^\d{1,9}$/ },
  li: { ...DIRECTION, class: /^task-item$/, id: /^fn-\d+$/ },
  pre: { dir: DIRECTION.dir, tabindex: /^0$/ },
  code: { dir: DIRECTION.dir },
  figure: { id: /^picture-\d+$/ },
  ...Object.fromEntries(HEADINGS.map((heading) => [heading, { ...DIRECTION, id: ID }])),
  ...MATHML_ATTRIBUTES,
};

const OPTIONS: sanitizeHtml.IOptions = {
  allowedTags: [...ALLOWED_TAGS],
  allowedAttributes: Object.fromEntries(
    Object.entries(ALLOWED_ATTRIBUTES).map(([tag, attributes]) => [tag, Object.keys(attributes)]),
  ),
  allowedSchemes: ["http", "https"],
  allowProtocolRelative: false,
  disallowedTagsMode: "discard",
  transformTags: { "*": keepAllowedAttributes },
};

export const allowedHtml = (html: string): string => sanitizeHtml(html, OPTIONS);

function keepAllowedAttributes(tagName: string, attributes: sanitizeHtml.Attributes): sanitizeHtml.Tag {
  const allowed = Object.hasOwn(ALLOWED_ATTRIBUTES, tagName) ? ALLOWED_ATTRIBUTES[tagName] : undefined;
  const attribs: sanitizeHtml.Attributes = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (allowed !== undefined && Object.hasOwn(allowed, name) && allowed[name]?.test(value) === true) {
      attribs[name] = value;
    }
  }
  return { tagName, attribs };
}
