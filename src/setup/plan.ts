/** What init would do to one client's file: what stands there, what should, and the text that makes it so. */

import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../platform/is-record.ts";
import type { Client } from "./clients.ts";
import { BACKUP, type ConfigFile, readConfigFile } from "./config-file.ts";
import type { Entry, EntryFormat, EntryPlace } from "./entry-format.ts";
import { unifiedDiff } from "./unified-diff.ts";

/** `name taken`: by a server that is not ours. */
export type State = "not configured" | "configured" | "differs" | "name taken";

export interface Plan {
  state: State;
  config: ConfigFile;
  /** The whole text of the file afterwards. */
  text: string;
  /** Empty: there is nothing to do. */
  diff: string;
}

export interface PlanRequest {
  client: Client;
  file: string;
  /** Mode of a file that is made. */
  newMode: number;
  name: string;
  /** Undefined: it is to be taken out. */
  entry: Entry | undefined;
  /** The address of a server of ours, where it is not on this machine. */
  url?: string | undefined;
  /** What the entry says about the token replaces what is there: the user asked for this very value. */
  renewToken?: boolean;
}

export async function planChange(request: PlanRequest): Promise<Plan> {
  const { client, file, newMode, name, entry } = request;
  const config = await readConfigFile(file, newMode);
  const format = await formatOf(client);
  const place = { container: client.container, name };
  const found = format.read(config, place);
  const wanted = entry === undefined ? undefined : merge(found, entry, request);
  const state = stateOf(found, wanted ?? found, request);
  const text =
    entry === undefined
      ? await textWithout(config, format, place)
      : state === "configured"
        ? config.text
        : format.set(config, place, wanted ?? entry);
  const known = new Set([...openValues(entry), ...(isOurs(found, request.url) ? launchOf(found) : [])]);
  return { state, config, text, diff: unifiedDiff({ file, before: config.text, after: text, known }) };
}

/** A reference such as ${KEY} is no secret; a token that is to be written is one. */
const REFERENCE = /^(?:Bearer )?\$\{?[\w:-]+\}?$/;
const HOLDS_SECRETS = new Set(["env", "headers", "http_headers"]);

/** What of an entry that we make may be shown. */
function openValues(value: unknown, key = ""): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.entries(value).flatMap(([name, part]) => openValues(part, name));
  return HOLDS_SECRETS.has(key) ? inner.filter((text) => REFERENCE.test(text)) : inner;
}

/** What of an entry of ours that stands there may be shown: how it was started or reached, not what the user added. */
const launchOf = (found: Entry): string[] =>
  openValues(Object.fromEntries(Object.entries(found).filter(([key]) => OURS.has(key))));

/** Loaded where they are needed: each brings a parser. */
async function formatOf({ format }: Client): Promise<EntryFormat> {
  if (format === "toml") return (await import("./toml-entry.ts")).tomlFormat;
  return (await import("./json-entry.ts")).jsonFormat;
}

function stateOf(found: unknown, wanted: unknown, { url }: PlanRequest): State {
  if (found === undefined) return "not configured";
  if (!isOurs(found, url)) return "name taken";
  return isDeepStrictEqual(found, wanted) ? "configured" : "differs";
}

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

function isOurs(found: unknown, known: string | undefined): found is Entry {
  if (!isRecord(found)) return false;
  const { command, args, url, httpUrl } = found;
  const address = url ?? httpUrl;
  if (typeof address === "string") {
    if (address === known) return true;
    const { hostname, pathname } = URL.canParse(address) ? new URL(address) : { hostname: "", pathname: "" };
    return LOOPBACK.has(hostname) && pathname === "/mcp";
  }
  return [command, ...(Array.isArray(args) ? args : [])].some(
    (part) => typeof part === "string" && part.includes("gemini-search-mcp"),
  );
}

/** How a server is reached is ours to say; what else the user has set for it stays. */
const OURS = new Set(["type", "command", "args", "url"]);
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

/** The very bytes from before where a kept copy has them: an empty table was there, or was not, for a reason. */
async function textWithout(config: ConfigFile, format: EntryFormat, place: EntryPlace): Promise<string> {
  const found = format.read(config, place);
  if (found === undefined) return config.text;
  if (isRecord(found)) {
    for await (const kept of keptTexts(config)) {
      try {
        const { file } = config;
        if (format.read({ file, text: kept }, place) !== undefined) continue;
        if (format.set({ file, text: kept }, place, found) === config.text) return kept;
      } catch {
        // A copy that does not parse cannot be what the file was made from.
      }
    }
  }
  return format.remove(config, place);
}

async function* keptTexts({ file, mark }: ConfigFile): AsyncGenerator<string> {
  const folder = dirname(file);
  const names = await readdir(folder).catch(() => []);
  const kept = names
    .filter((name) => name.startsWith(basename(file) + BACKUP))
    .toSorted()
    .toReversed();
  for (const name of kept) {
    const text = await readFile(join(folder, name), "utf8").catch(() => undefined);
    if (text?.startsWith(mark) === true) yield text.slice(mark.length);
  }
}
