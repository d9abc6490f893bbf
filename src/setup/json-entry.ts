/** Edits an entry in JSON with comments as text, so that comments, order, indentation and line ends stay. */

import { createScanner, getNodeValue, type Node, type ParseError, parseTree } from "jsonc-parser";
import {
  type ConfigText,
  createFormat,
  type Entry,
  type EntryPath,
  lineEndOf,
  notReadable,
  plain,
} from "./entry-format.ts";

interface Edit {
  from: number;
  to: number;
  text: string;
}

export const jsonFormat = createFormat({ parse: valueOf, set, remove });

/** Sets a value at the top level of the file. Returns undefined if the name exists and is not to be replaced. */
export function withTopLevelValue(
  config: ConfigText,
  [name, value]: [string, unknown],
  { replace }: { replace: boolean },
): string | undefined {
  const root = rootOf(config);
  const style = styleOf(config.text, root);
  if (root === undefined) return `${config.text}${style.write({ [name]: value }, "")}${style.lineEnd}`;
  const existing = valueNode(root, name);
  if (existing !== undefined) {
    const edit = { from: existing.offset, to: end(existing), text: JSON.stringify(value) };
    return replace ? apply(config.text, [edit]) : undefined;
  }
  return apply(config.text, insertion({ text: config.text, object: root, style }, [name, value]));
}

function valueOf(config: ConfigText): Entry {
  const root = rootOf(config);
  return root === undefined ? {} : plain(getNodeValue(root));
}

function rootOf({ file, text }: ConfigText): Node | undefined {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const lineAt = (offset: number): number => text.slice(0, offset).split("\n").length;
  const [first] = errors;
  if (first !== undefined) throw notReadable({ file, line: lineAt(first.offset), problem: "This is not valid JSON." });
  if (root !== undefined && root.type !== "object") {
    throw notReadable({ file, line: lineAt(root.offset), problem: "An object was expected here." });
  }
  return root;
}

function set(config: ConfigText, { container, name }: EntryPath, entry: Entry): string {
  const { text, file } = config;
  const root = rootOf(config);
  const style = styleOf(text, root);
  if (root === undefined) return `${text}${style.write({ [container]: { [name]: entry } }, "")}${style.lineEnd}`;
  const servers = valueNode(root, container);
  if (servers === undefined)
    return apply(text, insertion({ text, object: root, style }, [container, { [name]: entry }]));
  if (servers.type !== "object") {
    throw notReadable({ file, problem: `"${container}" is not an object of servers.` });
  }
  const existing = valueNode(servers, name);
  if (existing === undefined) return apply(text, insertion({ text, object: servers, style }, [name, entry]));
  const written = style.write(entry, indentAt(text, existing.offset));
  return apply(text, [{ from: existing.offset, to: end(existing), text: written }]);
}

function remove(config: ConfigText, { container, name }: EntryPath): string {
  const { text } = config;
  const root = rootOf(config);
  const servers = root === undefined ? undefined : valueNode(root, container);
  const members = servers?.children ?? [];
  // Of duplicate names the last one counts, as for JSON parsers.
  const index = members.findLastIndex((member) => member.children?.[0]?.value === name);
  const member = members[index];
  if (servers === undefined || member === undefined) return text;
  const before = text.slice(0, member.offset).trimEnd().length;
  const comma = commaAfter(text, member);
  if (comma !== undefined) return apply(text, [{ from: before, to: comma + 1, text: "" }]);
  const previous = members[index - 1];
  if (previous !== undefined) {
    const dangling = commaAfter(text, previous) ?? end(previous);
    return apply(text, [
      { from: dangling, to: dangling + 1, text: "" },
      { from: before, to: end(member), text: "" },
    ]);
  }
  const rest = text.slice(end(member), end(servers) - 1);
  const to = rest.trim() === "" && text[before - 1] === "{" ? end(servers) - 1 : end(member);
  return apply(text, [{ from: before, to, text: "" }]);
}

/** The edits that append a member to an object; nothing existing is replaced. */
function insertion(
  { text, object, style }: { text: string; object: Node; style: Style },
  [name, value]: [string, unknown],
): Edit[] {
  const at = (position: number, inserted: string): Edit => ({ from: position, to: position, text: inserted });
  const members = object.children ?? [];
  const [first, last] = [members[0], members.at(-1)];
  const closing = indentAt(text, object.offset);
  const multiline = first === undefined ? !style.compact : text.slice(object.offset, first.offset).includes("\n");
  const indent = first === undefined ? closing + style.unit : indentAt(text, first.offset);
  const key = `${JSON.stringify(name)}:`;
  const member = multiline ? `${key} ${style.write(value, indent)}` : `${key}${JSON.stringify(value)}`;
  const lead = multiline ? style.lineEnd + indent : "";
  if (last === undefined) {
    const offset = afterComments(text, object.offset + 1);
    const closed = text.slice(offset, end(object) - 1).includes("\n") || !multiline;
    return [at(offset, `${lead}${member}${closed ? "" : style.lineEnd + closing}`)];
  }
  const comma = commaAfter(text, last);
  const offset = afterComments(text, comma === undefined ? end(last) : comma + 1);
  return comma === undefined ? [at(end(last), ","), at(offset, `${lead}${member}`)] : [at(offset, `${lead}${member},`)];
}

interface Style {
  lineEnd: string;
  unit: string;
  /** All on one line, as programs write it. */
  compact: boolean;
  write(value: unknown, indent: string): string;
}

function styleOf(text: string, root: Node | undefined): Style {
  const first = root?.children?.[0];
  const compact = first !== undefined && !text.trim().includes("\n");
  const unit = (first === undefined ? "" : indentAt(text, first.offset)) || "  ";
  const lineEnd = lineEndOf(text);
  const write = (value: unknown, indent: string): string =>
    compact ? JSON.stringify(value) : JSON.stringify(value, null, unit).replaceAll("\n", lineEnd + indent);
  return { lineEnd, unit, compact, write };
}

function apply(text: string, edits: Edit[]): string {
  // From the end, so that offsets stay valid; of two edits at one offset the first comes first.
  return edits
    .toReversed()
    .reduce((done, { from, to, text: part }) => done.slice(0, from) + part + done.slice(to), text);
}

const end = ({ offset, length }: Node): number => offset + length;

const valueNode = (object: Node, name: string): Node | undefined =>
  object.children?.findLast((member) => member.children?.[0]?.value === name)?.children?.[1];

function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? "";
}

// The scanner's token kinds are a const enum, which type stripping does not support.
const COMMA = 5;
const LINE_COMMENT = 12;
const BLOCK_COMMENT = 13;
const LINE_BREAK = 14;
const BLANKS = 15;

function commaAfter(text: string, node: Node): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(end(node));
  const kind: number = scanner.scan();
  return kind === COMMA ? scanner.getTokenOffset() : undefined;
}

/** The end of the comments on the same line, so that they stay with what they describe. */
function afterComments(text: string, from: number): number {
  const scanner = createScanner(text, false);
  scanner.setPosition(from);
  const next = (): number => scanner.scan();
  let offset = from;
  for (let kind = next(); kind !== LINE_BREAK; kind = next()) {
    if (kind === LINE_COMMENT || kind === BLOCK_COMMENT) offset = scanner.getPosition();
    else if (kind !== BLANKS) break;
  }
  return offset;
}
