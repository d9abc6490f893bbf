import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type CallDirectoryRequest,
  createCliHome,
  mergeSettings,
  parseSettings,
  type Settings,
  settingsForCall,
} from "./home.ts";
import { createTestLog } from "../../../test/kit/log.ts";

let folder: string;
let home: string;
let logged: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cli-home-"));
  home = join(folder, "gemini-cli");
  logged = [];
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = () =>
  createCliHome({
    home,
    log: createTestLog((line) => logged.push(line)),
  });

const request = (more: Partial<CallDirectoryRequest> = {}): CallDirectoryRequest => ({
  purpose: "research",
  credentialFiles: [],
  managed: { signInType: "gemini-api-key", firecrawl: {} },
  ...more,
});

const settingsFile = (): string => join(home, ".gemini", "settings.json");
const settings = (): Record<string, unknown> => JSON.parse(readFileSync(settingsFile(), "utf8"));

test("a working directory is private, empty, and deleted when it is closed (C4)", async () => {
  const directory = await open().createCallDirectory(request());
  expect(readdirSync(directory.workingDirectory)).toEqual([]);
  for (const path of [directory.cliHome, directory.workingDirectory, directory.temporary])
    expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(statSync(join(directory.cliHome, ".gemini", "settings.json")).mode & 0o777).toBe(0o600);
  await directory.remove();
  expect(readdirSync(join(home, "calls"))).toEqual([]);
});

test("the settings file is written once, mode 0600, and again only when something changed (B8)", async () => {
  const cliHome = open();
  await (await cliHome.createCallDirectory(request())).remove();
  expect(statSync(settingsFile()).mode & 0o777).toBe(0o600);
  utimesSync(settingsFile(), 1, 1);
  await (await cliHome.createCallDirectory(request())).remove();
  expect(statSync(settingsFile()).mtimeMs).toBe(1_000);
  const managed = { signInType: "gemini-api-key", firecrawl: { apiKey: "fc-secret" } };
  await (await cliHome.createCallDirectory(request({ managed }))).remove();
  expect(settings()).toHaveProperty("mcpServers.firecrawl");
  expect(readFileSync(settingsFile(), "utf8")).not.toContain("fc-secret");
  await (await cliHome.createCallDirectory(request())).remove();
  expect(settings()).not.toHaveProperty("mcpServers");
  expect(readdirSync(join(home, ".gemini"))).toEqual(["settings.json"]);
});

test("the user's edits are kept and apply to the call, comments included (B8)", async () => {
  mkdirSync(join(home, ".gemini"), { recursive: true });
  writeFileSync(settingsFile(), '{\n  // slower line\n  "general": { "maxAttempts": 9 }\n}\n');
  const directory = await open().createCallDirectory(request());
  expect(settings()).toMatchObject({ general: { maxAttempts: 9, enableAutoUpdate: false } });
  expect(JSON.parse(readFileSync(join(directory.cliHome, ".gemini", "settings.json"), "utf8"))).toMatchObject({
    general: { maxAttempts: 9 },
  });
});

test("a settings file that cannot be read is set aside, and the log says so (B8)", async () => {
  mkdirSync(join(home, ".gemini"), { recursive: true });
  writeFileSync(settingsFile(), "{ my edits, ");
  await open().createCallDirectory(request());
  const kept = readdirSync(join(home, ".gemini")).find((name) => name.startsWith("settings.json.broken-"));
  expect(readFileSync(join(home, ".gemini", kept ?? ""), "utf8")).toBe("{ my edits, ");
  expect(settings()).toHaveProperty("tools.core");
  expect(logged.join("")).toMatch(/^\[WARN\] .*settings\.json is not valid JSON/);
});

test("processes that create working directories at the same time leave one whole settings file (B8)", async () => {
  const directories = await Promise.all(Array.from({ length: 20 }, () => open().createCallDirectory(request())));
  expect(settings()).toHaveProperty("tools.core");
  expect(readdirSync(join(home, ".gemini"))).toEqual(["settings.json"]);
  expect(new Set(directories.map(({ cliHome }) => cliHome)).size).toBe(20);
});

test("credential files are linked, so that a renewed token reaches the user's own file (C4)", async () => {
  const file = join(folder, "oauth_creds.json");
  writeFileSync(file, "old");
  const credentialFiles = [file, join(folder, "gone.json")];
  const directory = await open().createCallDirectory(request({ credentialFiles }));
  const linked = join(directory.cliHome, ".gemini", "oauth_creds.json");
  expect(lstatSync(linked).isSymbolicLink()).toBe(true);
  expect(readlinkSync(linked)).toBe(file);
  writeFileSync(linked, "new");
  await directory.remove();
  expect(readFileSync(file, "utf8")).toBe("new");
});

test("the compile cache of an earlier version is removed", async () => {
  const program = join(folder, "gemini");
  writeFileSync(program, "1");
  const first = await open().compileCache(program);
  writeFileSync(join(first, "code"), "x");
  expect(await open().compileCache(program)).toBe(first);
  writeFileSync(program, "another version");
  const second = await open().compileCache(program);
  expect(second).not.toBe(first);
  expect(readdirSync(join(home, "compile-cache"))).toHaveLength(1);
});

const NO_FIRECRAWL = { signInType: "gemini-api-key", firecrawl: {} };

test("the settings of a fresh home offer two web tools and nothing else (C4)", () => {
  expect(mergeSettings({}, NO_FIRECRAWL)).toMatchInlineSnapshot(`
    {
      "advanced": {
        "ignoreLocalEnv": true,
      },
      "context": {
        "includeDirectoryTree": false,
        "memoryBoundaryMarkers": [],
      },
      "experimental": {
        "enableAgents": false,
      },
      "general": {
        "enableAutoUpdate": false,
        "enableAutoUpdateNotification": false,
        "maxAttempts": 3,
        "plan": {
          "enabled": false,
        },
        "topicUpdateNarration": false,
      },
      "hooksConfig": {
        "enabled": false,
      },
      "mcp": {
        "allowed": [
          "firecrawl",
        ],
      },
      "privacy": {
        "usageStatisticsEnabled": false,
      },
      "security": {
        "auth": {
          "selectedType": "gemini-api-key",
        },
        "folderTrust": {
          "enabled": false,
        },
      },
      "skills": {
        "enabled": false,
      },
      "telemetry": {
        "enabled": false,
      },
      "tools": {
        "core": [
          "google_web_search",
          "web_fetch",
        ],
        "sandbox": false,
      },
    }
  `);
});

test("a key adds Firecrawl, by reference and never by value (B8)", () => {
  const settings = mergeSettings({}, { ...NO_FIRECRAWL, firecrawl: { apiKey: "fc-secret" } });
  expect(settings).toMatchObject({
    mcpServers: { firecrawl: { command: "npx", env: { FIRECRAWL_API_KEY: "$FIRECRAWL_API_KEY" }, trust: true } },
    tools: { core: ["google_web_search", "web_fetch", "mcp_firecrawl_*"] },
  });
  expect(JSON.stringify(settings)).not.toContain("fc-secret");
});

test("a self-hosted Firecrawl needs no key, and has no reference to an unset one (B8)", () => {
  const settings = mergeSettings({}, { ...NO_FIRECRAWL, firecrawl: { apiUrl: "http://127.0.0.1:3002" } });
  expect(settings).toHaveProperty("mcpServers.firecrawl.env", { FIRECRAWL_API_URL: "$FIRECRAWL_API_URL" });
});

test("our entries are updated, the user's edits are kept (B8)", () => {
  const edited: Settings = {
    general: { maxAttempts: 7, vimMode: true },
    tools: { core: ["google_web_search", "my_tool", "mcp_firecrawl_*"] },
    mcpServers: { firecrawl: { command: "old" }, mine: { command: "mine" } },
    security: { auth: { selectedType: "vertex-ai", enforcedType: "x" } },
    ui: { theme: "GitHub" },
  };
  const before = structuredClone(edited);
  const settings = mergeSettings(edited, { signInType: "gemini-api-key", firecrawl: {} });
  expect(settings).toMatchObject({
    general: { maxAttempts: 7, vimMode: true, enableAutoUpdate: false },
    tools: { core: ["google_web_search", "my_tool"] },
    security: { auth: { selectedType: "gemini-api-key", enforcedType: "x" } },
    ui: { theme: "GitHub" },
  });
  expect(settings["mcpServers"]).toEqual({ mine: { command: "mine" } });
  expect(edited).toEqual(before);
});

test("merging twice changes nothing (B8)", () => {
  const managed = { signInType: undefined, firecrawl: { apiKey: "x", apiUrl: "y" } };
  const once = mergeSettings({}, managed);
  expect(mergeSettings(once, managed)).toEqual(once);
  expect(JSON.stringify(mergeSettings(once, managed))).toBe(JSON.stringify(once));
});

test("a tool list of the wrong type, and a hostile name, are harmless", () => {
  const hostile = parseSettings('{"tools":{"core":"all"},"__proto__":{"polluted":true}}') ?? {};
  expect(mergeSettings(hostile, NO_FIRECRAWL)).toMatchObject({ tools: { core: ["google_web_search", "web_fetch"] } });
  expect({}).not.toHaveProperty("polluted");
});

test("a correction gets no Firecrawl and one tool, because the API rejects a tool without functions", () => {
  const settings = mergeSettings({}, { ...NO_FIRECRAWL, firecrawl: { apiKey: "x" } });
  const call = settingsForCall(settings, { purpose: "correction" });
  expect(call).not.toHaveProperty("mcpServers");
  expect(call).toMatchObject({ tools: { core: ["google_web_search"] } });
});

test("our settings name no model, and the user's own choice is kept (C3)", () => {
  const forCall = (settings: Settings): Settings =>
    settingsForCall(mergeSettings(settings, NO_FIRECRAWL), { purpose: "research" });
  expect(forCall({})).not.toHaveProperty("model");
  expect(forCall({})).not.toHaveProperty("modelConfigs");
  expect(JSON.stringify(forCall({}))).not.toMatch(/flash|gemini-\d/);
  expect(forCall({ model: { name: "mine" } })).toMatchObject({ model: { name: "mine" } });
});

test.each([
  ['{"a":1}', { a: 1 }],
  [
    '\uFEFF{\n // a remark\n "url": "http://x//y", /* and\n another */ "b": "\\"//" }',
    { url: "http://x//y", b: '"//' },
  ],
  ["[1]", undefined],
  ["{broken", undefined],
  ["null", undefined],
  ["", undefined],
])("settings are parsed as the CLI parses them: %s", (text, expected) => {
  expect(parseSettings(text)).toEqual(expected);
});
