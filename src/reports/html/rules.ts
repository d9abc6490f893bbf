/** How the tokens of a report become HTML: code, tables, pictures and citations. */

import type { MarkdownIt, RendererRule, Token } from "markdown-it";
import { citationOf } from "../document/citation-tokens.ts";
import { pictureMark } from "../pictures/html.ts";
import type { CitedSource } from "./sources.ts";
import type { Allowance } from "./tokens.ts";

const MAX_LABEL_CHARACTERS = 120;

interface RenderingContext {
  sources: ReadonlyMap<number, CitedSource>;
  allowance: Allowance;
  /** Counted over all parts of a report. */
  tables: { count: number };
}

export function addRenderingRules(md: MarkdownIt, { sources, allowance, tables }: RenderingContext): void {
  const { escapeHtml } = md.utils;
  const code: RendererRule = (tokens, at) => {
    const { content = "", info = "" } = tokens[at] ?? {};
    const [language] = /^[\w+#.-]{1,20}(?=\s|$)/.exec(info.trim()) ?? [];
    const label = language === undefined ? "" : ` data-language="${escapeHtml(language)}"`;
    return `<div class="code"${label}><pre tabindex="0" dir="ltr"><code>${escapeHtml(content)}</code></pre></div>\n`;
  };
  const cell: RendererRule = (tokens, at) => {
    const [, alignment] = /^text-align:(center|right)$/.exec(String(tokens[at]?.attrGet("style") ?? "")) ?? [];
    const styled = alignment === undefined ? "" : ` class="${alignment}"`;
    return `<${tokens[at]?.tag ?? "td"}${styled}${directionOf(tokens[at])}>`;
  };
  Object.assign(md.renderer.rules, {
    fence: code,
    code_block: code,
    th_open: cell,
    td_open: cell,
    // Wide tables scroll, and keyboard users must be able to focus them.
    table_open: (tokens: Token[], at: number) => {
      tables.count += 1;
      const direction = directionOf(tokens[at]);
      return `<div class="table" role="region" aria-label="Table ${tables.count}" tabindex="0"${direction}><table>\n`;
    },
    table_close: () => "</table></div>\n",
    picture: (tokens: Token[], at: number) => pictureMark(Number(tokens[at]?.meta?.["n"])),
    cite_start: () => "",
    mark: (tokens: Token[], at: number) => escapeHtml(tokens[at]?.content ?? ""),
    citation: (tokens: Token[], at: number) => {
      const { numbers = [], sources: cited = [] } = citationOf(tokens[at]) ?? {};
      return cited.map((n, index) => (n === undefined ? `[${numbers[index]}]` : linkTo(n))).join("");
    },
  });
  function linkTo(n: number): string {
    const source = sources.get(n);
    const label = escapeHtml(`Source ${n}: ${source?.title.slice(0, MAX_LABEL_CHARACTERS).toWellFormed()}`);
    allowance.characters -= label.length + 100;
    if (source === undefined || allowance.characters < 0) return `[${n}]`;
    const id = `cite-${n}-${source.cited_at.length + 1}`;
    source.cited_at.push(id);
    return `<sup class="cite"><a id="${id}" href="#source-${source.n}" aria-label="${label}">[${n}]</a></sup>`;
  }
}

function directionOf(token: Token | undefined): string {
  const attributes = ["dir", "lang"].map((name) => [name, token?.attrGet(name)]);
  return attributes.map(([name, value]) => (value == null ? "" : ` ${name}="${value}"`)).join("");
}
