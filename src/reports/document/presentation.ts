/** Rewrites Markdown tokens before rendering: takes out the title, adds heading ids, and restricts links and images. */

import type { MarkdownIt, Token } from "markdown-it";
import { createCitation } from "./citation-tokens.ts";
import type { Allowance } from "./mathml.ts";
import { createToken } from "./parser.ts";
import { webUrl } from "../web-address.ts";

export interface ContentsEntry {
  id: string;
  title: string;
  /** 2 to 6, as in h2 to h6; the report's title is h1. */
  level: number;
}

const MAX_TITLE_CHARACTERS = 200;
const MAX_ID_CHARACTERS = 60;
/** A longer table of contents is of no use. */
const MAX_CONTENTS_ENTRIES = 1_000;

/** Removes and returns the title if the report starts with one. */
export function takeTitle(tokens: Token[]): string | undefined {
  const [opening, text] = tokens;
  if (opening?.type !== "heading_open" || opening.tag !== "h1") return undefined;
  tokens.splice(0, 3);
  return textOf(text) || undefined;
}

/** Adds the headings to `contents`, which the parts of a report share. */
export function addHeadingIds(
  tokens: readonly Token[],
  { contents, idFor }: { contents: ContentsEntry[]; idFor: (title: string) => string },
): void {
  for (const [at, token] of tokens.entries()) {
    if (token.type !== "heading_open" && token.type !== "heading_close") continue;
    const level = Math.max(2, Number(token.tag.slice(1)));
    token.tag = `h${level}`;
    if (token.type === "heading_close") continue;
    const title = textOf(tokens[at + 1]) || "Untitled";
    const id = idFor(title);
    token.attrs = [["id", id]];
    if (token.level === 0 && contents.length < MAX_CONTENTS_ENTRIES) contents.push({ id, title, level });
  }
}

/** Ids of ASCII letters, digits and hyphens; the same report always gets the same ids. */
export function createIds(): (title: string) => string {
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  return (title) => {
    const base = idOf(title);
    let name = base;
    for (let count = counts.get(base) ?? 1; taken.has(name); name = `${base}-${count}`) {
      counts.set(base, (count += 1));
    }
    taken.add(name);
    return name;
  };
}

function idOf(title: string): string {
  const words = title
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/\p{M}/gu, "")
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
  return `s-${words.join("-").slice(0, MAX_ID_CHARACTERS) || "section"}`;
}

function textOf(token: Token | undefined): string {
  const text = (token?.children ?? []).map(({ type, content }) => (/^soft|^hard/.test(type) ? " " : content)).join("");
  return text.replaceAll(/\s+/g, " ").trim().slice(0, MAX_TITLE_CHARACTERS).toWellFormed();
}

export interface LinkContext {
  allowance: Allowance;
  /** The headings that a link may lead to. */
  contents: readonly ContentsEntry[];
  numberOf: (url: string) => number | undefined;
  /** Receives each link to a source. */
  onLink: (link: { n: number; label: string }) => void;
}

export function rewriteLinks(tokens: readonly Token[], context: LinkContext): void {
  const { allowance, contents } = context;
  const ids = new Set(contents.map(({ id }) => id));
  for (const { type, attrs } of tokens) if (type === "heading_open") ids.add(String(attrs?.[0]?.[1]));
  const attributesFor = (href: string): [string, string][] | undefined => {
    const attributes = linkAttributes(href, (id) => ids.has(id));
    if (attributes === undefined) return undefined;
    allowance.characters -= href.length + 100;
    return allowance.characters < 0 ? undefined : attributes;
  };
  for (const token of tokens) {
    if (token.children === null) continue;
    const allowed = rewriteInline(token.children, attributesFor);
    token.children = limitDepth(citeLinks(allowed, context));
  }
}

/** Relative URLs are dropped because a report has no base URL. */
function linkAttributes(href: string, hasId: (id: string) => boolean): [string, string][] | undefined {
  const id = href.startsWith("#") ? idOf(href.slice(1)) : undefined;
  if (id !== undefined) return hasId(id) ? [["href", `#${id}`]] : undefined;
  const url = webUrl(href);
  if (url === undefined) return undefined;
  return [
    ["href", url],
    ["rel", "noopener noreferrer nofollow"],
    ["target", "_blank"],
    ["referrerpolicy", "no-referrer"],
  ];
}

type AttributesFor = (href: string) => [string, string][] | undefined;

/** A link that is not allowed becomes its text. An image becomes a link to it, or its text inside another link. */
function rewriteInline(tokens: readonly Token[], attributesFor: AttributesFor): Token[] {
  const result: Token[] = [];
  const write = (content: string): void => {
    const text = createToken("text");
    text.content = content;
    result.push(text);
  };
  const open = (attributes: [string, string][]): void => {
    const opening = createToken("link_open", "a", 1);
    opening.attrs = attributes;
    result.push(opening);
  };
  let isOpen = false;
  for (const [at, token] of tokens.entries()) {
    if (token.type === "link_open") {
      const href = String(token.attrGet("href"));
      const attributes = attributesFor(href);
      isOpen = attributes !== undefined;
      if (attributes !== undefined) open(attributes);
      // A link without text would be invisible and have no accessible name.
      if (tokens[at + 1]?.type === "link_close") write(href);
    } else if (token.type === "link_close") {
      if (isOpen) result.push(token);
      isOpen = false;
    } else if (token.type === "image") {
      const attributes = isOpen ? undefined : attributesFor(String(token.attrGet("src")));
      if (attributes !== undefined) open(attributes);
      write(`${textOf(token)} (image)`.trim());
      if (attributes !== undefined) result.push(createToken("link_close", "a", -1));
    } else result.push(token);
  }
  return result;
}

/** Deeper emphasis is dropped: HTML parsers get much slower with depth. */
const MAX_INLINE_DEPTH = 20;

function limitDepth(tokens: readonly Token[]): Token[] {
  let depth = 0;
  return tokens.filter(({ nesting }) => {
    if (nesting === 1) depth += 1;
    const isKept = nesting === 0 || depth <= MAX_INLINE_DEPTH;
    if (nesting === -1) depth -= 1;
    return isKept;
  });
}

/**
 * A link to a source is followed by its citation. A link alone in parentheses, as deep searches write them, becomes the
 * citation.
 */
function citeLinks(tokens: readonly Token[], { numberOf, onLink }: Pick<LinkContext, "numberOf" | "onLink">): Token[] {
  if (tokens.every(({ type }) => type !== "link_open")) return [...tokens];
  const result: Token[] = [];
  let opened: { at: number; n: number } | undefined;
  for (const [at, token] of tokens.entries()) {
    const n = token.type === "link_open" ? numberOf(String(token.attrGet("href"))) : undefined;
    if (n !== undefined) opened = { at: result.length, n };
    result.push(token);
    if (token.type !== "link_close" || opened === undefined) continue;
    const next = tokens[at + 1];
    const before = result[opened.at - 1];
    const label = result
      .slice(opened.at)
      .map(({ content }) => content)
      .join("");
    onLink({ n: opened.n, label });
    const isAlone =
      before?.type === "text" && before.content.endsWith("(") && next?.type === "text" && next.content.startsWith(")");
    if (isAlone) {
      before.content = before.content.slice(0, -1).trimEnd();
      next.content = next.content.slice(1);
    }
    // A number or an address says nothing that the citation does not.
    if (isAlone || /^\s*(?:\d{1,4}|https?:\/\/\S*)\s*$/.test(label)) result.length = opened.at;
    if (next?.type !== "citation") result.push(createCitation(opened.n));
    opened = undefined;
  }
  return result;
}

// Items of task lists: `- [x] done`, `- [ ] to do`.

const MARK = /^\[([ xX])\][ \t]+/;

/** To be called after inline parsing. */
export function markTasks(tokens: readonly Token[]): void {
  for (const [at, token] of tokens.entries()) {
    const inline = token.type === "list_item_open" ? tokens[at + 2] : undefined;
    const text = inline?.type === "inline" ? inline.children?.[0] : undefined;
    const mark = text?.type === "text" ? MARK.exec(text.content) : null;
    if (inline === undefined || text === undefined || mark === null) continue;
    text.content = text.content.slice(mark[0].length);
    token.attrSet("class", "task-item");
    const box = createToken("task", "span");
    box.meta = { isDone: mark[1] !== " " };
    inline.children?.unshift(box);
  }
}

export function addTaskRule(md: MarkdownIt): void {
  md.renderer.rules["task"] = (tokens, at) =>
    tokens[at]?.meta?.["isDone"] === true
      ? '<span class="task" role="img" aria-label="Done">☑</span> '
      : '<span class="task" role="img" aria-label="To do">☐</span> ';
}

// Marks blocks with their writing direction and, where the script identifies it, their language.

const RTL = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const LETTER = /\p{L}/u;
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** Scripts of one language, or of one that can be recognised by its letters. Latin and Cyrillic have too many. */
const SCRIPTS: readonly { script: RegExp; languageOf: (text: string) => string }[] = [
  { script: /\p{Script=Hebrew}/gu, languageOf: () => "he" },
  { script: /\p{Script=Arabic}/gu, languageOf: arabicLanguage },
  { script: /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/gu, languageOf: hanLanguage },
  { script: /\p{Script=Hangul}/gu, languageOf: () => "ko" },
  { script: /\p{Script=Thai}/gu, languageOf: () => "th" },
  { script: /\p{Script=Greek}/gu, languageOf: () => "el" },
];

function arabicLanguage(text: string): string {
  if (/[ٹڈڑے]/u.test(text)) return "ur";
  return /[پچژگ]/u.test(text) ? "fa" : "ar";
}

function hanLanguage(text: string): string {
  return KANA.test(text) ? "ja" : "zh";
}

/** Enough to identify a script. */
const MAX_JUDGED_CHARACTERS = 400;

/** Undefined unless half of the letters are of such a script. */
export function languageOf(text: string): string | undefined {
  const judged = text.slice(0, MAX_JUDGED_CHARACTERS);
  const letters = judged.match(/\p{L}/gu)?.length ?? 0;
  if (letters === 0) return undefined;
  for (const { script, languageOf: language } of SCRIPTS) {
    if ((judged.match(script)?.length ?? 0) * 2 > letters) return language(judged);
  }
  return undefined;
}

export const hasRightToLeft = (text: string): boolean => RTL.test(text);

/** As `dir="auto"` decides: by the first letter. */
export function isRightToLeft(text: string): boolean {
  const first = LETTER.exec(text)?.[0];
  return first !== undefined && RTL.test(first);
}

const LEAVES = ["paragraph_open", "heading_open", "th_open", "td_open"];
const CONTAINERS = ["bullet_list_open", "ordered_list_open", "blockquote_open", "table_open"];

/**
 * Containers get a computed direction: `dir="auto"` ignores text in descendants that have a direction of their own.
 * Texts without right-to-left letters need no direction.
 */
export function addDirections(tokens: readonly Token[], text: string): void {
  const isMixed = hasRightToLeft(text);
  // Han characters alone may be Chinese or Japanese; kana anywhere in the report decide.
  const hasKana = KANA.test(text);
  for (const [at, token] of tokens.entries()) {
    if (CONTAINERS.includes(token.type) && isMixed) {
      token.attrSet("dir", isRightToLeft(firstText(tokens, at)) ? "rtl" : "ltr");
    }
    const content = contentOf(tokens, at);
    if (content === undefined || content === "") continue;
    if (isMixed) token.attrSet("dir", "auto");
    const language = languageOf(content);
    if (language !== undefined) token.attrSet("lang", language === "zh" && hasKana ? "ja" : language);
  }
}

/** The text of a block that shows its direction; of a tight list item that of its hidden paragraph. */
function contentOf(tokens: readonly Token[], at: number): string | undefined {
  const token = tokens[at];
  if (token === undefined || token.hidden) return undefined;
  if (LEAVES.includes(token.type)) return tokens[at + 1]?.content;
  const isTight = token.type === "list_item_open" && tokens[at + 1]?.hidden === true;
  return isTight ? tokens[at + 2]?.content : undefined;
}

const MAX_SEARCHED_TOKENS = 50;

/** The first content with a letter inside a container. */
function firstText(tokens: readonly Token[], at: number): string {
  for (let next = at + 1; next < tokens.length && next < at + MAX_SEARCHED_TOKENS; next += 1) {
    const token = tokens[next];
    if (token?.type === "inline" && LETTER.test(token.content)) return token.content;
  }
  return "";
}
