/** How the tokens of a report become HTML: code, tables, pictures and citations. */

import type { MarkdownIt, RendererRule, Token } from "markdown-it";
import { citationOf } from "../document/citation-tokens.ts";
import type { DocumentPart } from "../document/document.ts";
import { formulaOf } from "../document/formulas.ts";
import { type Allowance, mathml } from "../document/mathml.ts";
import type { CitedSource } from "../document/sources.ts";
import { pictureMark } from "../pictures/html.ts";

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

// Collects the footnotes of a report at its end.

interface Note {
  number: number;
  /** How often the text refers to it. */
  references: number;
  html: string;
}

/** By label, in the order of their numbers; shared by the parts of a report. */
export type Footnotes = Map<string, Note>;

function noteOf(notes: Footnotes, label: string): Note {
  const note = notes.get(label) ?? { number: notes.size + 1, references: 0, html: "" };
  notes.set(label, note);
  return note;
}

export function addFootnotes(md: MarkdownIt, footnotes: Footnotes): void {
  md.renderer.rules["footnote"] = (tokens, at) => {
    const note = noteOf(footnotes, String(tokens[at]?.meta?.["label"]));
    note.references += 1;
    const { number, references } = note;
    return `<sup class="note"><a id="fnref-${number}-${references}" href="#fn-${number}" aria-label="Footnote ${number}">${number}</a></sup>`;
  };
}

/** Renders the definitions and returns the other tokens. The first definition of a label counts. */
export function takeNotes(
  tokens: readonly Token[],
  { md, env }: Pick<DocumentPart, "md" | "env">,
  footnotes: Footnotes,
): Token[] {
  const kept: Token[] = [];
  const taken: { label: string; inline: Token | undefined }[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token?.type === "footnote_open") {
      taken.push({ label: String(token.meta?.["label"]), inline: tokens[at + 1] });
      at += 2;
    } else if (token !== undefined) kept.push(token);
  }
  // The numbers follow the references, so references are counted before the notes are rendered.
  for (const token of kept)
    for (const child of token.children ?? [])
      if (child.type === "footnote") noteOf(footnotes, String(child.meta?.["label"]));
  for (const { label, inline } of taken) {
    const note = noteOf(footnotes, label);
    if (note.html === "" && inline !== undefined) note.html = md.renderer.render([inline], md.options, env);
  }
  return kept;
}

/** HTML that is not sanitized yet. */
export function footnotesHtml(notes: Footnotes): string {
  if (notes.size === 0) return "";
  const items = [...notes.values()].map(({ number, references, html }) => {
    const back = Array.from(
      { length: Math.min(references, 20) },
      (_, index) => `<a href="#fnref-${number}-${index + 1}" aria-label="Back to reference ${index + 1}">↩</a>`,
    );
    return `<li id="fn-${number}">${html} ${back.join(" ")}</li>\n`;
  });
  return `<section class="footnotes" aria-label="Footnotes">\n<ol>\n${items.join("")}</ol>\n</section>\n`;
}

// Formulas in a report, which browsers render without scripts or fonts of their own.

export function addMaths(md: MarkdownIt, budget: Allowance): void {
  const { escapeHtml } = md.utils;
  const asCode = (source: string): string => `<code dir="ltr">${escapeHtml(source)}</code>`;
  Object.assign(md.renderer.rules, {
    formula: (tokens: Token[], at: number): string => {
      const formula = formulaOf(tokens[at]);
      return formula === undefined ? "" : (mathml(formula, budget) ?? asCode(formula.source));
    },
    formula_block: (tokens: Token[], at: number): string => {
      const formula = formulaOf(tokens[at]);
      if (formula === undefined) return "";
      const shown = mathml(formula, budget);
      return `<div class="maths" dir="ltr" tabindex="0">${shown ?? asCode(formula.source)}</div>\n`;
    },
  });
}
