/** The directories of settings and state on each system, and the parsing of settings. */

import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { type ConfigSource, loadConfig } from "./config.ts";
import { createRedactor } from "../platform/redact.ts";

let home = "";

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "config-"));
  return () => rmSync(home, { recursive: true });
});

const load = (source: Partial<ConfigSource> = {}) =>
  loadConfig({ environment: {}, platform: "linux", home, ...source });

describe("the config directory (B5)", () => {
  test("is where each platform keeps such directories, and is private", () => {
    const linux = join(home, ".config", "gemini-search-mcp");
    expect(load().configDir).toBe(linux);
    expect(statSync(linux).mode & 0o777).toBe(0o700);
    expect(load({ platform: "darwin" }).configDir).toBe(
      join(home, "Library", "Application Support", "gemini-search-mcp"),
    );
    const APPDATA = join(home, "Roaming");
    expect(load({ platform: "win32", environment: { APPDATA } }).configDir).toBe(join(APPDATA, "gemini-search-mcp"));
    expect(load({ platform: "win32" }).configDir).toBe(join(home, "AppData", "Roaming", "gemini-search-mcp"));
  });

  test("follows XDG_CONFIG_HOME when that is absolute, as its specification says", () => {
    const XDG_CONFIG_HOME = join(home, "xdg");
    expect(load({ environment: { XDG_CONFIG_HOME } }).configDir).toBe(join(XDG_CONFIG_HOME, "gemini-search-mcp"));
    const relative = load({ environment: { XDG_CONFIG_HOME: "xdg" } });
    expect(relative.configDir).toBe(join(home, ".config", "gemini-search-mcp"));
  });

  test("is the one of GEMINI_SEARCH_CONFIG_DIR on every system", () => {
    const GEMINI_SEARCH_CONFIG_DIR = join(home, "mine");
    for (const platform of ["linux", "darwin", "win32"] as const) {
      const environment = { GEMINI_SEARCH_CONFIG_DIR, XDG_CONFIG_HOME: home, APPDATA: home };
      expect(load({ platform, environment })).toMatchObject({ configDir: GEMINI_SEARCH_CONFIG_DIR, warnings: [] });
    }
  });

  test("that cannot be created is a warning, and the start continues", () => {
    writeFileSync(join(home, "file"), "");
    const config = load({ environment: { GEMINI_SEARCH_CONFIG_DIR: join(home, "file", "below") } });
    expect(config.configDirWritable).toBe(false);
    expect(config.warnings).toHaveLength(1);
  });

  test("keeps the mode that its owner gave it", () => {
    const GEMINI_SEARCH_CONFIG_DIR = join(home, "mine");
    mkdirSync(GEMINI_SEARCH_CONFIG_DIR);
    chmodSync(GEMINI_SEARCH_CONFIG_DIR, 0o750);
    load({ environment: { GEMINI_SEARCH_CONFIG_DIR } });
    expect(statSync(GEMINI_SEARCH_CONFIG_DIR).mode & 0o777).toBe(0o750);
  });
});

test("the database is in the config directory, even under another name (B6)", () => {
  const { configDir, databaseFile } = load();
  expect(databaseFile).toBe(join(configDir, "deep_research.db"));
  expect(load({ environment: { DEEP_RESEARCH_DB: "other.db" } }).databaseFile).toBe(join(configDir, "other.db"));
  expect(load({ environment: { DEEP_RESEARCH_DB: "/data/x.db" } }).databaseFile).toBe("/data/x.db");
});

describe("a value (B1, B3, B4, B7)", () => {
  test.each([
    ["DEEP_SEARCH_MAX_ITERATIONS", "", 5],
    ["DEEP_SEARCH_MAX_ITERATIONS", "20", 20],
    ["GEMINI_SEARCH_TIMEOUT", undefined, 300_000],
    ["GEMINI_SEARCH_TIMEOUT", "60000", 60_000],
    ["JSON_MAX_RETRIES", "10", 10],
    ["PROGRESS_LOG_INTERVAL", undefined, 30_000],
    ["DEBUG", "1", true],
    ["DEBUG", "false", false],
    ["GEMINI_MODEL", "  name ", "name"],
    ["GEMINI_API_KEY", "YOUR_API_KEY_HERE", undefined],
    ["GEMINI_API_KEY", "$GEMINI_API_KEY", undefined],
    ["GEMINI_API_KEY", "${GEMINI_API_KEY:-}", undefined],
    ["GEMINI_API_KEY", "${env:GEMINI_API_KEY}", undefined],
    ["GEMINI_API_KEY", " key-with-spaces ", "key-with-spaces"],
  ] as const)("%s=%s is %s", (name, value, expected) => {
    const { settings, warnings } = load({ environment: { [name]: value } });
    expect(settings[name]).toBe(expected);
    expect(warnings).toEqual([]);
  });

  test.each([
    ["DEEP_SEARCH_MAX_ITERATIONS", "2.5", 5],
    ["JSON_MAX_RETRIES", "0", 3],
    ["JSON_MAX_RETRIES", "11", 3],
    ["GEMINI_SEARCH_TIMEOUT", "soon", 300_000],
    ["SEARCH_BACKEND", "browser", "auto"],
    ["GOOGLE_GEMINI_BASE_URL", "file:///etc/passwd", undefined],
  ] as const)("%s=%s is rejected by name, and the default is used", (name, value, expected) => {
    const { settings, warnings } = load({ environment: { [name]: value } });
    expect(settings[name]).toBe(expected);
    expect(warnings).toEqual([expect.stringMatching(new RegExp(`^${name} has an invalid value`))]);
    expect(warnings[0]).not.toContain(value);
  });
});

test.each([
  ["21", 20],
  ["1000000", 20],
  ["1", 2],
  ["0", 2],
])("DEEP_SEARCH_MAX_ITERATIONS=%s becomes %s with a warning (B3)", (value, expected) => {
  const { settings, warnings } = load({ environment: { DEEP_SEARCH_MAX_ITERATIONS: value } });
  expect(settings.DEEP_SEARCH_MAX_ITERATIONS).toBe(expected);
  expect(warnings).toEqual([`DEEP_SEARCH_MAX_ITERATIONS is out of bounds; ${expected} is used instead.`]);
});

test("every configured secret is known to the redactor, wherever it was set (T9)", () => {
  const { configDir } = load();
  writeFileSync(join(configDir, "config.json"), JSON.stringify({ FIRECRAWL_API_KEY: "from-the-file" }));
  const { secrets } = load({ environment: { GOOGLE_API_KEY: "by-its-other-name", MCP_AUTH_TOKEN: "of-the-server" } });
  expect(secrets).toEqual({
    GEMINI_API_KEY: "by-its-other-name",
    FIRECRAWL_API_KEY: "from-the-file",
    MCP_AUTH_TOKEN: "of-the-server",
  });
});

test.each([
  ["postgres://user:plain-password@host/db", "plain-password"],
  ["postgres://user:p%40ss-word@host/db", "p@ss-word"],
  ["postgres://user:p@ss-word@host/db", "p@ss-word"],
  ["postgres://host/db?user=me&password=in-the-query", "in-the-query"],
])("the password in %s is a secret of its own (T9)", (url, password) => {
  const { secrets } = load({ environment: { GEMINI_SEARCH_DATABASE_URL: url } });
  expect(Object.values(secrets)).toEqual(expect.arrayContaining([url, password]));
});

test("a value of spaces only is unset: as a number it would be 0, which turns limits off (B1)", () => {
  const { settings, warnings } = load({ environment: { MCP_RATE_LIMIT_PER_MINUTE: " ", MCP_SERVER_PORT: "\t" } });
  expect(settings).toMatchObject({ MCP_RATE_LIMIT_PER_MINUTE: 600, MCP_SERVER_PORT: 3_000 });
  expect(warnings).toEqual([]);
});

test.each([
  ["UTF-8 with a byte-order mark", (text: string) => `\uFEFF${text}`],
  ["UTF-16, as Windows writes it", (text: string) => Buffer.from(`\uFEFF${text}`, "utf16le")],
])("a config file in %s is read whole, the spending limit included (B1)", (_, encode) => {
  const { settings, warnings } = load(withFile(encode('{ "RESEARCH_CONFIRM_ABOVE_USD": 1, "GEMINI_MODEL": "mine" }')));
  expect(settings).toMatchObject({ RESEARCH_CONFIRM_ABOVE_USD: "1", GEMINI_MODEL: "mine" });
  expect(warnings).toEqual([]);
});

test("an invalid entry of the config file does not affect the others (B1)", () => {
  const { settings, warnings } = load(withFile('{ "GEMINI_MODEL": ["a"], "RESEARCH_CONFIRM_ABOVE_USD": 0.5 }'));
  expect(settings).toMatchObject({ GEMINI_MODEL: undefined, RESEARCH_CONFIRM_ABOVE_USD: "0.5" });
  expect(warnings).toEqual([expect.stringMatching(/: GEMINI_MODEL has an invalid value/)]);
});

test.each([
  ["cannot be parsed", '{ "RESEARCH_CONFIRM_ABOVE_USD": 1, '],
  ["is no object", "[1]"],
  ["is nested without end", `{"a":${"[".repeat(100_000)}`],
  ["is a folder", undefined],
])("a config file that %s never drops the spending limit silently (B1)", (_, content) => {
  const source = withFile(content);
  const { settings, warnings } = load(source);
  expect(settings.RESEARCH_CONFIRM_ABOVE_USD).toBe("5");
  expect(warnings).toEqual([
    expect.stringMatching(/config\.json cannot be read.* None of its settings is used.*asked above \$5/s),
  ]);
  const set = load({ environment: { ...source.environment, RESEARCH_CONFIRM_ABOVE_USD: "2" } });
  expect(set.warnings).toEqual([expect.stringMatching(/asked above \$2/)]);
  const both = load({ environment: { ...source.environment, RESEARCH_CONFIRM_ABOVE_USD: "$.5/12" } });
  expect(both.warnings).toEqual([expect.stringMatching(/asked above \$\.5\./)]);
});

test("config.json may contain comments and a trailing comma (B1)", () => {
  const content = `{
    // Asked above this: "5" by default
    "RESEARCH_CONFIRM_ABOVE_USD": "2", /* one , } comment */
    "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:1/a,}//b",
  }`;
  const { settings, warnings } = load(withFile(content));
  expect(warnings).toEqual([]);
  expect(settings.RESEARCH_CONFIRM_ABOVE_USD).toBe("2");
  expect(settings.GOOGLE_GEMINI_BASE_URL).toBe("http://127.0.0.1:1/a,}//b");
});

/** Creates a config directory with this config.json; without content, with a folder of that name. */
function withFile(content: string | Buffer | undefined): { environment: Record<string, string> } {
  const GEMINI_SEARCH_CONFIG_DIR = join(home, "mine");
  mkdirSync(GEMINI_SEARCH_CONFIG_DIR);
  const file = join(GEMINI_SEARCH_CONFIG_DIR, "config.json");
  if (content === undefined) mkdirSync(file);
  else writeFileSync(file, content);
  return { environment: { GEMINI_SEARCH_CONFIG_DIR } };
}

test("unknown settings are named in a few complete lines, however many there are (B1)", () => {
  const GEMINI_SEARCH_CONFIG_DIR = join(home, "mine");
  mkdirSync(GEMINI_SEARCH_CONFIG_DIR);
  const names = ["TYPO", "two\nlines \u202E", ...Array.from({ length: 500 }, (_unused, n) => `NAME_${n}`)];
  const content = JSON.stringify(Object.fromEntries(names.map((name) => [name, "x"])));
  writeFileSync(join(GEMINI_SEARCH_CONFIG_DIR, "config.json"), content);
  const { warnings } = load({ environment: { GEMINI_SEARCH_CONFIG_DIR } });
  expect(warnings).toHaveLength(11);
  expect(warnings[0]).toMatch(/: TYPO is not a setting; it is ignored\.$/);
  expect(warnings[1]).toMatch(/: A name in it is not a setting; it is ignored\.$/);
  expect(warnings.at(-1)).toMatch(/: 492 more names are ignored\.$/);
});

test("settings of earlier versions are named with what replaces them (B1)", () => {
  const { configDir } = load();
  writeFileSync(join(configDir, "config.json"), '{ "BUDGET_OWNER_MONTH_USD": 50, "MCP_ALLOWED_ORIGINS": "" }');
  const { warnings } = load({ environment: { BUDGET_OWNER_DAY_USD: "5/10", GEMINI_SEARCH_PROMPTS_DIR: " " } });
  expect(warnings).toEqual([
    "BUDGET_OWNER_DAY_USD is no longer a setting and has no effect. Set BUDGET_OWNER_USD, for example to `5/10 a day`.",
    expect.stringMatching(/^BUDGET_OWNER_MONTH_USD is no longer .+ `5 a day, 50 a month`\.$/),
  ]);
});

test("a directory of templates that does not exist is warned about (B9, N4)", () => {
  const warningsFor = (directory: string) => load({ environment: { GEMINI_SEARCH_TEMPLATES_DIR: directory } }).warnings;
  expect(warningsFor(join(home, "gone"))).toEqual([
    `GEMINI_SEARCH_TEMPLATES_DIR: ${join(home, "gone")} does not exist; the built-in files are used.`,
  ]);
  expect(warningsFor(home)).toEqual([]);
});

test("the password in the database's address is a secret, encoded and decoded (T9)", () => {
  const spelled = "s3cret%2Fwith%40signs";
  const asked = load({ environment: { GEMINI_SEARCH_DATABASE_URL: "postgres://ann@db/x?password=in-the-query" } });
  const { secrets, sharedDatabase } = load({
    environment: {
      GEMINI_SEARCH_DATABASE_URL: `postgres://ann:${spelled}@db:5432/x`,
      DATABASE_URL: "postgres://other",
    },
  });
  expect(sharedDatabase).toEqual({ url: `postgres://ann:${spelled}@db:5432/x` });
  const redact = createRedactor(secrets);
  expect(redact(`a ${sharedDatabase?.url} b`)).toBe("a [GEMINI_SEARCH_DATABASE_URL] b");
  expect(redact(`a ${spelled} b s3cret/with@signs c`)).not.toMatch(/s3cret/);
  expect(createRedactor(asked.secrets)("it was in-the-query")).not.toContain("in-the-query");
  expect(load({ environment: { DATABASE_URL: "postgres://other" } }).sharedDatabase).toBeUndefined();
});

test("a setting that is JSON may be an object in config.json (V3, B1)", () => {
  const GEMINI_SEARCH_MCP_SERVERS = { crm: { url: "https://crm.example.com/mcp" } };
  const { configDir } = load();
  writeFileSync(join(configDir, "config.json"), JSON.stringify({ GEMINI_SEARCH_MCP_SERVERS, GEMINI_MODEL: {} }));
  const { settings, warnings } = load();
  expect(settings.GEMINI_SEARCH_MCP_SERVERS).toEqual(GEMINI_SEARCH_MCP_SERVERS);
  expect(warnings).toEqual([expect.stringContaining("GEMINI_MODEL has an invalid value")]);
});
