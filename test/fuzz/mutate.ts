/** Mutates inputs: a few small edits, a splice, or one piece repeated many times. */

import type { Random } from "../corpus/random.ts";

export interface MutationSource {
  /** The inputs to start from. */
  pool: readonly string[];
  words: readonly string[];
  /** Longer results are truncated. */
  maxLength: number;
}

/** Characters and words with a meaning in most formats. */
const MARKS = [
  ..."{}[]()<>\"'`,:;\\/|*#_-+=!?@$%^&~. \n\t\r",
  "\u0000",
  "\u001B[",
  "\u202E",
  "\u200B",
  "\uFEFF",
  "\uD800",
  "\uDC41",
  "\uDB40",
  "\u{E0041}",
  "“",
  "’",
  "é",
  "日",
  "😀",
  "../",
  "\\u0041",
  "\\n",
  "1e999",
  "-1",
  "null",
  "true",
  "__proto__",
  "constructor",
  "//",
  "/*",
  "*/",
];

export function mutate(random: Random, { pool, words, maxLength }: MutationSource): string {
  let text = random.pick(pool);
  for (let edits = 1 + Math.floor(4 * random.next() ** 2); edits > 0; edits -= 1) {
    text = random.pick(EDITS)(text, random, { pool, words, maxLength });
  }
  return text.slice(0, maxLength);
}

/** Repeats one piece until the text has this size, to detect non-linear time. */
export function pump(random: Random, { pool, words }: MutationSource, size: number): string {
  const text = random.pick(pool);
  const [from, to] = range(text, random);
  const piece =
    random.next() < 0.5 ? random.pick(MARKS) : text.slice(from, Math.min(to, from + 12)) || random.pick(words);
  const tail = random.next() < 0.5 ? text.slice(to) : random.pick(["x", "\nx", "", random.pick(MARKS)]);
  return text.slice(0, from) + piece.repeat(Math.ceil(size / piece.length)) + tail;
}

type Edit = (text: string, random: Random, source: MutationSource) => string;

const EDITS: readonly Edit[] = [
  (text, random) => insert(text, random, random.pick(MARKS)),
  (text, random, { words }) => insert(text, random, random.pick(words)),
  (text, random) => replace(text, random, random.pick(MARKS)),
  (text, random, { words }) => replace(text, random, random.pick(words)),
  (text, random) => replace(text, random, ""),
  (text, random) => {
    const [from, to] = range(text, random);
    return insert(text, random, text.slice(from, to));
  },
  (text, random) => {
    const [from, to] = range(text, random);
    return text.slice(0, from) + text.slice(from, to).repeat(random.between(2, 20)) + text.slice(to);
  },
  (text, random) => text.slice(0, random.between(0, text.length)),
  (text, random, { pool }) => {
    const other = random.pick(pool);
    return text.slice(0, random.between(0, text.length)) + other.slice(random.between(0, other.length));
  },
  (text, random) => {
    const at = random.between(0, text.length);
    return text.slice(0, at) + String.fromCharCode(random.between(0, 0xff_ff)) + text.slice(at + 1);
  },
  (text, random) => text.replace(/\d+/, String(random.pick([0, -1, 1.5, 2 ** 53, 1e308, 255, 65_536]))),
];

/** A mostly short range, because damage is local. */
function range(text: string, random: Random): [number, number] {
  const from = random.between(0, text.length);
  return [from, Math.min(text.length, from + Math.floor(random.next() ** 3 * text.length) + 1)];
}

function insert(text: string, random: Random, piece: string): string {
  const at = random.between(0, text.length);
  return text.slice(0, at) + piece + text.slice(at);
}

function replace(text: string, random: Random, piece: string): string {
  const [from, to] = range(text, random);
  return text.slice(0, from) + piece + text.slice(to);
}
