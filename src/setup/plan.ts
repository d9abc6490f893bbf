/** Plans the change of one client's file: its current state, the wanted entry, the resulting text, and the change as shown. */

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
  /** Our entry as it is written or removed, without anything of others; empty if there is nothing to change. */
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
  const written = (shown: Entry): string => format.set({ file, text: "" }, path, shown);
  return { state, config, text, diff: text === config.text ? "" : changeText(request, written) };
}

/** Only our entry, as an empty file would have it: the rest of the file, and what the user added, may hold secrets. */
const changeText = ({ client, name, entry }: PlanRequest, written: (shown: Entry) => string): string =>
  entry === undefined
    ? `- ${client.container}.${name}`
    : written(withoutTokens(entry)).trimEnd().replaceAll(/^/gm, "+ ");

/** A reference such as ${KEY} is not a secret; a token is. */
const REFERENCE = /^(?:Bearer )?(?:\$\{?[\w:-]+\}?|\{env:\w+\})$/;

const withoutTokens = (entry: Entry): Entry =>
  Object.fromEntries(
    Object.entries(entry).map(([key, value]) => [key, TOKENS.has(key) && isRecord(value) ? masked(value) : value]),
  );

const masked = (headers: Entry): Entry =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, REFERENCE.test(String(value)) ? value : "…"]),
  );

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
