/** An entry in TOML: our own tables are cut and written as text, and a real parser judges the outcome. */

import { parse, stringify, TomlError } from "smol-toml";
import { isRecord } from "../platform/is-record.ts";
import {
  boundDepth,
  checkEdit,
  type ConfigText,
  type Entry,
  type EntryFormat,
  entryIn,
  type EntryPlace,
  lineEndOf,
  notReadable,
  plain,
} from "./entry-format.ts";

export const tomlFormat: EntryFormat = boundDepth({
  read: (config, place) => entryIn(parsed(config), place),
  set: (config, place, entry) => checked(config, place, { text: set(config, place, entry), entry }),
  remove: (config, place) => checked(config, place, { text: remove(config, place), entry: undefined }),
});

function checked(
  config: ConfigText,
  place: EntryPlace,
  { text, entry }: { text: string; entry: Entry | undefined },
): string {
  const before = parsed(config);
  let after: Entry = {};
  try {
    after = parsed({ ...config, text });
  } catch {
    // An inline table cannot be added to by a header: the check below says so.
  }
  checkEdit(config.file, place, { before, after, entry });
  return text;
}

function parsed({ file, text }: ConfigText): Entry {
  try {
    return plain(parse(text, { integersAsBigInt: "asNeeded" }));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw notReadable({ file, line: error.line, problem: "This is not valid TOML." });
  }
}

function set(config: ConfigText, place: EntryPlace, entry: Entry): string {
  const { text } = config;
  const lineEnd = lineEndOf(text);
  const table = stringify({ [place.container]: { [place.name]: entry } })
    .trimEnd()
    .replaceAll("\n", lineEnd);
  const [first, ...others] = sectionsOf(text, place);
  if (first !== undefined) {
    const rest = others.toReversed().reduce(cut, text);
    const ended = rest.slice(first.from, first.to).endsWith("\n") ? lineEnd : "";
    return rest.slice(0, first.from) + table + ended + rest.slice(first.to);
  }
  if (text === "") return table + lineEnd;
  // Without a line end at the end before, without one after: so the removal gives back the very bytes.
  return text.endsWith("\n") ? text + lineEnd + table + lineEnd : text + lineEnd + lineEnd + table;
}

const remove = ({ text }: ConfigText, place: EntryPlace): string =>
  sectionsOf(text, place).toReversed().reduce(cut, text);

/** With the blank line before it, or the line ends that were added to reach it. */
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

/** From a header of ours to the last line that is neither blank nor a remark: what follows belongs to the next table. */
function sectionsOf(text: string, { container, name }: EntryPlace): Section[] {
  const sections: Section[] = [];
  let open: Section | undefined;
  let offset = 0;
  for (const line of text.split(/(?<=\n)/)) {
    const next = offset + line.length;
    const path = headerPath(line);
    if (path !== undefined) {
      open = path[0] === container && path[1] === name ? { from: offset, to: next } : undefined;
      if (open !== undefined) sections.push(open);
    } else if (open !== undefined && !/^\s*(?:#|$)/.test(line)) {
      open.to = next;
    }
    offset = next;
  }
  return sections;
}

/** A header alone is a whole document, so the parser itself can tell what it names. */
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
