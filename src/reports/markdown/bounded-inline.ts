/** Bounds the time that the Markdown parser spends on one paragraph. */

import type { MarkdownIt } from "markdown-it";

/** Longer paragraphs become plain text: parsing links in them could take minutes. */
const MAX_INLINE_CHARACTERS = 20_000;
/** For every bracket the parser scans the rest of the text: brackets times characters. */
const MAX_BRACKET_WORK = 3_000_000;

const isReadable = (text: string): boolean =>
  text.length <= MAX_INLINE_CHARACTERS && text.length * (text.split("[").length - 1) <= MAX_BRACKET_WORK;

export function boundInlineParsing(md: MarkdownIt): void {
  md.core.ruler.at("inline", (state) => {
    for (const { type, content, children } of state.tokens) {
      if (type !== "inline" || children === null) continue;
      if (isReadable(content)) md.inline.parse(content, md, state.env, children);
      else children.push(Object.assign(new state.Token("text", "", 0), { content }));
    }
  });
}
