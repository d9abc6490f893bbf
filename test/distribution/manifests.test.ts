/** Manifests, registry entries and install lines: current, within the published rules, and in agreement with the code. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import type { z } from "zod";
import { FACTS, PACKAGE, ROOT } from "../../distribution/facts.ts";
import { dockerYaml, generatedFiles } from "../../distribution/files.ts";
import { deepLinks } from "../../distribution/links.ts";
import { pluginManifest, pluginServers, skillHeader } from "../../distribution/rules/agent-plugin.ts";
import { dockerEntry, glamaEntry, registryEntry } from "../../distribution/rules/registries.ts";
import { allOf, pairsOf, readStages } from "../../scripts/docker-file.ts";
import { SETTINGS } from "../../src/config/settings.ts";
import { TOOL_NAMES } from "../../src/config/tool-names.ts";

const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const readJson = (file: string): Record<string, unknown> => JSON.parse(read(file));

test("every generated file is current (npm run distribution renews it) (X1)", () => {
  const files = generatedFiles();
  expect(Object.keys(files).length).toBeGreaterThan(6);
  for (const [file, content] of Object.entries(files)) expect.soft(read(file), file).toBe(content);
});

test("package.json, the image and the settings agree with the install facts (X1)", () => {
  expect(PACKAGE).toMatchObject({
    name: FACTS.package,
    mcpName: FACTS.registryName,
    homepage: `${FACTS.repository}#readme`,
    repository: { url: `git+${FACTS.repository}.git` },
    bugs: { url: `${FACTS.repository}/issues` },
  });
  const labels = Object.fromEntries(
    readStages(read("Dockerfile"))
      .flatMap((stage) => allOf(stage, "LABEL"))
      .flatMap(pairsOf)
      .map(([name, value]) => [name, value.replaceAll('"', "")]),
  );
  expect(labels).toMatchObject({
    "io.modelcontextprotocol.server.name": FACTS.registryName,
    "org.opencontainers.image.source": FACTS.repository,
    "org.opencontainers.image.version": PACKAGE.version,
    "org.opencontainers.image.licenses": PACKAGE.license,
  });
  expect(FACTS.variables.map(({ name }) => name).filter((name) => !Object.hasOwn(SETTINGS, name))).toEqual([]);
  for (const page of Object.values(FACTS.pages)) expect(read(page).length).toBeGreaterThan(500);
  // Width and height are in the first chunk of a PNG.
  const icon = readFileSync(join(ROOT, FACTS.icon));
  expect([icon.readUInt32BE(16), icon.readUInt32BE(20)]).toEqual([512, 512]);
});

const COMMIT = "a".repeat(40);
const SCHEMAS: [string, z.ZodType, unknown][] = [
  ["plugin.json", pluginManifest, readJson("plugin.json")],
  ["mcp.json", pluginServers, readJson("mcp.json")],
  ["server.json", registryEntry, readJson("server.json")],
  ["glama.json", glamaEntry, readJson("glama.json")],
  ["server.yaml of Docker's catalogue", dockerEntry, parse(dockerYaml(COMMIT))],
];

test.each(SCHEMAS)("%s keeps the published rules (X2)", (_name, schema, value) => {
  expect(schema.safeParse(value).error?.issues ?? []).toEqual([]);
});

/** Each of these was rejected by the published schema or validator. */
const VIOLATIONS: [string, z.ZodType, object][] = [
  ["servers in plugin.json", pluginManifest, { ...readJson("plugin.json"), mcpServers: {} }],
  ["capital letters in a plugin's name", pluginManifest, { ...readJson("plugin.json"), name: "Gemini-Search" }],
  ["a server without a type", pluginServers, { ...readJson("mcp.json"), mcpServers: { a: { command: "npx" } } }],
  [
    "a reserved variable",
    pluginServers,
    { ...readJson("mcp.json"), mcpServers: { a: { type: "stdio", command: "npx", env: { PLUGIN_ROOT: "x" } } } },
  ],
  [
    "a description of the registry that is too long",
    registryEntry,
    { ...readJson("server.json"), description: "x".repeat(101) },
  ],
  ["a name without an owner", registryEntry, { ...readJson("server.json"), name: "gemini-search" }],
  ["a version range", registryEntry, { ...readJson("server.json"), version: "^0.2.0" }],
  ["a maintainer that is no account", glamaEntry, { ...readJson("glama.json"), maintainers: ["the authors"] }],
  ["a catalogue entry without a commit", dockerEntry, parse(dockerYaml("main"))],
  ["MCP in a title of the catalogue", dockerEntry, { ...parse(dockerYaml(COMMIT)), about: { title: "Gemini MCP" } }],
  ["a skill with another name than its folder", skillHeader("other"), { name: "web-research", description: "x" }],
];

test.each(VIOLATIONS)("the rules reject %s (X2)", (_name, schema, value) => {
  expect(schema.safeParse(value).success).toBe(false);
});

test("the skill has a valid header and names only tools and parameters that exist (X2)", () => {
  const [, header = "", body = ""] =
    /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(read("skills/web-research/SKILL.md")) ?? [];
  expect(skillHeader("web-research").safeParse(parse(header)).error?.issues ?? []).toEqual([]);
  const reference = read("docs/reference.md");
  const named = [...body.matchAll(/`([a-z]+(?:_[a-z]+)+)/g)].map(([, name = ""]) => name);
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((name) => !reference.includes(`\`${name}\``))).toEqual([]);
  expect(TOOL_NAMES.filter((name) => named.includes(name)).length).toBeGreaterThan(8);
  expect(body.split("\n").length).toBeLessThan(500);
});

test("deep links contain the command and no key (X1)", () => {
  const [cursor, vscode, lmStudio] = deepLinks().map(({ url }) => new URL(url).searchParams);
  const decoded = (value: string | null | undefined): unknown =>
    JSON.parse(Buffer.from(value ?? "", "base64").toString("utf8"));
  const launch = { command: "npx", args: ["-y", "gemini-search-mcp@latest"] };
  expect(decoded(cursor?.get("config"))).toEqual({ ...launch, env: { GEMINI_API_KEY: "${env:GEMINI_API_KEY}" } });
  expect(decoded(lmStudio?.get("config"))).toEqual({ ...launch, env: { GEMINI_API_KEY: "YOUR_API_KEY_HERE" } });
  expect(JSON.parse(vscode?.get("config") ?? "")).toMatchObject({ ...launch, type: "stdio" });
  expect(JSON.parse(vscode?.get("inputs") ?? "")).toMatchObject([{ type: "promptString", password: true }]);
  for (const { url } of deepLinks()) expect(url).not.toMatch(/[\s"+]/);
});
