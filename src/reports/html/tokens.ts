/** Between reading and writing: the title is taken out, headings get names, and links and images what they may do. */

import type { Token } from "markdown-it";
import { webAddress } from "../web-address.ts";

export interface ContentsEntry {
  id: string;
  title: string;
  /** As in h2 to h6: the title of the report is above them all. */
  level: number;
}

/** How much more may be added. */
export interface Allowance {
  characters: number;
}

const LONGEST_TITLE = 200;
const LONGEST_NAME = 60;
/** A longer list guides nobody. */
const MOST_CONTENTS = 1_000;

/** A report that opens with a title of its own keeps it; it is no longer part of the text then. */
export function takeTitle(tokens: Token[]): string | undefined {
  const [opening, text] = tokens;
  if (opening?.type !== "heading_open" || opening.tag !== "h1") return undefined;
  tokens.splice(0, 3);
  return textOf(text) || undefined;
}

export function nameHeadings(tokens: readonly Token[]): ContentsEntry[] {
  const contents: ContentsEntry[] = [];
  const nameFor = createNames();
  for (const [at, token] of tokens.entries()) {
    if (token.type !== "heading_open" && token.type !== "heading_close") continue;
    const level = Math.max(2, Number(token.tag.slice(1)));
    token.tag = `h${level}`;
    if (token.type === "heading_close") continue;
    const title = textOf(tokens[at + 1]) || "Untitled";
    const id = nameFor(title);
    token.attrs = [["id", id]];
    if (token.level === 0 && contents.length < MOST_CONTENTS) contents.push({ id, title, level });
  }
  return contents;
}

/** A name of letters that need no escaping anywhere; the same report gives the same ones. */
function createNames(): (title: string) => string {
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  return (title) => {
    const base = nameOf(title);
    let name = base;
    for (let count = counts.get(base) ?? 1; taken.has(name); name = `${base}-${count}`) {
      counts.set(base, (count += 1));
    }
    taken.add(name);
    return name;
  };
}

function nameOf(title: string): string {
  const words = title
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/\p{M}/gu, "")
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
  return `s-${words.join("-").slice(0, LONGEST_NAME) || "section"}`;
}

function textOf(token: Token | undefined): string {
  const text = (token?.children ?? []).map(({ type, content }) => (/^soft|^hard/.test(type) ? " " : content)).join("");
  return text.replaceAll(/\s+/g, " ").trim().slice(0, LONGEST_TITLE).toWellFormed();
}

/** The reader's own way to make one. */
export type MakeToken = (type: string, tag: string, nesting: -1 | 0 | 1) => Token;

export function rewriteLinks(tokens: readonly Token[], allowance: Allowance, make: MakeToken): void {
  const names = new Set(tokens.flatMap(({ type, attrs }) => (type === "heading_open" ? [attrs?.[0]?.[1]] : [])));
  const attributesFor = (href: string): [string, string][] | undefined => {
    const attributes = linkAttributes(href, (name) => names.has(name));
    if (attributes === undefined) return undefined;
    allowance.characters -= href.length + 100;
    return allowance.characters < 0 ? undefined : attributes;
  };
  for (const token of tokens) {
    if (token.children !== null) token.children = shallow(rewritten(token.children, attributesFor, make));
  }
}

/** Relative addresses lead nowhere: a report has no place of its own. */
function linkAttributes(href: string, isNamed: (name: string) => boolean): [string, string][] | undefined {
  const name = href.startsWith("#") ? nameOf(href.slice(1)) : undefined;
  if (name !== undefined) return isNamed(name) ? [["href", `#${name}`]] : undefined;
  const address = webAddress(href);
  if (address === undefined) return undefined;
  return [
    ["href", address],
    ["rel", "noopener noreferrer nofollow"],
    ["target", "_blank"],
    ["referrerpolicy", "no-referrer"],
  ];
}

type AttributesFor = (href: string) => [string, string][] | undefined;

/** A link that may not be one leaves its text; an image is a link to it, and within a link its text alone. */
function rewritten(tokens: readonly Token[], attributesFor: AttributesFor, make: MakeToken): Token[] {
  const result: Token[] = [];
  const write = (content: string): void => {
    const text = make("text", "", 0);
    text.content = content;
    result.push(text);
  };
  const open = (attributes: [string, string][]): void => {
    const opening = make("link_open", "a", 1);
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
      // Without a text nobody could see it, or hear what it is.
      if (tokens[at + 1]?.type === "link_close") write(href);
    } else if (token.type === "link_close") {
      if (isOpen) result.push(token);
      isOpen = false;
    } else if (token.type === "image") {
      const attributes = isOpen ? undefined : attributesFor(String(token.attrGet("src")));
      if (attributes !== undefined) open(attributes);
      write(`${textOf(token)} (image)`.trim());
      if (attributes !== undefined) result.push(make("link_close", "a", -1));
    } else result.push(token);
  }
  return result;
}

/** Emphasis deeper than anybody sees is left out: what reads HTML takes far longer the deeper it is. */
const DEEPEST = 20;

function shallow(tokens: readonly Token[]): Token[] {
  let depth = 0;
  return tokens.filter(({ nesting }) => {
    if (nesting === 1) depth += 1;
    const isKept = nesting === 0 || depth <= DEEPEST;
    if (nesting === -1) depth -= 1;
    return isKept;
  });
}
