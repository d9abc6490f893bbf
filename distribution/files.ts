/** Every generated file of the repository with its content. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { stringify } from "yaml";
import { ROOT } from "./facts.ts";
import { withInstallLines } from "./install-lines.ts";
import { agentPlugin, agentPluginServers, claudeMarketplace, claudePlugin, geminiExtension } from "./plugins.ts";
import { dockerServer, glamaServer, registryServer } from "./registries.ts";

const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** The catalogue's entry names the commit of a release, which is unknown until it exists. */
const UNRELEASED_COMMIT = "0".repeat(40);

export const dockerYaml = (commit: string): string => stringify(dockerServer(commit), { lineWidth: 0 });

/** By path from the root of the repository. */
export const generatedFiles = (): Record<string, string> => ({
  "plugin.json": json(agentPlugin()),
  "mcp.json": json(agentPluginServers()),
  ".claude-plugin/plugin.json": json(claudePlugin()),
  ".claude-plugin/marketplace.json": json(claudeMarketplace()),
  "gemini-extension.json": json(geminiExtension()),
  "server.json": json(registryServer()),
  "glama.json": json(glamaServer()),
  "distribution/docker/server.yaml": dockerYaml(UNRELEASED_COMMIT),
  "docs/install.md": withInstallLines(readFileSync(resolve(ROOT, "docs/install.md"), "utf8")),
});
