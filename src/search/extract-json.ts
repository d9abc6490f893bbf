/**
 * Extracts the answer from a model's output: finds its possible starts in linear time, most likely first, parses every one,
 * then reads damaged ones by their known keys.
 */

import { parseJson } from "../platform/parse-json.ts";
import type { Cut } from "../gemini/search-backend.ts";
import { isRecord } from "../platform/is-record.ts";
import { doubleLatexBackslashes, readAnchored, unescapeOnce } from "./anchored-answer.ts";
import { type AnswerSchema, isEcho, type ResearchAnswer, withoutPlaceholders } from "./schemas.ts";

export type Extraction =
  | { kind: "valid"; answer: ResearchAnswer; repaired: boolean }
  | {
      kind: "invalid";
      reason: "no_json" | "schema" | "echo" | "cut";
      bestText: string;
      /** For a truncated answer: its report so far, or the whole text if that is prose. */
      report?: string | undefined;
    };

interface ExtractOptions {
  /** The prompt; an answer that only repeats it is rejected. */
  prompt?: string;
  /** The backend reported a truncated output; then an answer that needs repair is not complete. */
  cut?: Cut | boolean;
}

/** Models nest an answer in a string in an answer, but not deeper. */
const MAX_UNWRAP_DEPTH = 4;

export function extractJsonFromOutput(output: string, schema: AnswerSchema, options: ExtractOptions = {}): Extraction {
  const text = withoutInvisibleMarks(output);
  const rejections = new Rejections(text);
  const isCut = (options.cut ?? false) !== false;
  for (const variant of variants(text, rejections)) {
    const candidates = findCandidates(variant.text);
    const mayRepair = variant.repair && !isCut;
    const isQuoted = quotationTest(variant.text, candidates);
    const accept: Accept = (value, repaired, leadIn) => {
      const parsed = schema.parse(value);
      const answer = parsed?.success === false ? refusalAfter(leadIn(), parsed) : parsed;
      if (answer === undefined || (answer.success && !listsSources(value) && isQuoted(answer.report ?? ""))) {
        rejections.add("schema");
        return undefined;
      }
      if (isEcho(answer, options.prompt)) {
        rejections.add("echo");
        return undefined;
      }
      return { kind: "valid", answer: withoutPlaceholders(answer), repaired };
    };
    const found = readCandidates(variant.text, candidates, { accept, rejections, mayRepair });
    if (found !== undefined) return found;
    if (candidates.length > 0) rejections.add("schema");
  }
  if (isCut) rejections.add("cut", reportSoFar(text));
  const { reason, bestText } = rejections;
  return reason === "cut"
    ? { kind: "invalid", reason, bestText, report: rejections.cutReport ?? proseIn(text) }
    : { kind: "invalid", reason, bestText };
}

/** An incomplete object without a report is not readable text. */
const proseIn = (text: string): string | undefined => (/[{[]/.test(text) ? undefined : text);

/** The report of a truncated answer, or of one that is still written, without the JSON around it. */
export function reportSoFar(text: string): string | undefined {
  const candidates = findCandidates(text);
  const [first] = candidates;
  const value = first === undefined ? undefined : readAnchored(text.slice(first.start, first.limit))?.value;
  const report = value?.["success"] === false ? undefined : answerAfter(first?.start ?? 0, reportOf(value));
  const isQuoted = report !== undefined && !listsSources(value) && quotationTest(text, candidates)(report);
  return isQuoted ? undefined : report;
}

/** Undefined if more text stands before it: that text is the answer, and quotes a report. */
const answerAfter = (start: number, report: string | undefined): string | undefined =>
  report !== undefined && report.length < start ? undefined : report;

function reportOf(value: unknown): string | undefined {
  const report = isRecord(value) ? (value["report"] ?? value["result"]) : undefined;
  return typeof report === "string" ? report : undefined;
}

/** `leadIn` returns the text before a refusal, or undefined if the value is not the answer itself. */
type Accept = (value: unknown, repaired: boolean, leadIn: () => string | undefined) => Extraction | undefined;

/** `"success": false` in a sentence: its fields can be read, but it is not an object. */
const NO_OBJECT = (): undefined => undefined;

/** The refusal with the text before it as its report, unless it has one: both were paid for. */
function refusalAfter(leadIn: string | undefined, refusal: ResearchAnswer): ResearchAnswer | undefined {
  if (leadIn === undefined) return undefined;
  return (refusal.report ?? "").trim() === "" && leadIn !== "" ? { ...refusal, report: leadIn } : refusal;
}

/** The most specific reason for rejecting the output, and the best text so far. */
class Rejections {
  reason: "no_json" | "schema" | "echo" | "cut" = "no_json";
  bestText: string;
  cutReport: string | undefined;

  constructor(output: string) {
    this.bestText = output;
  }

  add(reason: "schema" | "echo" | "cut", report?: string): void {
    const rank = ["no_json", "schema", "echo", "cut"];
    if (rank.indexOf(reason) > rank.indexOf(this.reason)) this.reason = reason;
    if (report === undefined) return;
    this.bestText = report;
    if (reason === "cut") this.cutReport = report;
  }
}

const withoutInvisibleMarks = (text: string): string => text.replaceAll(/[\uFEFF\u200B\u2060]/g, "");

interface Variant {
  text: string;
  /** False if only answers that need no repair count, because another variant is more likely. */
  repair: boolean;
}

/** The text itself, then without HTML entities, then with one layer of escaping removed. */
function* variants(text: string, rejections: Rejections): Generator<Variant> {
  const entities = /&(?:quot|#34|#x22);\s*success/i.test(text);
  yield { text, repair: !entities };
  if (entities) yield { text: decodeEntities(text), repair: true };
  // A report may quote an answer: an escaped answer inside a truncated one is not the answer.
  if (rejections.reason !== "cut" && ESCAPED_REPORT.test(text)) yield { text: unescapeOnce(text), repair: true };
}

const ESCAPED_REPORT = /\b(?:report|result|error)\s*(?:\\["']\s*)?:\s*\\["']/;

const ENTITIES: Record<string, string> = {
  quot: '"',
  "#34": '"',
  "#x22": '"',
  amp: "&",
  lt: "<",
  gt: ">",
  apos: "'",
  "#39": "'",
  "#x27": "'",
};

function decodeEntities(text: string): string {
  return text.replaceAll(
    /&(quot|amp|lt|gt|apos|#34|#39|#x22|#x27);/gi,
    (whole, name: string) => ENTITIES[name.toLowerCase()] ?? whole,
  );
}

interface Reading {
  accept: Accept;
  rejections: Rejections;
  /** Whether damaged candidates may be repaired. */
  mayRepair: boolean;
}

/** Complete answers come first. A refusal counts only if no better candidate can be repaired. */
function readCandidates(text: string, candidates: Candidate[], reading: Reading): Extraction | undefined {
  const values = wholeValues(text, candidates);
  const damaged: Damaged[] = [];
  let refusal: Extraction | undefined;
  for (const candidate of candidates) {
    const value = values.get(candidate.start);
    if (value === "inside another") continue;
    const found = firstDefined(unwrap(value, MAX_UNWRAP_DEPTH), (inner) =>
      reading.accept(inner, false, () => leadInOf(text, candidate, { value, inner })),
    );
    if (found?.kind === "valid" && found.answer.success) return found;
    if (found !== undefined) refusal ??= found;
    else damaged.push({ candidate, value });
  }
  return (reading.mayRepair ? readRepaired(text, damaged, reading) : undefined) ?? refusal;
}

interface Damaged {
  candidate: Candidate;
  /** Valid JSON that does not match the schema; undefined if the text is not JSON. */
  value: unknown;
}

/** Valid JSON values by start position. A candidate inside another value is part of it, not another answer. */
function wholeValues(text: string, candidates: Candidate[]): Map<number, unknown> {
  const values = new Map<number, unknown>();
  let readUpTo = 0;
  for (const { start, end } of candidates.toSorted((a, b) => a.start - b.start)) {
    if (start < readUpTo) {
      values.set(start, "inside another");
      continue;
    }
    const value = end === undefined ? undefined : parse(text.slice(start, end));
    values.set(start, value);
    if (value !== undefined) readUpTo = end ?? 0;
  }
  return values;
}

function readRepaired(text: string, damaged: Damaged[], reading: Reading): Extraction | undefined {
  // Repair makes several passes over its text; the budget keeps hostile text from making that quadratic.
  let budget = 6 * text.length + 10_000;
  for (const { candidate, value } of damaged) {
    const found = firstDefined(unwrap(value, MAX_UNWRAP_DEPTH), (inner) =>
      reading.accept(withRealBooleans(inner), true, () => leadInOf(text, candidate, { value, inner })),
    );
    if (found !== undefined) return found;
    if (value !== undefined) continue;
    budget -= candidate.limit - candidate.start;
    if (budget < 0) return undefined;
    const repaired = repairOne(text, candidate, reading);
    if (repaired !== undefined) return repaired;
  }
  return undefined;
}

function repairOne(text: string, candidate: Candidate, { accept, rejections }: Reading): Extraction | undefined {
  const anchored = readAnchored(text.slice(candidate.start, candidate.limit));
  if (anchored?.cut === true) {
    // Text after the region shows that the output was not truncated there: the report quotes another object.
    const isLast = candidate.limit === text.length && anchored.value["success"] !== false;
    if (isLast) rejections.add("cut", answerAfter(candidate.start, reportOf(anchored.value)));
    return undefined;
  }
  return anchored === undefined ? undefined : accept(anchored.value, true, NO_OBJECT);
}

/** Accepts "true" and "false" as strings. */
function withRealBooleans(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const real = (flag: unknown): unknown =>
    typeof flag === "string" && /^(true|false)$/i.test(flag.trim()) ? flag.trim().toLowerCase() === "true" : flag;
  const { success, verified, ...rest } = value;
  return { ...rest, success: real(success), verified: real(verified) };
}

/** The value and the values nested in it: objects, lists, or JSON in a string. */
function* unwrap(value: unknown, depth: number): Generator {
  if (typeof value === "string") {
    if (depth > 0 && value.includes("success")) {
      const inner = parse(value);
      if (inner !== undefined) yield* unwrap(inner, depth - 1);
    }
    return;
  }
  if (typeof value !== "object" || value === null) return;
  yield value;
  if (depth === 0 || (!Array.isArray(value) && "success" in value)) return;
  for (const [key, inner] of Object.entries(value).toReversed()) {
    if (key !== "__proto__") yield* unwrap(inner, depth - 1);
  }
}

const parse = (text: string): unknown => parseJson(doubleLatexBackslashes(text));

function firstDefined<T, R>(items: Iterable<T>, pick: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const picked = pick(item);
    if (picked !== undefined) return picked;
  }
  return undefined;
}

interface Candidate {
  start: number;
  /** The position after the closing bracket; undefined without one. */
  end: number | undefined;
  /** The end of the text that may belong to it: the next answer, or the end of the output. */
  limit: number;
}

/** Hostile text may open any number of brackets; real outputs contain one or two answers. */
const MAX_STARTS = 24;

const FENCE = /(?:```+|~~~+)[ \t]*([A-Za-z0-9_+-]*)/g;
const ANSWER_START = /[{[]/g;
const SUCCESS_KEY = /(?<!\\)["'“”‘’`]?\bsuccess\b["'“”‘’`]?\s*(?:[:=]|(?<=["'”’`]\s*)(?:true|false))/gi;
/** An answer without its first bracket starts at its first key. */
const FIRST_KEY = /(?<![\\\w])["'“”‘’`]?(?:success|verified|report|result|metadata)["'“”‘’`]?\s*[:=]/;
const BEFORE_FIRST_KEY = /\{\s*$/;

function findCandidates(output: string): Candidate[] {
  const successAt = positions(output, SUCCESS_KEY);
  const fences = fenceStarts(output);
  const direct = successAt.map((at) => braceBefore(output, at));
  const inOrder = [
    ...fences.labelled.toReversed(),
    ...fences.other.toReversed(),
    ...[...topLevelStarts(output), ...direct].sort((a, b) => b - a),
    ...(successAt.length > 0 ? [braceBefore(output, output.search(FIRST_KEY))] : []),
  ].filter((start) => start >= 0);
  let budget = 12 * output.length + 1_000;
  const candidates: Candidate[] = [];
  for (const start of new Set(inOrder)) {
    if (budget <= 0 || candidates.length >= 3 * MAX_STARTS) break;
    const { end, scanned } = closingBracket(output, start);
    budget -= scanned;
    candidates.push({ start, end, limit: endOfRegion(output, start, successAt) });
  }
  return candidates;
}

/** Ends before the object with the second `success` key; the first one is the candidate's own. */
function endOfRegion(output: string, start: number, successAt: number[]): number {
  const later = successAt.filter((at) => at >= start)[1];
  return later === undefined ? output.length : braceBefore(output, later);
}

function braceBefore(output: string, keyAt: number): number {
  const window = output.slice(Math.max(0, keyAt - 200), keyAt);
  const match = BEFORE_FIRST_KEY.exec(window);
  return match === null ? keyAt : keyAt - window.length + match.index;
}

function fenceStarts(output: string): { labelled: number[]; other: number[] } {
  const labelled: number[] = [];
  const other: number[] = [];
  for (const fence of firstAndLast([...output.matchAll(FENCE)])) {
    ANSWER_START.lastIndex = fence.index + fence[0].length;
    const bracket = ANSWER_START.exec(output);
    if (bracket === null) continue;
    const between = output.slice(fence.index + fence[0].length, bracket.index);
    // Skips closing fences: an answer directly follows its opening fence.
    if (between.trim() !== "") continue;
    (/^json/i.test(fence[1] ?? "") ? labelled : other).push(bracket.index);
  }
  return { labelled, other };
}

/** Objects outside any other object, as far as brackets and quotes are balanced. */
function topLevelStarts(output: string): number[] {
  const starts: number[] = [];
  let at = output.indexOf("{");
  while (at !== -1 && starts.length < MAX_STARTS) {
    starts.push(at);
    const { end } = closingBracket(output, at);
    if (end === undefined) break;
    at = output.indexOf("{", end);
  }
  return starts;
}

/** One or two sentences in which a model announces what it does. Longer text is an answer that quotes an object. */
const MAX_LEAD_IN = 200;
const CLOSING_FENCE = /^(?:`{3,}|~{3,})?$/;
const OPENING_FENCE = /(?:^|\n)[ \t]*(?:`{3,}|~{3,})?[ \t]*(?:json\w*)?$/i;

/** The text before an object that ends the output; undefined if other text quotes the object, or another value holds it. */
function leadInOf(
  output: string,
  { start, end }: Candidate,
  { value, inner }: { value: unknown; inner: unknown },
): string | undefined {
  if (end === undefined || !CLOSING_FENCE.test(output.slice(end).trim())) return undefined;
  if (inner !== value && end - start - JSON.stringify(inner).length > MAX_LEAD_IN) return undefined;
  const before = output.slice(0, start);
  const visible = before.trim();
  if (visible.length > MAX_LEAD_IN) return undefined;
  const fence = OPENING_FENCE.exec(visible);
  if (fence !== null) return visible.slice(0, fence.index).trim();
  return before.slice(before.trimEnd().length).includes("\n") ? visible : undefined;
}

/** In the form that our prompts ask for: the answer, however much a model has written between its searches. */
function listsSources(value: unknown): boolean {
  const metadata = isRecord(value) ? value["metadata"] : undefined;
  return isRecord(metadata) && Array.isArray(metadata["sources_visited"]);
}

/** Whether the object with this report is quoted: an answer in prose is longer than an announcement and than its quotations. */
type QuotationTest = (report: string) => boolean;

function quotationTest(text: string, candidates: Candidate[]): QuotationTest {
  let prose: number | undefined;
  return (report) => {
    const needed = Math.max(MAX_LEAD_IN, report.length);
    if (text.length <= needed) return false;
    prose ??= proseLength(text, candidates);
    return prose > needed;
  };
}

/** The length of the text outside all objects, candidates or not. */
function proseLength(text: string, candidates: Candidate[]): number {
  const open = candidates.toSorted((a, b) => a.start - b.start);
  let length = 0;
  let readUpTo = 0;
  let bracket = text.indexOf("{");
  while (readUpTo < text.length) {
    while (open[0] !== undefined && open[0].start < readUpTo) open.shift();
    if (bracket !== -1 && bracket < readUpTo) bracket = text.indexOf("{", readUpTo);
    const [next] = open;
    const isCandidate = next !== undefined && (bracket === -1 || next.start <= bracket);
    const start = isCandidate ? next.start : bracket;
    if (start === -1) break;
    length += text.slice(readUpTo, start).trim().length;
    const end = isCandidate ? endOf(text, next) : closingBracket(text, start).end;
    readUpTo = end ?? start;
    // A bracket that nothing closes is prose; one search to the end of the text is enough.
    if (end === undefined) bracket = -1;
  }
  return length + text.slice(readUpTo).trim().length;
}

/** A damaged answer may close before its end; braces in prose, as in `/items/{id}`, are no answer. */
function endOf(text: string, { start, end, limit }: Candidate): number {
  if (end === undefined) return limit;
  const inside = text.slice(start, end);
  return !inside.includes("success") || parse(inside) !== undefined ? end : limit;
}

const STRUCTURE = /["{}[\]]/g;
const STRING_END = /["\\]/g;

/** Skips strings, so that brackets inside a report do not count. */
function closingBracket(text: string, start: number): { end: number | undefined; scanned: number } {
  let depth = 0;
  STRUCTURE.lastIndex = start;
  for (let match = STRUCTURE.exec(text); match !== null; match = STRUCTURE.exec(text)) {
    const mark = match[0];
    if (mark === '"') {
      const close = closingQuote(text, match.index + 1);
      if (close === undefined) break;
      STRUCTURE.lastIndex = close + 1;
    } else if (mark === "{" || mark === "[") {
      depth += 1;
    } else {
      depth -= 1;
      if (depth === 0) return { end: match.index + 1, scanned: match.index - start };
    }
  }
  return { end: undefined, scanned: text.length - start };
}

/** The position of the closing quote of a string whose content begins at `from`; undefined without one. */
function closingQuote(text: string, from: number): number | undefined {
  STRING_END.lastIndex = from;
  for (let match = STRING_END.exec(text); match !== null; match = STRING_END.exec(text)) {
    if (match[0] === '"') return match.index;
    STRING_END.lastIndex = match.index + 2;
  }
  return undefined;
}

function positions(text: string, pattern: RegExp): number[] {
  return firstAndLast([...text.matchAll(pattern)]).map((match) => match.index);
}

function firstAndLast<T>(items: T[]): T[] {
  if (items.length <= MAX_STARTS) return items;
  return [...items.slice(0, MAX_STARTS / 2), ...items.slice(-MAX_STARTS / 2)];
}
