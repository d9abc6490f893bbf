/** The type of a fuzz target: one parser of untrusted text, and the checks that hold for any input. */

export interface FuzzTarget {
  name: string;
  /** Initial inputs that reach deep into the parser. */
  seeds: readonly string[];
  /** Words with a meaning to the parser, for building inputs. */
  words: readonly string[];
  open(): Promise<OpenTarget> | OpenTarget;
}

interface OpenTarget {
  /** Throws if a promise is broken. Returns a name for the outcome; a new name counts as new coverage. */
  check(input: string): string | Promise<string>;
  close?(): Promise<void> | void;
}

/** Throws unless the promise holds; the sentence names it. */
export function must(held: boolean, sentence: string): asserts held {
  if (!held) throw new Error(`Broken: ${sentence}`);
}

/** No input may change Object.prototype (T24). */
export function mustBeUnpolluted(): void {
  for (const key in {}) must(false, `Object.prototype has ${key}.`);
  must(Reflect.ownKeys(Object.prototype).length === CLEAN, "Object.prototype has new keys.");
}

const CLEAN = Reflect.ownKeys(Object.prototype).length;

/**
 * Control characters except tab and line break, direction marks, tags, other invisible characters, and lone surrogates.
 */
const HIDDEN =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u206F\uFEFF\u{E0000}-\u{E01EF}]/u;

/** Output must contain no invisible text that a terminal or a model interprets (T17, T26). */
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

/** Returns undefined if the text is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
