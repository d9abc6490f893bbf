/**
 * Reads a damaged answer by its known keys. A general repair has to guess where a string with stray quotes ends; here
 * the next known key marks the end, and an answer that ends inside its report is recognised. Backslashes of LaTeX, which
 * models do not escape, are doubled before.
 */

import { parseJson } from "../platform/parse-json.ts";
import { isRecord } from "../platform/is-record.ts";

interface AnchoredAnswer {
  /** The readable fields, in the form of an undamaged answer. */
  value: Record<string, unknown>;
  /** The report has no end, because the model's output was truncated. */
  cut: boolean;
}

const KEYS = [
  "success",
  "verified",
  "checks",
  "report",
  "result",
  "metadata",
  "error",
  "sources_visited",
  "search_queries_used",
] as const;
type Key = (typeof KEYS)[number];

interface Field {
  key: Key;
  start: number;
  valueStart: number;
}

const OPENING = /^(?:"""|["'“”‘’`])/;
const CLOSING: Record<string, string> = { "“": '[”“"]', "”": '[”“"]', "‘": "[’‘']", "’": "[’‘']" };

/** `text` starts at the answer's first bracket or key and ends before the next answer or at the end of the output. */
export function readAnchored(text: string): AnchoredAnswer | undefined {
  const fields = findFields(text);
  const reportIndex = fields.findIndex(({ key }) => key === "report" || key === "result");
  const value: Record<string, unknown> = {};
  let cut = false;
  for (const [index, field] of fields.entries()) {
    if (field.key in value) continue;
    const next = fields[index + 1];
    const raw = text.slice(field.valueStart, next?.start ?? text.length);
    switch (field.key) {
      case "success":
      case "verified":
        value[field.key] = readBoolean(raw);
        break;
      case "report":
      case "result":
      case "error": {
        const content = readString(raw, next !== undefined);
        value[field.key] = content.text;
        if (index === reportIndex && !content.ended) cut = true;
        break;
      }
      case "sources_visited":
      case "search_queries_used":
        metadataOf(value)[field.key] = wholeStrings(raw).map(unescape);
        break;
      case "checks":
        value[field.key] = readList(raw);
        break;
      case "metadata":
        metadataOf(value);
        break;
    }
  }
  return value["success"] === undefined ? undefined : { value, cut };
}

/** Undefined if the list itself is damaged: an answer is complete without it. */
function readList(raw: string): unknown {
  return parseJson(raw.slice(0, raw.lastIndexOf("]") + 1));
}

function metadataOf(value: Record<string, unknown>): Record<string, unknown> {
  const existing = value["metadata"];
  if (isRecord(existing)) return existing;
  const created: Record<string, unknown> = {};
  value["metadata"] = created;
  return created;
}

/** Keys must be quoted like the first one, so that a sentence with "report:" is not taken for a key. */
function findFields(text: string): Field[] {
  const first = /(["'“”‘’`]?)\bsuccess\b(["'“”‘’`]?)\s*(?:[:=]|true|false)/i.exec(text);
  if (first === null) return [];
  const quoted = first[1] !== "" || first[2] !== "";
  const mark = quoted ? `["'“”‘’\`]` : "";
  // A quoted key may have lost one of its quotes, but not both.
  const name = `(${KEYS.join("|")})`;
  const key = quoted
    ? `(?:(?<![\\\\\\w])${mark}${name}${mark}?|(?<=[{,\\n]\\s{0,40})${name}${mark})`
    : `(?<=[{,\\n]\\s{0,40})${name}`;
  const colon = quoted ? `\\s*(?:[:=]\\s*|(?=["[{]|true|false))` : `\\s*[:=]\\s*`;
  const pattern = new RegExp(`${key}${colon}`, "g");
  const fields: Field[] = [];
  for (const match of text.matchAll(pattern)) {
    const found = match[1] ?? match[2];
    const known = KEYS.find((candidate) => candidate === found);
    if (known === undefined) continue;
    fields.push({ key: known, start: match.index, valueStart: match.index + match[0].length });
  }
  return fields;
}

function readBoolean(raw: string): boolean | undefined {
  const word = /^["'“”‘’]?\s*(true|false)\b/i.exec(raw)?.[1]?.toLowerCase();
  return word === undefined ? undefined : word === "true";
}

/**
 * Text between a closed string and the next key: commas, comments, quote and citation marks. A comment can end in one
 * place only; otherwise a line of slashes would cause exponential backtracking.
 */
const BETWEEN_FIELDS = String.raw`(?:\s|,|>|\\n|[{}]|(?://|#)[^\n]*(?=\n|$)|/\*(?:(?!\*/)[^])*\*/|\[cite[^\]\n]*\])*`;

function readString(raw: string, followedByKey: boolean): { text: string | undefined; ended: boolean } {
  const opening = OPENING.exec(raw)?.[0];
  // A report without its opening quote starts with a word, unlike null, a number or a list.
  if (opening === undefined && !/^[\p{L}#*]/u.test(raw)) return { text: undefined, ended: true };
  // A quote after a single backslash is part of the text.
  const closing = `(?<!(?<!\\\\)\\\\)(?:${opening === undefined ? '"' : (CLOSING[opening[0] ?? ""] ?? opening)})`;
  const body = raw.slice(opening?.length ?? 0);
  const end = followedByKey ? endBeforeKey(body, closing) : endOfAnswer(body, closing);
  if (opening === undefined && (end === undefined || /^(?:null|None|undefined)\b/.test(body))) {
    return { text: undefined, ended: true };
  }
  const joined = new RegExp(`${closing}\\s*\\+\\s*${closing}`, "g");
  return { text: unescape(body.slice(0, end ?? body.length).replaceAll(joined, "")), ended: end !== undefined };
}

function endBeforeKey(body: string, closing: string): number {
  const extra = endBeforeExtraFields(body, closing, "$");
  if (extra !== undefined) return extra;
  const closed = lastMatch(
    body,
    new RegExp(`${closing}(?=${BETWEEN_FIELDS}$)`, "g"),
    body.length - MAX_CHARACTERS_BETWEEN_FIELDS,
  );
  return closed ?? lengthWithoutTrailing(body);
}

/** The length without trailing white space and commas. A regular expression would take quadratic time on inner spaces. */
function lengthWithoutTrailing(body: string): number {
  let end = body.length;
  while (end > 0 && /[\s,]/.test(body.charAt(end - 1))) end -= 1;
  return end;
}

/** Comments between two keys are short; searching further back would make hostile text expensive. */
const MAX_CHARACTERS_BETWEEN_FIELDS = 2_000;

const FENCE = "(?:```|~~~)";

function endOfAnswer(body: string, closing: string): number | undefined {
  const extra = endBeforeExtraFields(body, closing, CLOSED_OBJECT);
  if (extra !== undefined) return extra;
  const patterns = [
    // The answer is wrapped in an object that continues with another key.
    `${closing}[\\s,]*\\}(?=\\s*,\\s*["“']\\w+["”']\\s*:)`,
    `${closing}[\\s,]*[}\\]](?=[\\s}\\]]*(?:\\n|${FENCE}|<|$))`,
  ];
  for (const pattern of patterns) {
    const end = lastMatch(body, new RegExp(pattern, "g"), 0);
    if (end !== undefined) return end;
  }
  return onlyQuote(body, closing);
}

/** Fields that were not requested, such as `confidence` or `notes`, are few and short. */
const MAX_EXTRA_CHARACTERS = 4_000;
const EXTRA_KEY = String.raw`["“'][A-Za-z_]\w{0,40}["”']\s*:`;
const EXTRA_VALUE = String.raw`(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|-?\d[\w.+-]*|true|false|null|True|False|None|\[[^[\]{}]*\]|\{[^{}]*\})`;
const CLOSED_OBJECT = String.raw`(?:\}[\s}\]]*(?:${FENCE}|<|$)|\n[ \t]*${FENCE})`;

/** The position of a quote that is followed only by complete unknown fields and `rest`, so that the report is complete. */
function endBeforeExtraFields(body: string, closing: string, rest: string): number | undefined {
  const end = new RegExp(String.raw`${closing}(?=(?:[\s,]*${EXTRA_KEY}\s*${EXTRA_VALUE})+[\s,]*${rest})`, "g");
  end.lastIndex = Math.max(0, body.length - MAX_EXTRA_CHARACTERS);
  const at = end.exec(body)?.index;
  // With an open brace these are fields of an object that the report quotes.
  return at === undefined || openBraces(body.slice(0, at)) > 0 ? undefined : at;
}

function openBraces(text: string): number {
  let open = 0;
  for (const [brace] of text.matchAll(/[{}]/g)) open += brace === "{" ? 1 : -1;
  return open;
}

/** For an answer truncated after its report: the only unescaped quote must be the report's end. */
function onlyQuote(body: string, closing: string): number | undefined {
  const end = body.search(new RegExp(closing));
  if (end === -1) return undefined;
  return /^.\s*(?:,\s*(?:(?:["'“]\w{0,24}|\w{1,24})["'”]?\s*(?::\s*)?)?)?(?:\n[ \t]*(?:```|~~~)[^]*)?$/.test(
    body.slice(end),
  )
    ? end
    : undefined;
}

function lastMatch(text: string, pattern: RegExp, from: number): number | undefined {
  let last: number | undefined;
  pattern.lastIndex = Math.max(0, from);
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) last = match.index;
  return last;
}

const ESCAPES: Record<string, string> = {
  n: "\n",
  t: "\t",
  r: "\r",
  '"': '"',
  "'": "'",
  "\\": "\\",
  "/": "/",
};

/** Decodes JSON escapes. Unknown escapes are kept as they are: Markdown, LaTeX, a path or a pattern. */
function unescape(body: string): string {
  return doubleLatexBackslashes(body).replaceAll(
    /\\(?:u([0-9a-fA-F]{4})|([^]))/g,
    (whole, code?: string, letter?: string) =>
      code === undefined ? (ESCAPES[letter ?? ""] ?? whole) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** By the opening quote: what may close the string, and a backslash, which escapes only in straight quotes. */
const CLOSING_OR_ESCAPE: Readonly<Record<string, RegExp>> = {
  '"': /["\\]/g,
  "'": /['\\]/g,
  "“": /[“”]/g,
  "”": /[“”]/g,
  "‘": /[‘’]/g,
};
/** A quote before anything else is part of the text: an apostrophe, or a quote that was not escaped. */
const AFTER_STRING = /\s*(?:[,\]]|$)|\s+["']/y;

/**
 * Where the string that starts here ends. `lenient`: the opening quotes whose string has no certain end; without them,
 * each further string would search the rest of the text again.
 */
function closingQuote(raw: string, start: number, lenient: Set<string>): number | undefined {
  const quote = raw.charAt(start);
  const step = CLOSING_OR_ESCAPE[quote];
  if (step === undefined) return undefined;
  const isStraight = quote === '"' || quote === "'";
  let first: number | undefined;
  // In steps, because one pattern for a whole string would exceed the stack on a string of some megabytes.
  step.lastIndex = start + 1;
  for (let match = step.exec(raw); match !== null; match = step.exec(raw)) {
    if (match[0] === "\\") {
      step.lastIndex += 1;
      continue;
    }
    first ??= match.index;
    AFTER_STRING.lastIndex = match.index + 1;
    if (!isStraight || lenient.has(quote)) break;
    if (AFTER_STRING.test(raw)) return match.index;
  }
  if (isStraight) lenient.add(quote);
  return quote === "‘" && first !== undefined && raw.charAt(first) === "‘" ? undefined : first;
}

const LIST_MARK = /["'“”‘\]{}]|(?<=[[,\s])https?:\/\/[^\s,\]}"'“”‘]+(?=[,\s\]])/g;

/** Complete strings at the top level of the list, with their escapes; a truncated URL is dropped. */
function wholeStrings(raw: string): string[] {
  const strings: string[] = [];
  let depth = 0;
  // Quotes whose string has no end; without them, each further one would search the rest of the text again.
  const open = new Set<string>();
  const lenient = new Set<string>();
  LIST_MARK.lastIndex = 0;
  for (let match = LIST_MARK.exec(raw); match !== null; match = LIST_MARK.exec(raw)) {
    const [mark] = match;
    if (mark === "]") break;
    if (mark === "{" || mark === "}") depth += mark === "{" ? 1 : -1;
    else if (mark.length > 1) strings.push(mark);
    else if (!open.has(mark)) {
      const end = closingQuote(raw, match.index, lenient);
      if (end === undefined) {
        // A search from ‘ ends at the next ‘, which may begin a complete string.
        if (mark !== "‘") open.add(mark);
        continue;
      }
      LIST_MARK.lastIndex = end + 1;
      if (depth === 0) strings.push(raw.slice(match.index + 1, end));
    }
  }
  return strings;
}

/** A report never intentionally contains a backspace or a form feed. */
const UNLIKELY_ESCAPES = "bf";

/**
 * LaTeX commands that start like a line break, a carriage return or a tab. These escapes are common in text, so only
 * whole commands count.
 */
const COMMANDS: Record<string, ReadonlySet<string>> = {
  n: new Set(
    "nabla natural nearrow neq nequiv newcommand newline nexists ngeq ngtr nleq nless nmid nolimits nonumber not notin nparallel nprec nsim nsubseteq nsucc nsupseteq nwarrow".split(
      " ",
    ),
  ),
  t: new Set(
    "tan tanh tau tbinom text textbf textit textnormal textrm textsc textsf textsuperscript textsubscript texttt tfrac therefore theta thickapprox thicksim thinspace tilde times to top triangle triangleleft triangleq triangleright twoheadrightarrow".split(
      " ",
    ),
  ),
  r: new Set(
    "rVert rangle rbrace rbrack rceil ref rfloor rho right rightarrow rightharpoonup rightleftharpoons rightsquigarrow rm root rtimes rvert".split(
      " ",
    ),
  ),
};

/** Their rest is also a word ("e", "eg", "i", "u") that may follow a line break, so they count only in formulas. */
const COMMANDS_IN_FORMULAS = new Set(["ne", "neg", "ni", "nu"]);

/** Longer than any command; keeps the scan linear. */
const MAX_COMMAND_CHARACTERS = 24;
const MAX_FORMULA_CHARACTERS = 300;

/** Doubles such backslashes in the raw text of JSON strings, so that a parser keeps them. */
export function doubleLatexBackslashes(text: string): string {
  if (!/\\[bfnrt][A-Za-z]|\\[bf]/.test(text)) return text;
  // Every escape is consumed as a pair, so that the second backslash of `\\` never starts an escape.
  return text.replaceAll(/\\([^])/g, (escape, letter: string, at: number) =>
    isLatex(text, letter, at) ? `\\${escape}` : escape,
  );
}

function isLatex(text: string, letter: string, at: number): boolean {
  if (UNLIKELY_ESCAPES.includes(letter)) return true;
  const commands = COMMANDS[letter];
  if (commands === undefined) return false;
  const word = /^[A-Za-z]+/.exec(text.slice(at + 1, at + 1 + MAX_COMMAND_CHARACTERS))?.[0] ?? "";
  return commands.has(word) || (COMMANDS_IN_FORMULAS.has(word) && isInFormula(text, at));
}

/** Whether an odd number of dollar signs, or an unclosed `\(` or `\[`, precedes it in its paragraph. */
function isInFormula(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - MAX_FORMULA_CHARACTERS), at);
  const breaks = ["\\n\\n", "\n\n"].map((mark) => before.lastIndexOf(mark));
  const paragraph = before.slice(Math.max(0, ...breaks));
  const last = (...marks: string[]): number => Math.max(...marks.map((mark) => paragraph.lastIndexOf(mark)));
  const dollars = paragraph.match(/\$/g)?.length ?? 0;
  return dollars % 2 === 1 || last("\\(", "\\[") > last("\\)", "\\]");
}

/** Removes one layer of escaping. */
export function unescapeOnce(text: string): string {
  return doubleLatexBackslashes(text).replaceAll(
    /\\(["'\\/nrt])/g,
    (_whole, letter: string) => ONE_LAYER[letter] ?? letter,
  );
}

const ONE_LAYER: Record<string, string> = { n: "\n", r: "\r", t: "\t" };
