/** Edits an entry in TOML: our own tables are cut and written as text, and a parser verifies the result. */

import { parse, stringify, TomlError } from "smol-toml";
import { isRecord } from "../platform/is-record.ts";
import {
  type ConfigText,
  createFormat,
  type Entry,
  type EntryPath,
  lineEndOf,
  notReadable,
  plain,
} from "./entry-format.ts";

const remove = ({ text }: ConfigText, path: EntryPath): string => sectionsOf(text, path).toReversed().reduce(cut, text);

export const tomlFormat = createFormat({ parse: parsed, set, remove });

function parsed({ file, text }: ConfigText): Entry {
  try {
    return plain(parse(text, { integersAsBigInt: "asNeeded" }));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw notReadable({ file, line: error.line, problem: "This is not valid TOML." });
  }
}

function set(config: ConfigText, path: EntryPath, entry: Entry): string {
  const { text } = config;
  const lineEnd = lineEndOf(text);
  const table = stringify({ [path.container]: { [path.name]: entry } })
    .trimEnd()
    .replaceAll("\n", lineEnd);
  const [first, ...others] = sectionsOf(text, path);
  if (first !== undefined) {
    const rest = others.toReversed().reduce(cut, text);
    const ended = rest.slice(first.from, first.to).endsWith("\n") ? lineEnd : "";
    return rest.slice(0, first.from) + table + ended + rest.slice(first.to);
  }
  if (text === "") return table + lineEnd;
  // A file without a final line end stays without one, so that removal restores the exact bytes.
  return text.endsWith("\n") ? text + lineEnd + table + lineEnd : text + lineEnd + lineEnd + table;
}

/** Includes the blank line before the section, or the line ends that were added with it. */
function cut(text: string, { from, to }: Section): string {
  const after = text.slice(to);
  const wasUnended = after === "" && !text.endsWith("\n");
  const blank = wasUnended ? /(?:\r?\n){1,2}$/ : /(?<=\n)\r?\n$/;
  return text.slice(0, from).replace(blank, "") + after;
}

interface Section {
  from: number;
  to: number;
}

/**
 * From a header of our entry to its last line that is neither blank nor a comment; later comments belong to the next
 * table.
 */
function sectionsOf(text: string, { container, name }: EntryPath): Section[] {
  const sections: Section[] = [];
  let open: Section | undefined;
  let offset = 0;
  for (const line of text.split(/(?<=\n)/)) {
    const next = offset + line.length;
    const header = headerPath(line);
    if (header !== undefined) {
      open = header[0] === container && header[1] === name ? { from: offset, to: next } : undefined;
      if (open !== undefined) sections.push(open);
    } else if (open !== undefined && !/^\s*(?:#|$)/.test(line)) {
      open.to = next;
    }
    offset = next;
  }
  return sections;
}

/** A header alone is a valid document, so the parser itself determines its path. */
function headerPath(line: string): string[] | undefined {
  if (!/^\s*\[/.test(line)) return undefined;
  try {
    const path: string[] = [];
    let table: unknown = parse(line.trim());
    while (isRecord(table) || Array.isArray(table)) {
      const inner: unknown = Array.isArray(table) ? table[0] : table;
      const [key] = Object.keys(isRecord(inner) ? inner : {});
      if (key === undefined || !isRecord(inner)) break;
      path.push(key);
      table = inner[key];
    }
    return path;
  } catch {
    return undefined;
  }
}
