/** Decides which elements of a page are not shown. Hidden text must never support a claim. */

/** Never shown, or not part of the page's own statement: struck-out text was withdrawn. */
const HIDDEN_ELEMENTS = new Set(
  (
    "audio canvas datalist del desc embed head iframe map math-annotation metadata noembed noframes noscript object option " +
    "param rp rt s script select source strike style template textarea track video"
  ).split(" "),
);
/** Shown, but about the site and not about the page's subject. */
const NAVIGATION = new Set(["nav", "menu"]);

const HIDING_STYLE =
  /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0(?:\.0*)?\s*(?:;|!|$)|font-size\s*:\s*(?:0(?:\.\d*)?(?:px|pt|%)?|0?(?:\.0\d*)?(?:em|rem))\s*(?:;|!|$)|transform\s*:\s*scale\(\s*0\s*\)|content-visibility\s*:\s*hidden|clip\s*:\s*rect\(\s*0|clip-path\s*:\s*inset\(\s*(?:50|100)%|text-indent\s*:\s*-\d{3,}|(?:left|top|right)\s*:\s*-(?:\d{3,}(?:px|vw|vh|%)|\d{2,}r?em))/i;
/** Together they leave no room for text. */
const NO_HEIGHT = /(?:^|;)\s*(?:max-)?(?:height|width)\s*:\s*0(?:px)?\s*(?:;|!|$)/i;
const NO_OVERFLOW = /(?:^|;)\s*overflow\s*:\s*(?:hidden|clip)/i;
const HIDING_CLASS =
  /(?:^|\s)(?:hidden|is-hidden|d-none|hide|sr-only|screen-reader-text|screen-reader-only|visually-?hidden|visuallyhidden|invisible|u-hidden|element-invisible|a11y-hidden|offscreen|print-only|noprint-hidden)(?=\s|$)/i;

/** `hidden md:block` and `d-none d-md-block`: hidden on narrow screens only. */
const SHOWN_ON_WIDE_SCREENS =
  /(?:^|\s)(?:(?:sm|md|lg|xl|2xl):|d-(?:sm|md|lg|xl|xxl)-)(?:block|flex|grid|inline|table|contents|visible|not-sr-only)/i;

export type Attributes = Readonly<Record<string, string>>;

export interface HidingRules {
  classes: ReadonlySet<string>;
  ids: ReadonlySet<string>;
}

export function isHidden(name: string, attributes: Attributes, rules: HidingRules): boolean {
  if (name === "sup" && /\b(?:reference|footnote)/i.test(attributes["class"] ?? "")) return true;
  if (HIDDEN_ELEMENTS.has(name) || NAVIGATION.has(name) || attributes["role"] === "navigation") return true;
  if (attributes["hidden"] !== undefined || (name === "dialog" && attributes["open"] === undefined)) return true;
  const { style, class: classes, id } = attributes;
  if (style !== undefined && hides(style)) return true;
  if (id !== undefined && rules.ids.has(id)) return true;
  if (classes === undefined) return false;
  if (classes.length > MAX_STYLE_CHARACTERS) return true;
  if (HIDING_CLASS.test(classes)) return !SHOWN_ON_WIDE_SCREENS.test(classes);
  return rules.classes.size > 0 && classes.split(/\s+/).some((one) => rules.classes.has(one));
}

/** No real page has a longer style; what cannot be judged in time counts as hidden. */
const MAX_STYLE_CHARACTERS = 10_000;

function hides(style: string): boolean {
  if (style.length > MAX_STYLE_CHARACTERS) return true;
  const declarations = withoutComments(style);
  return HIDING_STYLE.test(declarations) || (NO_HEIGHT.test(declarations) && NO_OVERFLOW.test(declarations));
}

/** In linear time, also without an end. */
function withoutComments(css: string): string {
  const parts: string[] = [];
  let position = 0;
  for (let start = css.indexOf("/*"); start !== -1; start = css.indexOf("/*", position)) {
    parts.push(css.slice(position, start));
    const end = css.indexOf("*/", start + 2);
    position = end === -1 ? css.length : end + 2;
  }
  return parts.join("") + css.slice(position);
}
const MAX_RULES = 5_000;

/**
 * Classes and ids that a style sheet within the page hides by a selector of its own, with or without the name of an
 * element. Rules inside `@media` and other blocks hold only under conditions and are ignored, as are selectors of
 * several parts.
 */
export function hidingRules(text: string): { classes: string[]; ids: string[] } {
  const sheet = withoutComments(text);
  const classes: string[] = [];
  const ids: string[] = [];
  let depth = 0;
  let start = 0;
  let selector = "";
  for (let position = 0; position < sheet.length && classes.length + ids.length < MAX_RULES; position += 1) {
    const character = sheet[position];
    if (character === "{") {
      if (depth === 0) selector = sheet.slice(start, position);
      depth += 1;
      start = position + 1;
    } else if (character === "}") {
      if (depth === 1 && !selector.trimStart().startsWith("@") && hides(sheet.slice(start, position))) {
        for (const [, kind, name = ""] of selector.matchAll(/(?:^|,)\s*(?:[a-z]\w*)?([.#])([\w-]+)\s*(?=,|$)/gi)) {
          (kind === "." ? classes : ids).push(name);
        }
      }
      depth = Math.max(0, depth - 1);
      start = position + 1;
      if (depth === 0) selector = "";
    }
  }
  return { classes, ids };
}
