/** Items of task lists: `- [x] done`, `- [ ] to do`. */

import type { MarkdownIt, Token } from "markdown-it";
import { createToken } from "../document/parser.ts";

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
