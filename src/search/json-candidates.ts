/** Finds possible starts of an answer in a model's output, most likely first, in linear time. */

export interface Candidate {
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

export function findCandidates(output: string): Candidate[] {
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
  for (const fence of firstAndLast([...matches(output, FENCE)])) {
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
export function leadInOf(
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
  return firstAndLast([...matches(text, pattern)]).map((match) => match.index);
}

function* matches(text: string, pattern: RegExp): Generator<RegExpExecArray> {
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    yield match;
    if (match[0] === "") pattern.lastIndex += 1;
  }
}

function firstAndLast<T>(items: T[]): T[] {
  if (items.length <= MAX_STARTS) return items;
  return [...items.slice(0, MAX_STARTS / 2), ...items.slice(-MAX_STARTS / 2)];
}
