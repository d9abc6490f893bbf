/**
 * Fuzz target: a hostile environment or config.json invalidates only its own values, and no value is printed (B1, T9).
 */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, type ParseError } from "jsonc-parser";
import { loadConfig } from "../../src/config/config.ts";
import { isRecord } from "../../src/platform/is-record.ts";
import { SETTINGS } from "../../src/config/settings.ts";
import { type FuzzTarget, must, mustBeUnpolluted, mustBeVisible } from "./target.ts";

const MAX_WARNING_CHARACTERS = 20_000;

export const configLoader: FuzzTarget = {
  name: "config",
  seeds: [
    '{"GEMINI_API_KEY":"secret-in-file","MCP_SERVER_PORT":8080,"DEBUG":true,"NOT_A_SETTING":"x"}',
    "MCP_SERVER_PORT=80\nDEBUG=yes\nGEMINI_SEARCH_DEPTH=0\nMCP_ALLOWED_HOSTS=a, b,,\nGEMINI_API_KEY=YOUR_API_KEY_HERE",
    "RESEARCH_MAX_RPS=1e999\nJSON_MAX_RETRIES=0x3\nMCP_RATE_LIMIT_PER_MINUTE= \nLOG_FORMAT=json\nGOOGLE_GEMINI_BASE_URL=http://x",
    '{"__proto__":{"DEBUG":"true"},"constructor":"x","DEBUG":{"a":1}}',
    "GEMINI_SEARCH_TIMEOUT=-1\nDEEP_RESEARCH_DB=../../x.db\nSEARCH_BACKEND=cli",
  ],
  words: [
    ...Object.keys(SETTINGS),
    "GOOGLE_API_KEY",
    "SECONDARY_GEMINI_MODEL",
    "1e999",
    "NaN",
    "0x10",
    "Infinity",
    "true",
    '":"',
    "=",
    "\n",
    '":',
    "file:///x",
  ],
  open: () => {
    const directory = mkdtempSync(join(tmpdir(), "gemini-search-fuzz-"));
    return {
      check: (input) => checkConfig(input, directory),
      close: () => rmSync(directory, { recursive: true, force: true }),
    };
  },
};

/** Reads the content as a config.json. */
export function loadableConfig(content: string): unknown {
  const directory = mkdtempSync(join(tmpdir(), "gemini-search-fuzz-"));
  try {
    writeFileSync(join(directory, "config.json"), content);
    return loadConfig({ environment: { GEMINI_SEARCH_CONFIG_DIR: directory }, home: directory });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Tries the text as the file and, if it has the form of one, as an environment. */
function checkConfig(input: string, directory: string): string {
  const file = join(directory, "config.json");
  writeFileSync(file, input);
  const lines = input
    .split("\n")
    .slice(0, 50)
    .map((line) => line.split("=", 2));
  const environment = {
    ...Object.fromEntries(lines.map(([name = "", value = ""]) => [name, value.replaceAll("\0", "")])),
    GEMINI_SEARCH_CONFIG_DIR: directory,
  };
  const { settings, warnings, depth, databaseFile } = loadConfig({ environment, home: directory });
  mustBeUnpolluted();
  must(Number.isFinite(depth), "the depth is a number.");
  must(databaseFile.startsWith("/"), "the database has an absolute path.");
  // As read back from a file, which cannot contain a lone surrogate.
  const content = withComments(Buffer.from(input).toString());
  const given = [environment, isRecord(content) ? content : {}].flatMap((layer) => Object.entries(layer));
  let changed = 0;
  for (const [name, { default: fallback, schema, aliases = [] }] of Object.entries<Described>(SETTINGS)) {
    const value: unknown = Reflect.get(settings, name);
    if (JSON.stringify(value) === JSON.stringify(fallback)) continue;
    changed += 1;
    const raw = given.filter(([key, text]) => [name, ...aliases].includes(key) && String(text).trim() !== "");
    const readings = raw.map(([, text]) => JSON.stringify(schema().safeParse(String(text)).data));
    must(readings.includes(JSON.stringify(value)), `${name} is what was set or the default.`);
    must(typeof value !== "number" || Number.isFinite(value), `${name} is a finite number.`);
  }
  mustWarnWell(warnings, given);
  return `${Math.min(4, changed)} ${Math.min(4, warnings.length)}`;
}

/** As the file may be written: with comments and trailing commas. */
function withComments(text: string): unknown {
  const errors: ParseError[] = [];
  try {
    const value: unknown = parse(text.replace(/^\uFEFF/, ""), errors, { allowTrailingComma: true });
    return errors.length > 0 ? undefined : value;
  } catch {
    // Nested too deeply for this parser.
    return undefined;
  }
}

interface Described {
  default: unknown;
  schema: () => { safeParse(raw: string): { data?: unknown } };
  aliases?: readonly string[];
}

function mustWarnWell(warnings: readonly string[], given: [string, unknown][]): void {
  must(warnings.join("\n").length < MAX_WARNING_CHARACTERS, "warnings do not flood the log.");
  // The name of a setting or a part of it is no secret, wherever it is written.
  const isName = (value: string): boolean => Object.keys(SETTINGS).some((name) => name.includes(value));
  const secrets = given.filter(
    ([name, value]) => /KEY|TOKEN/.test(name) && String(value).length > 12 && !isName(String(value)),
  );
  for (const warning of warnings) {
    mustBeVisible(warning, "a warning");
    must(!warning.includes("\n"), "a warning is one line.");
    for (const [, value] of secrets) must(!warning.includes(String(value)), "T9: no value is printed.");
  }
}
