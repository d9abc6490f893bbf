import { expect, test } from "vitest";
import { mergeSettings, parseSettings, settingsForCall, type Settings } from "./settings.ts";

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
