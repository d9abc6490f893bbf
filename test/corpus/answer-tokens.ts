/**
 * Represents an answer as a list of tokens, so that a fault with a known effect can be inserted between or into them.
 */

import type { ExpectedAnswer } from "./corpus-case.ts";

export interface Token {
  kind: "open" | "close" | "comma" | "colon" | "key" | "string" | "literal" | "comment";
  /** The written text; for keys and strings, the unescaped content. */
  text: string;
  /** The property that this token names or is the value of. */
  field: string;
  /** White space before the token. */
  before: string;
}

/** How strings are written; JSON by default. */
export interface Spelling {
  delimiters: readonly [string, string];
  bareKeys: boolean;
  rawLineBreaks: boolean;
  rawQuotes: boolean;
  escapedApostrophes: boolean;
}

export const JSON_SPELLING: Spelling = {
  delimiters: ['"', '"'],
  bareKeys: false,
  rawLineBreaks: false,
  rawQuotes: false,
  escapedApostrophes: false,
};

export interface Layout {
  pretty: boolean;
  order: readonly ("success" | "verified" | "report" | "metadata")[];
}

export function writeTokens(answer: ExpectedAnswer, layout: Layout): Token[] {
  const tokens: Token[] = [];
  const line = (depth: number): string => (layout.pretty ? `\n${"  ".repeat(depth)}` : "");
  const put = (kind: Token["kind"], text: string, field: string, before = ""): void => {
    tokens.push({ kind, text, field, before });
  };
  const putKey = (field: string, depth: number, isFirst: boolean): void => {
    if (!isFirst) put("comma", ",", "");
    put("key", field, field, line(depth) || (isFirst ? "" : " "));
    put("colon", ":", field);
  };
  const putList = (field: "sources_visited" | "search_queries_used"): void => {
    put("open", "[", field, " ");
    answer[field].forEach((item, index) => {
      if (index > 0) put("comma", ",", field);
      put("string", item, field, line(3) || (index > 0 ? " " : ""));
    });
    put("close", "]", field, line(2));
  };

  put("open", "{", "");
  const fields = layout.order.filter((field) => field === "metadata" || answer[field] !== undefined);
  fields.forEach((field, index) => {
    putKey(field, 1, index === 0);
    if (field === "report") put("string", answer.report ?? "", field, " ");
    else if (field !== "metadata") put("literal", String(answer[field]), field, " ");
    else {
      put("open", "{", field, " ");
      putKey("sources_visited", 2, true);
      putList("sources_visited");
      putKey("search_queries_used", 2, false);
      putList("search_queries_used");
      put("close", "}", field, line(1));
    }
  });
  put("close", "}", "", line(0));
  return tokens;
}

export interface WrittenToken extends Token {
  start: number;
  end: number;
}

export function joinTokens(tokens: readonly Token[], spelling: Spelling): { text: string; written: WrittenToken[] } {
  let text = "";
  const written = tokens.map((token) => {
    const start = text.length + token.before.length;
    text += token.before + spell(token, spelling);
    return { ...token, start, end: text.length };
  });
  return { text, written };
}

function spell(token: Token, spelling: Spelling): string {
  if (token.kind === "key" && spelling.bareKeys) return token.text;
  if (token.kind !== "key" && token.kind !== "string") return token.text;
  const [open, close] = spelling.delimiters;
  let inside = [...token.text].map((character) => spellCharacter(character, token, spelling)).join("");
  if (open === "'") inside = inside.replaceAll('\\"', '"').replaceAll("'", "\\'");
  return open + inside + close;
}

function spellCharacter(character: string, token: Token, spelling: Spelling): string {
  const isReport = token.field === "report";
  if ((character === "\n" || character === "\t") && spelling.rawLineBreaks && isReport) return character;
  if (character === '"' && spelling.rawQuotes && isReport) return character;
  if (character === "'" && spelling.escapedApostrophes) return "\\'";
  return JSON.stringify(character).slice(1, -1);
}
