/** What a file format must be able to do for us: find one entry, put it in, take it out, and leave the rest as it is. */

import { isDeepStrictEqual } from "node:util";
import { AppError } from "../errors.ts";
import { isRecord } from "../platform/is-record.ts";

/** A server as a client's file describes it. */
export type Entry = Record<string, unknown>;

export interface ConfigText {
  /** For messages only. */
  file: string;
  /** Without a byte order mark. */
  text: string;
}

/** The table of all servers, and the name of ours in it. */
export interface EntryPlace {
  container: string;
  name: string;
}

export interface EntryFormat {
  /** Undefined: there is none. Throws where the text does not parse. */
  read(config: ConfigText, place: EntryPlace): unknown;
  set(config: ConfigText, place: EntryPlace, entry: Entry): string;
  remove(config: ConfigText, place: EntryPlace): string;
}

/** Nothing is written into what could not be read: the user's other servers would be lost. */
export function notReadable({ file, line, problem }: { file: string; line?: number; problem: string }): AppError {
  const at = line === undefined ? file : `${file}, line ${line}`;
  return new AppError({
    code: "INVALID_INPUT",
    message: `${at}: ${problem} The file was not touched.`,
    suggestion: "Correct it by hand, or move it away, and run init again.",
    details: { path: file, ...(line === undefined ? {} : { line }) },
  });
}

/** Parsers call themselves for each level: what is nested too deeply ends them, and is no settings file. */
export function boundDepth(format: EntryFormat): EntryFormat {
  const bounded = <Arguments extends [ConfigText, ...unknown[]], Result>(act: (...given: Arguments) => Result) => {
    return (...given: Arguments): Result => {
      try {
        return act(...given);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        throw notReadable({ file: given[0].file, problem: "It is nested too deeply." });
      }
    };
  };
  return { read: bounded(format.read), set: bounded(format.set), remove: bounded(format.remove) };
}

/** The last look before an edited text is used: our entry is as it should be, and all else means what it meant. */
export function checkEdit(
  file: string,
  place: EntryPlace,
  { before, after, entry }: { before: Entry; after: Entry; entry: Entry | undefined },
): void {
  const same = isDeepStrictEqual(without(before, place), without(after, place));
  if (same && isDeepStrictEqual(entryIn(after, place), entry)) return;
  throw new AppError({
    code: "INVALID_INPUT",
    message: `${file}: the entry ${place.name} stands there in a form that init cannot edit safely. The file was not touched.`,
    suggestion: "Edit it by hand; init --dry-run with another --name shows what an entry looks like.",
    details: { path: file },
  });
}

export function entryIn(document: Entry, { container, name }: EntryPlace): unknown {
  const servers = document[container];
  return isRecord(servers) && Object.hasOwn(servers, name) ? servers[name] : undefined;
}

/** An empty table of servers is as good as none. */
function without(document: Entry, { container, name }: EntryPlace): Entry {
  const servers = document[container];
  if (servers !== undefined && !isRecord(servers)) return document;
  const others = Object.entries(servers ?? {}).filter(([other]) => other !== name);
  const rest = Object.entries(document).filter(([key]) => key !== container);
  return Object.fromEntries(others.length === 0 ? rest : [...rest, [container, Object.fromEntries(others)]]);
}

/** What a parser gave, as plain objects: theirs have no prototype, and compare as different from ours. */
export function plain(parsed: unknown): Entry {
  const copy = plainValue(parsed);
  return isRecord(copy) ? copy : {};
}

/** Not through JSON.parse: that of Node 24.21 confuses keys with escapes in them, such as paths of Windows. */
function plainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainValue);
  if (value instanceof Date) return value.toISOString();
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainValue(inner)]));
}

export const lineEndOf = (text: string): string => (/\r?\n/.exec(text)?.[0] === "\r\n" ? "\r\n" : "\n");
