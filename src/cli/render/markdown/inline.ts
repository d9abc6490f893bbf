/** Converts the inline tokens of Markdown to words with styles. */

import type { Token } from "markdown-it";
import { citationOf } from "../../../reports/document/citation-tokens.ts";
import { formulaOf } from "../../../reports/document/formulas.ts";
import { webUrl } from "../../../reports/web-address.ts";
import type { Style } from "../paint.ts";
import { createWords, type Word } from "../words.ts";

export interface InlineContext {
  sourceUrl: (n: number) => string | undefined;
  /** URLs follow the text of their links, because links cannot be clicked. */
  writesUrls: boolean;
}

const STYLES: Readonly<Record<string, Style>> = { em_open: "emphasis", strong_open: "strong", s_open: "struck" };
const CLOSING: Readonly<Record<string, Style>> = { em_close: "emphasis", strong_close: "strong", s_close: "struck" };

/** One list of words for each line that the text itself breaks. */
export function inlineWords(tokens: readonly Token[], context: InlineContext, base: readonly Style[] = []): Word[][] {
  const lines = [createWords()];
  const current = () => lines.at(-1) ?? createWords();
  const styles = [...base];
  let link: { url: string | undefined; text: string } | undefined;
  const write = (text: string, more: readonly Style[] = []): void => {
    if (link !== undefined) link.text += text;
    const { url } = link ?? {};
    current().add({ text, styles: [...styles, ...more, ...(url === undefined ? [] : LINK)], url });
  };
  const cite = (token: Token): void => {
    const { numbers = [], sources = [] } = citationOf(token) ?? {};
    for (const [index, n] of sources.entries()) {
      if (n === undefined) write(`[${numbers[index]}]`);
      else current().add({ text: `[${n}]`, styles: [...styles, "faint"], url: context.sourceUrl(n) });
    }
  };
  for (const token of tokens) {
    const opened = STYLES[token.type];
    const closed = CLOSING[token.type];
    const written = TEXTS[token.type]?.(token);
    if (opened !== undefined) styles.push(opened);
    else if (closed !== undefined) styles.splice(styles.lastIndexOf(closed), 1);
    else if (written !== undefined) write(written);
    else if (token.type === "code_inline") write(token.content, ["accent"]);
    else if (token.type === "softbreak") current().space();
    else if (token.type === "hardbreak") lines.push(createWords());
    else if (token.type === "citation") cite(token);
    else if (token.type === "link_open") link = { url: webUrl(String(token.attrGet("href"))), text: "" };
    else if (token.type === "link_close") {
      const { url, text } = link ?? {};
      link = undefined;
      if (context.writesUrls && url !== undefined && text !== url) write(` (${url})`, ["faint"]);
    }
  }
  return lines.map(({ words }) => words);
}

const LINK: readonly Style[] = ["underline"];

/** Pictures and formulas cannot be shown in a terminal. */
const TEXTS: Readonly<Record<string, (token: Token) => string>> = {
  text: ({ content }) => content,
  mark: ({ content }) => content,
  image: ({ content }) => `[${content.trim() === "" ? "picture" : content.trim()}]`,
  formula: (token) => formulaOf(token)?.source ?? "",
  footnote: ({ meta }) => `[^${String(meta?.["label"])}]`,
};
