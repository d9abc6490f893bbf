/** Marks blocks with their writing direction and, where the script identifies it, their language. */

import type { Token } from "markdown-it";

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
function isRightToLeft(text: string): boolean {
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
