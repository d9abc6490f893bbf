/**
 * The faults that the generator can apply, each independent of the others, with their effect on the expected answer.
 */

import type { Spelling, Token } from "./answer-tokens.ts";
import type { ExpectedAnswer } from "./corpus-case.ts";
import type { Random } from "./random.ts";

/** An answer before it is written; corruptions change it in place. */
export interface Draft {
  answer: ExpectedAnswer;
  tokens: Token[];
  spelling: Spelling;
  cut: "nowhere" | "in report" | "after report";
  /** Applied in order to the joined text. */
  wraps: ((text: string) => string)[];
  /** Complete outputs before this one. */
  preamble: string;
}

export interface Corruption {
  name: string;
  /** Two faults of one kind could cancel each other, so a document has at most one of each. */
  kinds: readonly string[];
  fits?: (draft: Draft) => boolean;
  apply: (draft: Draft, random: Random) => void;
}

const indexesOf = (draft: Draft, wanted: (token: Token, index: number) => boolean): number[] =>
  draft.tokens.flatMap((token, index) => (wanted(token, index) ? [index] : []));

const metadataIsLast = (draft: Draft): boolean =>
  draft.tokens.findLast((token) => token.kind === "key")?.field === "search_queries_used";

const hasInReport = (pattern: RegExp) => (draft: Draft) => pattern.test(draft.answer.report ?? "");

/** Inner objects with unescaped quotation marks are ambiguous. */
const hasPlainQuotes = (draft: Draft): boolean =>
  hasInReport(/"/)(draft) && !hasInReport(/["[{]\s*"|"\s*[:\]}]/)(draft);

const property = (name: string, value: string): Token[] => [
  { kind: "key", text: name, field: "extra", before: " " },
  { kind: "colon", text: ":", field: "extra", before: "" },
  { kind: "literal", text: value, field: "extra", before: " " },
  { kind: "comma", text: ",", field: "extra", before: "" },
];

function dropOneComma(draft: Draft, random: Random): void {
  const at = random.pick(indexesOf(draft, ({ kind }) => kind === "comma"));
  draft.tokens.splice(at, 1);
  const next = draft.tokens[at];
  if (next?.before === "") next.before = " ";
}

function addComments(draft: Draft, random: Random): void {
  const comment = random.pick(["/* checked */", '/* see "notes" {1} */', "// checked\n", '// it\'s "done" }\n']);
  // At most twice, because a model comments on a field or two, not on every token.
  for (const at of random
    .sample(
      indexesOf(draft, ({ kind }) => kind === "key"),
      random.between(1, 2),
    )
    .toSorted((a, b) => b - a)) {
    draft.tokens.splice(at, 0, { kind: "comment", text: comment, field: "", before: " " });
  }
}

function breakOneKey(draft: Draft, random: Random): void {
  const key = draft.tokens[random.pick(indexesOf(draft, ({ kind, field }) => kind === "key" && field !== "extra"))];
  if (key) Object.assign(key, { kind: "literal", text: `${key.text}"` });
}

function addForeignElements(draft: Draft, random: Random): void {
  const field = random.pick(["sources_visited", "search_queries_used"]);
  const at = draft.tokens.findIndex((token) => token.kind === "open" && token.field === field);
  const value = random.pick(["null", "42", "true", '{"url": "https://object.example", "title": "x"}']);
  draft.tokens.splice(
    at + 1,
    0,
    { kind: "literal", text: value, field, before: "" },
    { kind: "comma", text: ",", field, before: "" },
  );
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

export const CORRUPTIONS: readonly Corruption[] = [
  {
    name: "trailing commas",
    kinds: ["comma"],
    apply: (draft) => {
      draft.tokens = draft.tokens.flatMap((token): Token[] =>
        token.kind === "close" ? [{ kind: "comma", text: ",", field: "", before: "" }, token] : [token],
      );
    },
  },
  { name: "missing comma", kinds: ["comma", "quotes inside"], apply: dropOneComma },
  {
    name: "single quotes",
    kinds: ["delimiters"],
    apply: (draft) => void (draft.spelling.delimiters = ["'", "'"]),
  },
  {
    name: "smart quotes",
    kinds: ["delimiters"],
    // The German closing mark is the English opening mark.
    fits: (draft) => !hasInReport(/[“”]/)(draft),
    apply: (draft) => void (draft.spelling.delimiters = ["“", "”"]),
  },
  {
    name: "unescaped quotes",
    kinds: ["delimiters", "quotes inside"],
    fits: hasPlainQuotes,
    apply: (draft) => void (draft.spelling.rawQuotes = true),
  },
  {
    name: "raw line breaks and tabs",
    kinds: ["line breaks"],
    apply: (draft) => void (draft.spelling.rawLineBreaks = true),
  },
  {
    name: "escaped apostrophes",
    kinds: ["delimiters"],
    fits: (draft) => draft.tokens.some(({ kind, text }) => kind === "string" && text.includes("'")),
    apply: (draft) => void (draft.spelling.escapedApostrophes = true),
  },
  { name: "comments", kinds: ["comments"], apply: addComments },
  {
    name: "Python literals",
    kinds: ["literals"],
    apply: (draft) => {
      for (const token of draft.tokens) {
        if (token.kind === "literal") {
          token.text = token.text.replace(/^(t|f)(?=rue$|alse$)/, (first) => first.toUpperCase());
        }
      }
    },
  },
  {
    name: "booleans as strings",
    kinds: ["literals"],
    apply: (draft) => {
      for (const token of draft.tokens) {
        if (token.field === "success" || token.field === "verified") {
          if (token.kind === "literal") token.kind = "string";
        }
      }
    },
  },
  {
    name: "unquoted keys",
    kinds: ["keys"],
    apply: (draft) => void (draft.spelling.bareKeys = true),
  },
  { name: "key without its opening quote", kinds: ["keys", "delimiters"], apply: breakOneKey },
  {
    name: "result for report",
    kinds: ["keys"],
    apply: (draft) => {
      for (const token of draft.tokens) {
        if (token.kind === "key" && token.text === "report") token.text = "result";
      }
    },
  },
  {
    name: "odd extra field",
    kinds: ["extra"],
    apply: (draft, random) => {
      const value = random.pick(["NaN", "undefined", "Infinity", "0.9", "null", '{"a": [1, {"b": 2}]}']);
      draft.tokens.splice(1, 0, ...property("confidence", value));
    },
  },
  { name: "foreign list elements", kinds: ["lists"], apply: addForeignElements },
  {
    name: "missing closers",
    kinds: ["end"],
    fits: metadataIsLast,
    apply: (draft, random) => void draft.tokens.splice(-random.between(1, 3)),
  },
  {
    name: "extra closers",
    kinds: ["end", "around"],
    apply: (draft, random) => void draft.wraps.push((text) => text + random.pick(["}", "}}", "]"])),
  },
  {
    name: "missing opener",
    kinds: ["start", "around"],
    apply: (draft) => {
      draft.tokens.shift();
    },
  },
  {
    name: "report without its closing quote",
    kinds: ["end", "delimiters", "quotes inside", "comma", "comments"],
    fits: (draft) => metadataIsLast(draft),
    apply: (draft) => {
      const report = draft.tokens.find(({ kind, field }) => kind === "string" && field === "report");
      if (report) Object.assign(report, { kind: "literal", text: JSON.stringify(report.text).slice(0, -1) });
    },
  },
  {
    name: "cut after report",
    kinds: ["end", "start"],
    fits: metadataIsLast,
    apply: (draft) => void (draft.cut = "after report"),
  },
  { name: "cut in report", kinds: ["end"], apply: (draft) => void (draft.cut = "in report") },
  {
    name: "carriage returns",
    kinds: ["white space"],
    fits: (draft) => draft.tokens.some(({ before }) => before.includes("\n")),
    apply: (draft) => {
      for (const token of draft.tokens) token.before = token.before.replaceAll("\n", "\r\n");
    },
  },
  {
    name: "no-break spaces",
    kinds: ["white space"],
    apply: (draft) => {
      for (const token of draft.tokens) token.before = token.before.replaceAll(" ", "\u00A0");
    },
  },
  {
    name: "invisible characters around",
    kinds: ["invisible"],
    apply: (draft) => void draft.wraps.push((text) => `\uFEFF\u200B${text}\u200B`),
  },
  {
    name: "a JSON string of it",
    kinds: ["escaping", "around", "delimiters", "line breaks"],
    apply: (draft) => {
      draft.wraps.push((text) => {
        const quoted = JSON.stringify(text);
        return draft.cut === "nowhere" ? quoted : quoted.slice(0, -1);
      });
    },
  },
  {
    name: "escaped once too often",
    kinds: ["escaping", "around", "delimiters", "line breaks", "comments"],
    apply: (draft) => void draft.wraps.push((text) => JSON.stringify(text).slice(1, -1)),
  },
  {
    name: "HTML entities",
    kinds: ["escaping", "delimiters", "keys"],
    apply: (draft) => void draft.wraps.push((text) => text.replaceAll(/[&<>"]/g, (mark) => ENTITIES[mark] ?? mark)),
  },
  {
    name: "wrapped",
    kinds: ["around"],
    apply: (draft, random) => {
      const [before, after] = random.pick([
        ['{"response": ', "}"],
        ['{"data": ', ', "status": "ok"}'],
        ["[", "]"],
      ] as const);
      draft.wraps.push((text) => before + text + (draft.cut === "nowhere" ? after : ""));
    },
  },
  {
    name: "printed twice",
    kinds: ["end", "start", "around", "escaping"],
    apply: (draft) => void draft.wraps.push((text) => `${text}\n${text}`),
  },
  {
    name: "braces in front",
    kinds: ["in front"],
    apply: (draft, random) => {
      draft.preamble += random.pick([
        "I compare {a, b} with {c}.\n\n",
        'Plan: {"step": 1, "query": "first try"}\n\n',
        '```json\n{"tool": "google_web_search", "arguments": {"query": "x"}}\n```\n\n',
        '{"type": "progress", "step": 1}\n',
      ]);
    },
  },
  {
    name: "echoed example in front",
    kinds: ["in front"],
    apply: (draft) => {
      draft.preamble +=
        '```json\n{\n  "success": true,\n  "verified": false,\n  "report": "<your whole report in Markdown>",\n  "metadata": {\n    "sources_visited": ["<address of a page you used>"],\n    "search_queries_used": ["<search query you used>"]\n  }\n}\n```\n\n';
    },
  },
];
