/** Forms of a text in which two spellings of the same words are equal. */

/** Numbers in brackets and the like, as in an encyclopedia. */
const MARKS = /\[(?:\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,9}|[a-z]|(?:note|n|nb) \d{1,3}|citation needed)\]/giu;

/** As on the page, without marks of citations, invisible characters and the breaks of lines. */
export const readable = (text: string): string =>
  text
    .replaceAll(/[\u00AD\u200B\u2060\uFEFF]/gu, "")
    .replaceAll(/(?<=\p{L})-[^\S\n]{0,9}\n\s{0,9}(?=\p{Ll})/gu, "")
    .replaceAll(MARKS, "")
    .replaceAll(/\s+/gu, " ")
    .trim();

/** Widths, quotation marks, dashes and case in one form. */
export const comparable = (text: string): string =>
  readable(text)
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[\u2018\u2019\u201B\u02BC\u2032]/gu, "'")
    .replaceAll(/[\u201C\u201D\u201E\u201F\u00AB\u00BB]/gu, '"')
    .replaceAll(/[\u2010-\u2015\u2212]/gu, "-");

const WORD =
  /\d+(?:[.,]\d+)*|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{M}])+/gu;

/** Words and numbers in lower case; scripts without spaces count by character. */
export const wordsIn = (text: string): string[] => text.normalize("NFKC").toLowerCase().match(WORD) ?? [];
