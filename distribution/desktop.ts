/** The manifest of the desktop bundle (.mcpb), and which files the bundle contains. */

import { OPERATIONS } from "../src/operations/catalog.ts";
import { DEFAULT_TOOLS, toolSet } from "../src/config/tool-sets.ts";
import { FACTS, fileUrl, optionKey, PACKAGE } from "./facts.ts";

const ENTRY = "bin/desktop-extension.js";

/** Beside the manifest and the icon. Source maps are a separate download. */
export const BUNDLED = [ENTRY, "dist", "prompts", "templates", "package.json", "LICENSE", "README.md"];
export const isBundled = (path: string): boolean => !path.endsWith(".map") && !path.endsWith("simulator.js");

const tools = (): object[] =>
  toolSet(DEFAULT_TOOLS).listed.map((name) => ({
    name,
    description: OPERATIONS.find((operation) => operation.name === name)?.title ?? name,
  }));

/**
 * Claude Desktop runs the bundle inside a process of its own program, without the user's PATH: so searches use the API,
 * and no child process is needed.
 */
export const desktopManifest = (): object => ({
  $schema: "https://raw.githubusercontent.com/modelcontextprotocol/mcpb/main/schemas/mcpb-manifest-v0.3.schema.json",
  manifest_version: "0.3",
  name: FACTS.name,
  display_name: FACTS.title,
  version: PACKAGE.version,
  description: FACTS.summary,
  long_description: FACTS.explanation,
  author: { name: FACTS.author, url: FACTS.repository },
  repository: { type: "git", url: FACTS.repository },
  homepage: FACTS.repository,
  documentation: fileUrl("README.md"),
  support: `${FACTS.repository}/issues`,
  icon: "icon.png",
  server: {
    type: "node",
    entry_point: ENTRY,
    mcp_config: {
      command: "node",
      args: [`\${__dirname}/${ENTRY}`],
      env: {
        SEARCH_BACKEND: "api",
        ...Object.fromEntries(
          FACTS.variables.map((variable) => [variable.name, `\${user_config.${optionKey(variable)}}`]),
        ),
      },
    },
  },
  tools: tools(),
  keywords: PACKAGE.keywords,
  license: PACKAGE.license,
  privacy_policies: [fileUrl(FACTS.pages.privacy), "https://policies.google.com/privacy"],
  compatibility: { platforms: ["darwin", "win32", "linux"] },
  user_config: Object.fromEntries(
    FACTS.variables.map((variable) => [
      optionKey(variable),
      {
        type: variable.type,
        title: variable.title,
        description: variable.description,
        required: variable.required,
        ...(variable.secret ? { sensitive: true } : {}),
        ...(variable.default === undefined ? {} : { default: variable.default }),
        ...(variable.type === "number" ? { min: 0 } : {}),
      },
    ]),
  ),
});
