/** Loads the configuration; each setting is checked separately. */

import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import { errorCodeOf } from "../platform/error-code.ts";
import { withoutComments } from "../platform/parse-json.ts";
import { configDirectory, prepareDirectory } from "./directory.ts";
import type { Environment } from "./environment.ts";
import { decoded, serverSecrets } from "./mcp-servers.ts";
import { REMOVED_SETTINGS, type Setting, SETTINGS, type SettingValues } from "./settings.ts";

export interface Config {
  settings: SettingValues;
  /** Absolute. Created with mode 0700 unless `configDirWritable` is false. */
  configDir: string;
  configDirWritable: boolean;
  databaseFile: string;
  /** If set, the state is stored there instead of in the file. */
  sharedDatabase: { url: string } | undefined;
  /** Vertex AI is selected by the SDK's own variables. */
  vertex: boolean;
  /** How many servers of this program are ancestors of this process; above 0 it must not run. */
  depth: number;
  home: string;
  /** Child processes inherit a filtered part of it. */
  environment: Environment;
  /** Secrets by name, for the redactor. */
  secrets: Record<string, string | undefined>;
  /** Problems with the values, logged once the log exists. */
  warnings: string[];
}

export interface ConfigSource {
  environment: Environment;
  flags?: Environment;
  platform?: NodeJS.Platform;
  home?: string;
}

/** Set by `demo` for the commands it runs: their runs end with the demo, so no command may refer to them later. */
export const DEMO_VARIABLE = "GEMINI_SEARCH_DEMO";

export const isDemo = ({ environment }: Pick<Config, "environment">): boolean => environment[DEMO_VARIABLE] === "true";

export function loadConfig(source: ConfigSource): Config {
  const { environment } = source;
  const home = source.home ?? homedir();
  const warnings: string[] = [];
  const configDir = configDirectory({ environment, platform: source.platform ?? process.platform, home });
  const configDirWritable = prepareDirectory(configDir);
  if (!configDirWritable) warnings.push(unwritable(configDir));
  const path = join(configDir, "config.json");
  const { entries, problem } = readConfigFile(path, warnings);
  warnings.push(...removedSettings([environment, entries]));
  const settings = readSettings([source.flags ?? {}, environment, entries], warnings);
  if (problem !== undefined) warnings.push(unreadable(path, problem, settings));
  const { GEMINI_SEARCH_DATABASE_URL: databaseUrl, GEMINI_SEARCH_TEMPLATES_DIR: templates } = settings;
  if (templates !== undefined && !existsSync(templates))
    warnings.push(`GEMINI_SEARCH_TEMPLATES_DIR: ${resolve(templates)} does not exist; the built-in files are used.`);
  return {
    settings,
    configDir,
    configDirWritable,
    databaseFile: resolve(configDir, settings.DEEP_RESEARCH_DB ?? "deep_research.db"),
    sharedDatabase: databaseUrl === undefined ? undefined : { url: databaseUrl },
    vertex: /^(1|true)$/i.test(environment["GOOGLE_GENAI_USE_VERTEXAI"] ?? ""),
    depth: Number.parseInt(environment["GEMINI_SEARCH_DEPTH"] ?? "0", 10) || 0,
    home,
    environment,
    secrets: {
      ...secretValues(settings),
      ...serverSecrets(settings.GEMINI_SEARCH_MCP_SERVERS, environment),
    },
    warnings,
  };
}

const unwritable = (directory: string): string =>
  `The config directory ${directory} cannot be created or written. Searches work, but new runs are not kept. Make it writable or set GEMINI_SEARCH_CONFIG_DIR.`;

const removedSettings = (layers: Environment[]): string[] =>
  Object.entries(REMOVED_SETTINGS)
    .filter(([name]) => layers.some((layer) => (layer[name] ?? "").trim() !== ""))
    .map(([name, instead]) => `${name} is no longer a setting and has no effect. ${instead}`);

/** More warnings would not help. */
const MAX_NAME_WARNINGS = 10;

interface ConfigFile {
  entries: Environment;
  /** Why the file is not used. */
  problem?: string;
}

/** `config.json` uses the same names as the environment. */
function readConfigFile(path: string, warnings: string[]): ConfigFile {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    const code = errorCodeOf(error);
    return code === "ENOENT" || code === "ENOTDIR" ? { entries: {} } : { entries: {}, problem: `${code}.` };
  }
  try {
    const parsed = z.record(z.string(), z.unknown()).parse(JSON.parse(withoutComments(decodedText(bytes))));
    return { entries: usableEntries(path, parsed, warnings) };
  } catch {
    return { entries: {}, problem: "it is not a JSON object." };
  }
}

/** Editors on Windows write a byte order mark or UTF-16. */
function decodedText(bytes: Buffer): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? "utf-16le" : "utf-8", { fatal: true }).decode(bytes);
}

/** Names the spending limit because users rely on it. */
const unreadable = (path: string, problem: string, { RESEARCH_CONFIRM_ABOVE_USD: limit }: SettingValues): string =>
  `${path} cannot be read: ${problem} None of its settings is used, including any spending limit: you are asked above $${/[\d.]+/.exec(limit)?.[0] ?? limit}. Correct the file and restart.`;

function usableEntries(path: string, entries: Record<string, unknown>, warnings: string[]): Environment {
  const unknown = Object.keys(entries).filter((name) => !isKnownName(name) && !Object.hasOwn(REMOVED_SETTINGS, name));
  for (const name of unknown.slice(0, MAX_NAME_WARNINGS)) {
    // Printed only if it looks like a name; otherwise it may be a secret.
    const shown = /^\w{1,60}$/.test(name) ? name : "A name in it";
    warnings.push(`${path}: ${shown} is not a setting; it is ignored.`);
  }
  if (unknown.length > MAX_NAME_WARNINGS)
    warnings.push(`${path}: ${unknown.length - MAX_NAME_WARNINGS} more names are ignored.`);
  const isUsable = ([name, value]: [string, unknown]): boolean => {
    if (["string", "number", "boolean"].includes(typeof value) || isJsonValue(name, value)) return true;
    if (isKnownName(name)) warnings.push(`${path}: ${name} has an invalid value; it is ignored.`);
    return false;
  };
  return Object.fromEntries(
    Object.entries(entries)
      .filter(isUsable)
      .map(([name, value]) => [name, isJsonValue(name, value) ? JSON.stringify(value) : String(value)]),
  );
}

const isJsonValue = (name: string, value: unknown): boolean =>
  typeof value === "object" && Object.entries(SETTINGS).some(([known, about]) => known === name && "isJson" in about);

const isKnownName = (name: string): boolean =>
  Object.entries(SETTINGS).some(([known, { aliases }]) => known === name || aliases?.includes(name));

function readSettings(layers: Environment[], warnings: string[]): SettingValues {
  const values: Record<string, unknown> = {};
  for (const [name, { schema, default: fallback, aliases = [], choices }] of Object.entries(SETTINGS) as [
    string,
    Setting<unknown>,
  ][]) {
    values[name] = fallback;
    // Layer by layer: an alias in the environment takes precedence over the name itself in the file.
    for (const candidate of layers.flatMap((layer) => [name, ...aliases].map((key) => ({ key, raw: layer[key] })))) {
      // A value of spaces counts as unset: as a number it would be 0, which means no limit for some settings and a
      // limit for others.
      if (candidate.raw === undefined || candidate.raw.trim() === "") continue;
      const parsed = schema().safeParse(candidate.raw);
      if (!parsed.success) {
        warnings.push(
          `${candidate.key} has an invalid value; the default (${JSON.stringify(fallback) ?? "unset"}) is used instead.${choices === undefined ? "" : ` ${choices}`}`,
        );
      } else if (parsed.data === undefined) {
        continue;
      } else {
        values[name] = parsed.data;
        // The schema clamped it. Numbers only: other values are normalised on purpose.
        if (typeof parsed.data === "number" && parsed.data !== Number(candidate.raw))
          warnings.push(`${candidate.key} is out of bounds; ${parsed.data} is used instead.`);
      }
      break;
    }
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each value passed its own schema or is its default
  return values as SettingValues;
}

function secretValues(settings: SettingValues): Record<string, string | undefined> {
  const { GEMINI_API_KEY, FIRECRAWL_API_KEY, MCP_AUTH_TOKEN, GEMINI_SEARCH_DATABASE_URL: url } = settings;
  return {
    GEMINI_API_KEY,
    FIRECRAWL_API_KEY,
    MCP_AUTH_TOKEN,
    ...(url === undefined ? {} : { GEMINI_SEARCH_DATABASE_URL: url, ...passwordsIn(url) }),
  };
}

/** Both percent-encoded and decoded. */
function passwordsIn(url: string): Record<string, string> {
  // Up to the last @, because an @ in the password need not be escaped.
  const spelled = /^[^:/]+:\/\/[^:@/]*:([^/?#]*)@/.exec(url)?.[1] ?? "";
  const inQuery = URL.canParse(url) ? (new URL(url).searchParams.get("password") ?? "") : "";
  return { "database password": decoded(spelled), "its password": spelled, "password of the database": inQuery };
}
