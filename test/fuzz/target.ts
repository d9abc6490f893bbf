/** What a fuzz target is: one reader of foreign text, and everything that must hold whatever it is given. */

export interface FuzzTarget {
  name: string;
  /** Inputs that reach deep, to begin from. */
  seeds: readonly string[];
  /** Words that mean something to the reader, to build inputs from. */
  words: readonly string[];
  open(): Promise<OpenTarget> | OpenTarget;
}

export interface OpenTarget {
  /** Throws where a promise is broken. The word it returns says which way the input went: a new word is a find. */
  check(input: string): string | Promise<string>;
  close?(): Promise<void> | void;
}

/** A promise that must hold; the sentence says which. */
export function must(held: boolean, sentence: string): asserts held {
  if (!held) throw new Error(`Broken: ${sentence}`);
}

/** Nobody's input may reach what all objects share (T24). */
export function mustBeUnpolluted(): void {
  for (const key in {}) must(false, `Object.prototype has ${key}.`);
  must(Reflect.ownKeys(Object.prototype).length === CLEAN, "Object.prototype has new keys.");
}

const CLEAN = Reflect.ownKeys(Object.prototype).length;

/** Controls but tab and line break, direction marks, tags and other invisible characters, halves of characters. */
const HIDDEN =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u206F\uFEFF\u{E0000}-\u{E01EF}]/u;

/** What leaves us must hold nothing that a terminal or a model acts on and a reader does not see (T17, T26). */
export function mustBeVisible(text: string, what: string): void {
  must(!HIDDEN.test(text), `${what} holds ${JSON.stringify(HIDDEN.exec(text)?.[0])}.`);
  must(text.isWellFormed(), `${what} holds half a character.`);
}

/** Every string inside a value. */
export function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null)
    for (const inner of Object.values(value)) yield* stringsIn(inner);
}

/** Undefined where it is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
