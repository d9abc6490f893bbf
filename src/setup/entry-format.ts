/** Port for a configuration file format: reads, sets and removes one entry and leaves the rest unchanged. */

import { isDeepStrictEqual } from "node:util";
import { AppError } from "../errors.ts";
import { isRecord } from "../platform/is-record.ts";

/** A server as described in a client's file. */
export type Entry = Record<string, unknown>;

export interface ConfigText {
  file: string;
  /** Without a byte order mark. */
  text: string;
}

/** The table of all servers and the name of our entry in it. */
export interface EntryPath {
  container: string;
  name: string;
}

export interface EntryFormat {
  /** Undefined if there is no entry. Throws if the text cannot be parsed. */
  read(config: ConfigText, path: EntryPath): unknown;
  /** All entries by name. */
  readAll(config: ConfigText, container: string): Entry;
  set(config: ConfigText, path: EntryPath, entry: Entry): string;
  remove(config: ConfigText, path: EntryPath): string;
}

/** A file that cannot be parsed is never written: the user's other servers would be lost. */
export function notReadable({ file, line, problem }: { file: string; line?: number; problem: string }): AppError {
  const at = line === undefined ? file : `${file}, line ${line}`;
  return new AppError({
    code: "INVALID_INPUT",
    message: `${at}: ${problem} The file was not touched.`,
    suggestion: "Correct it by hand, or move it away, and run init again.",
    details: { path: file, ...(line === undefined ? {} : { line }) },
  });
}

interface Editing {
  parse(config: ConfigText): Entry;
  set: EntryFormat["set"];
  remove: EntryFormat["remove"];
}

/** A format whose edits are verified by parsing the text again. */
export function createFormat({ parse, set, remove }: Editing): EntryFormat {
  const checked = (config: ConfigText, path: EntryPath, { text, entry }: { text: string; entry?: Entry }): string => {
    const before = parse(config);
    let after: Entry = {};
    try {
      after = parse({ ...config, text });
    } catch {
      // For example, a TOML header cannot extend an inline table; `checkEdit` reports it.
    }
    checkEdit(config.file, path, { before, after, entry });
    return text;
  };
  return {
    read: (config, path) => entryIn(parse(config), path),
    readAll: (config, container) => entriesIn(parse(config), container),
    set: (config, path, entry) => checked(config, path, { text: set(config, path, entry), entry }),
    remove: (config, path) => checked(config, path, { text: remove(config, path) }),
  };
}

/** Verifies an edited text: our entry is as intended, and everything else is unchanged. */
function checkEdit(
  file: string,
  path: EntryPath,
  { before, after, entry }: { before: Entry; after: Entry; entry: Entry | undefined },
): void {
  const same = isDeepStrictEqual(without(before, path), without(after, path));
  if (same && isDeepStrictEqual(entryIn(after, path), entry)) return;
  throw new AppError({
    code: "INVALID_INPUT",
    message: `${file}: the entry ${path.name} has a form that init cannot edit safely. The file was not touched.`,
    suggestion: "Edit it by hand; init --dry-run with another --name shows what an entry looks like.",
    details: { path: file },
  });
}

function entriesIn(document: Entry, container: string): Entry {
  const servers = document[container];
  return isRecord(servers) ? servers : {};
}

function entryIn(document: Entry, { container, name }: EntryPath): unknown {
  const servers = entriesIn(document, container);
  return Object.hasOwn(servers, name) ? servers[name] : undefined;
}

/** An empty table of servers counts as none. */
function without(document: Entry, { container, name }: EntryPath): Entry {
  const servers = document[container];
  if (servers !== undefined && !isRecord(servers)) return document;
  const others = Object.entries(servers ?? {}).filter(([other]) => other !== name);
  const rest = Object.entries(document).filter(([key]) => key !== container);
  return Object.fromEntries(others.length === 0 ? rest : [...rest, [container, Object.fromEntries(others)]]);
}

/** Converts a parser's result to plain objects: theirs have no prototype and would compare as different. */
export function plain(parsed: unknown): Entry {
  const copy = plainValue(parsed);
  return isRecord(copy) ? copy : {};
}

/** Not through JSON.parse: in Node 24.21 it confuses keys with escapes, such as Windows paths. */
function plainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainValue);
  if (value instanceof Date) return value.toISOString();
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainValue(inner)]));
}

export const lineEndOf = (text: string): string => (/\r?\n/.exec(text)?.[0] === "\r\n" ? "\r\n" : "\n");
