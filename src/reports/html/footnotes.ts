/** Collects the footnotes of a report at its end. */

import type { MarkdownIt, Token } from "markdown-it";
import type { DocumentPart } from "../document/document.ts";

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
