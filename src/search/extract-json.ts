/** Extracts the answer from a model's output: parses every candidate, then reads damaged ones by their known keys. */

import { parseJson } from "../gemini/parse-json.ts";
import type { Cut } from "../gemini/search-backend.ts";
import { isRecord } from "../platform/is-record.ts";
import { type AnchoredAnswer, readAnchored } from "./anchored-answer.ts";
import { isEcho, withoutPlaceholders } from "./echo.ts";
import { type Candidate, findCandidates, leadInOf } from "./json-candidates.ts";
import { doubleLatexBackslashes, unescapeOnce } from "./latex-escapes.ts";
import type { AnswerSchema, ResearchAnswer } from "./schemas.ts";

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
  const accept: Accept = (value, repaired, leadIn) => {
    const parsed = schema.parse(value);
    const answer = parsed?.success === false ? refusalAfter(leadIn(), parsed) : parsed;
    if (answer === undefined) {
      rejections.add("schema");
      return undefined;
    }
    if (isEcho(answer, options.prompt)) {
      rejections.add("echo");
      return undefined;
    }
    return { kind: "valid", answer: withoutPlaceholders(answer), repaired };
  };
  for (const variant of variants(text, rejections)) {
    const candidates = findCandidates(variant.text);
    const mayRepair = variant.repair && !isCut;
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

/** The report of a truncated answer, without the JSON around it. */
function reportSoFar(text: string): string | undefined {
  const [first] = findCandidates(text);
  const value = first === undefined ? undefined : readAnchored(text.slice(first.start, first.limit))?.value;
  return value?.["success"] === false ? undefined : answerAfter(first?.start ?? 0, reportOf(value));
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
  const region = text.slice(candidate.start, candidate.limit);
  const closed = candidate.end === undefined ? undefined : region.slice(0, candidate.end - candidate.start);
  const anchored = readClosedOrWhole(closed, region);
  if (anchored?.cut === true) {
    // Text after the region shows that the output was not truncated there: the report quotes another object.
    const isLast = candidate.limit === text.length && anchored.value["success"] !== false;
    if (isLast) rejections.add("cut", answerAfter(candidate.start, reportOf(anchored.value)));
    return undefined;
  }
  return anchored === undefined ? undefined : accept(anchored.value, true, NO_OBJECT);
}

/** Reads up to the closing bracket, unless a stray quote moved that before the last key. */
function readClosedOrWhole(closed: string | undefined, region: string): AnchoredAnswer | undefined {
  const whole = readAnchored(region);
  if (closed === undefined) return whole;
  const inside = readAnchored(closed);
  return inside === undefined || inside.cut || (whole?.keys ?? 0) > inside.keys ? whole : inside;
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
