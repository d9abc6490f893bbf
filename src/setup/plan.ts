/**
 * Plans the change of one client's file: its current state, the wanted entry, the resulting text, and the change as a
 * unified diff in which the values of other entries are masked.
 */

import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../platform/is-record.ts";
import type { Client } from "./clients.ts";
import { type ConfigFile, readConfigFile } from "./config-file.ts";
import type { Entry, EntryFormat } from "./entry-format.ts";

/** `name taken`: by another server. */
export type State = "not configured" | "configured" | "differs" | "name taken";

export interface Plan {
  state: State;
  config: ConfigFile;
  /** The whole text of the file after the change. */
  text: string;
  /** Empty if there is nothing to change. */
  diff: string;
}

export interface PlanRequest {
  client: Client;
  file: string;
  newMode: number;
  name: string;
  /** Undefined to remove the entry. */
  entry: Entry | undefined;
  /** The URL of our server if it is not on this machine. */
  url?: string | undefined;
  /** Replaces an existing token, because the user asked for this value. */
  renewToken?: boolean;
}

export async function planChange(request: PlanRequest): Promise<Plan> {
  const { client, file, newMode, name, entry } = request;
  const config = await readConfigFile(file, newMode);
  const format = await formatOf(client);
  const path = { container: client.container, name };
  const found = format.read(config, path);
  const wanted = entry === undefined ? undefined : merge(found, entry, request);
  const state = stateOf(found, wanted ?? found, request);
  const text =
    entry === undefined
      ? format.remove(config, path)
      : state === "configured"
        ? config.text
        : format.set(config, path, wanted ?? entry);
  const known = new Set([...showableValues(entry), ...(isOurs(found, request.url) ? showableLaunch(found) : [])]);
  return { state, config, text, diff: unifiedDiff({ file, before: config.text, after: text, known }) };
}

/** A reference such as ${KEY} is not a secret; a token is. */
const REFERENCE = /^(?:Bearer )?(?:\$\{?[\w:-]+\}?|\{env:\w+\})$/;
/** The variables of our new entry are a reference to the key and a directory. */
const HOLDS_SECRETS = new Set(["headers", "http_headers"]);

/** The values of our new entry that may be shown. */
function showableValues(value: unknown, key = ""): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.entries(value).flatMap(([name, part]) => showableValues(part, name));
  return HOLDS_SECRETS.has(key) ? inner.filter((text) => REFERENCE.test(text)) : inner;
}

/**
 * The values of our existing entry that may be shown: how the server is started or reached, not what the user added.
 */
const showableLaunch = (found: Entry): string[] =>
  showableValues(Object.fromEntries(Object.entries(found).filter(([key]) => OURS.has(key))));

/** Imported on demand because each format needs a parser. */
export async function formatOf({ format }: Client): Promise<EntryFormat> {
  if (format === "toml") return (await import("./toml-entry.ts")).tomlFormat;
  return (await import("./json-entry.ts")).jsonFormat;
}

function stateOf(found: unknown, wanted: unknown, { url }: PlanRequest): State {
  if (found === undefined) return "not configured";
  if (!isOurs(found, url)) return "name taken";
  return isDeepStrictEqual(found, wanted) ? "configured" : "differs";
}

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

export function isOurs(found: unknown, known?: string): found is Entry {
  if (!isRecord(found)) return false;
  const { command, args, url, httpUrl, serverUrl } = found;
  const address = url ?? httpUrl ?? serverUrl;
  if (typeof address === "string") {
    if (address === known) return true;
    const { hostname, pathname } = URL.canParse(address) ? new URL(address) : { hostname: "", pathname: "" };
    return LOOPBACK.has(hostname) && pathname === "/mcp";
  }
  return [command, args].flat().some((part) => typeof part === "string" && part.includes("gemini-search-mcp"));
}

/** We decide how a server is reached; other settings of the user stay. */
const OURS = new Set(["type", "command", "args", "url", "serverUrl"]);
const TOKENS = new Set(["headers", "http_headers", "bearer_token_env_var"]);

function merge(found: unknown, entry: Entry, { url, renewToken }: PlanRequest): Entry {
  if (!isOurs(found, url) || Object.hasOwn(found, "command") !== Object.hasOwn(entry, "command")) return entry;
  const kept = Object.entries(found).filter(([key]) => renewToken !== true || !TOKENS.has(key));
  const merged: Entry = Object.fromEntries(kept);
  for (const [key, value] of Object.entries(entry)) {
    const theirs = merged[key];
    if (theirs === undefined || OURS.has(key)) merged[key] = value;
    else if (isRecord(theirs) && isRecord(value)) merged[key] = { ...value, ...theirs };
  }
  return merged;
}

const CONTEXT_LINES = 3;

interface Change {
  file: string;
  before: string;
  after: string;
  /** The values that may be shown: those of our own entry. */
  known: ReadonlySet<string>;
}

/** The texts differ in one range only, which is all that one entry can change. */
export function unifiedDiff({ file, before, after, known }: Change): string {
  if (before === after) return "";
  const [old, now] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < Math.min(old.length, now.length) && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  // Masked as a whole, because a string may span lines; a difference in masked text still counts as a change.
  const [oldShown, nowShown] = [linesOf(coverValues(before, known)), linesOf(coverValues(after, known))];
  const start = Math.max(0, head - CONTEXT_LINES);
  const around = Math.min(CONTEXT_LINES, tail);
  const [oldEnd, nowEnd] = [old.length - tail, now.length - tail];
  const range = (length: number, end: number): string => `${length === 0 ? 0 : start + 1},${end + around - start}`;
  const lines = [
    `--- ${file}`,
    `+++ ${file}`,
    `@@ -${range(old.length, oldEnd)} +${range(now.length, nowEnd)} @@`,
    ...oldShown.slice(start, head).map((line) => ` ${line}`),
    ...oldShown.slice(head, oldEnd).map((line) => `-${line}`),
    ...nowShown.slice(head, nowEnd).map((line) => `+${line}`),
    ...nowShown.slice(nowEnd, nowEnd + around).map((line) => ` ${line}`),
  ];
  return lines.map((line) => line.slice(0, MAX_LINE_CHARACTERS)).join("\n");
}

/** A file on one line would fill the terminal. */
const MAX_LINE_CHARACTERS = 2_000;

const linesOf = (text: string): string[] => {
  const lines = text.split(/\r?\n/);
  // A final line end does not start another line.
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
};

/** Strings of both formats, including multi-line ones, and comments, which may contain an old entry. */
const STRING_OR_COMMENT =
  /"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*"?|'[^'\r\n]*'?|\/\*[^]*?(?:\*\/|$)|(?:\/\/|#)[^\r\n]*/g;

/** Any value may be a secret, so all values except `known` ones are masked. Line breaks stay. */
function coverValues(text: string, known: ReadonlySet<string>): string {
  return text.replaceAll(STRING_OR_COMMENT, (found, at: number) => {
    const isQuoted = found.startsWith('"') || found.startsWith("'");
    if (isQuoted && (isName(text, at + found.length) || known.has(valueOf(found)))) return found;
    const [, start = "", inside = "", end = ""] = PARTS.exec(found) ?? [];
    return start + inside.replaceAll(/[^\r\n]+/g, "…") + end;
  });
}

const PARTS = /^("""|'''|"|'|\/\*|\/\/|#)([^]*?)(\1|\*\/)?$/;

const isName = (text: string, end: number): boolean => /^[ \t]*[:=]/.test(text.slice(end, end + 80));

function valueOf(quoted: string): string {
  if (!quoted.startsWith('"')) return quoted.slice(1, -1);
  try {
    const value: unknown = JSON.parse(quoted);
    return typeof value === "string" ? value : quoted;
  } catch {
    return quoted;
  }
}
