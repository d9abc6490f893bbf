/** An entry in JSON with comments: edited as text, so that comments, order, indentation and line ends stay. */

import { createScanner, getNodeValue, type Node, type ParseError, parseTree } from "jsonc-parser";
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

interface Edit {
  from: number;
  to: number;
  text: string;
}

export const jsonFormat: EntryFormat = boundDepth({
  read: (config, place) => entryIn(valueOf(config), place),
  set: (config, place, entry) => checked(config, place, { text: set(config, place, entry), entry }),
  remove: (config, place) => checked(config, place, { text: remove(config, place), entry: undefined }),
});

/** The text with a value at the top level of the file; undefined: its name is there already, whatever its value. */
export function withTopLevelValue(config: ConfigText, [name, value]: [string, unknown]): string | undefined {
  const root = rootOf(config);
  const style = styleOf(config.text, root);
  if (root === undefined) return `${config.text}${style.write({ [name]: value }, "")}${style.lineEnd}`;
  if (valueNode(root, name) !== undefined) return undefined;
  return apply(config.text, insertion(config.text, root, style, [name, value]));
}

function checked(
  config: ConfigText,
  place: EntryPlace,
  { text, entry }: { text: string; entry: Entry | undefined },
): string {
  checkEdit(config.file, place, { before: valueOf(config), after: valueOf({ ...config, text }), entry });
  return text;
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

function set(config: ConfigText, { container, name }: EntryPlace, entry: Entry): string {
  const { text, file } = config;
  const root = rootOf(config);
  const style = styleOf(text, root);
  if (root === undefined) return `${text}${style.write({ [container]: { [name]: entry } }, "")}${style.lineEnd}`;
  const servers = valueNode(root, container);
  if (servers === undefined) return apply(text, insertion(text, root, style, [container, { [name]: entry }]));
  if (servers.type !== "object") {
    throw notReadable({ file, problem: `"${container}" is not an object of servers.` });
  }
  const existing = valueNode(servers, name);
  if (existing === undefined) return apply(text, insertion(text, servers, style, [name, entry]));
  const written = style.write(entry, indentAt(text, existing.offset));
  return apply(text, [{ from: existing.offset, to: end(existing), text: written }]);
}

function remove(config: ConfigText, { container, name }: EntryPlace): string {
  const { text } = config;
  const root = rootOf(config);
  const servers = root === undefined ? undefined : valueNode(root, container);
  const members = servers?.children ?? [];
  // A name that stands twice counts by its last, as for those who read the file.
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

/** What to insert, and where, so that a member comes last in an object. Nothing that is there is replaced. */
function insertion(text: string, object: Node, style: Style, [name, value]: [string, unknown]): Edit[] {
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
    const place = afterComments(text, object.offset + 1);
    const closed = text.slice(place, end(object) - 1).includes("\n") || !multiline;
    return [at(place, `${lead}${member}${closed ? "" : style.lineEnd + closing}`)];
  }
  const comma = commaAfter(text, last);
  const place = afterComments(text, comma === undefined ? end(last) : comma + 1);
  return comma === undefined ? [at(end(last), ","), at(place, `${lead}${member}`)] : [at(place, `${lead}${member},`)];
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
  // From the back, so that places keep their meaning; of two at one place the first named comes first.
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

// The scanner's kinds are a const enum, which type stripping cannot read.
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

/** Past what is said on the same line: a remark stays with what it is about. */
function afterComments(text: string, from: number): number {
  const scanner = createScanner(text, false);
  scanner.setPosition(from);
  const next = (): number => scanner.scan();
  let place = from;
  for (let kind = next(); kind !== LINE_BREAK; kind = next()) {
    if (kind === LINE_COMMENT || kind === BLOCK_COMMENT) place = scanner.getPosition();
    else if (kind !== BLANKS) break;
  }
  return place;
}
