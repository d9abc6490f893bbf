/** Manifests of the plugin, which is the root of the repository: Agent Plugins, Claude Code and Gemini CLI. */

import { ASKED, FACTS, fileUrl, optionKey, PACKAGE, type Variable, VERSIONED_PACKAGE } from "./facts.ts";

const SCHEMAS = "https://agent-plugins.org/schemas/1.0.0";

const launch = { command: FACTS.command, args: [...FACTS.args, VERSIONED_PACKAGE] };

const about = {
  name: FACTS.name,
  version: PACKAGE.version,
  description: FACTS.summary,
  author: { name: FACTS.author, url: FACTS.repository },
  homepage: PACKAGE.homepage,
  repository: FACTS.repository,
  license: PACKAGE.license,
  keywords: PACKAGE.keywords,
};

const environment = (reference: (variable: Variable) => string): Record<string, string> =>
  Object.fromEntries(ASKED.map((variable) => [variable.name, reference(variable)]));

/** Agent Plugins 1.0.0; what ChatGPT and Codex show is in OpenAI's extension. */
export const agentPlugin = (): object => ({
  $schema: `${SCHEMAS}/plugin.schema.json`,
  ...about,
  extensions: {
    "com.openai": {
      interface: {
        displayName: FACTS.title,
        shortDescription: FACTS.summary,
        longDescription: FACTS.explanation,
        developerName: FACTS.author,
        category: "Research",
        websiteURL: FACTS.repository,
        privacyPolicyURL: fileUrl(FACTS.pages.privacy),
        termsOfServiceURL: fileUrl(FACTS.pages.terms),
        defaultPrompt: FACTS.prompts,
        logo: `./${FACTS.icon}`,
      },
    },
  },
});

/** Agent Plugins carry no secrets: the server reads the key from the client's environment or from its config.json. */
export const agentPluginServers = (): object => ({
  $schema: `${SCHEMAS}/mcp.schema.json`,
  mcpServers: { [FACTS.name]: { type: "stdio", ...launch } },
});

/** The servers are inline: a `.mcp.json` in this folder would also be a project file for every client that opens the repository. */
export const claudePlugin = (): object => ({
  ...about,
  icon: `./${FACTS.icon}`,
  mcpServers: { [FACTS.name]: { ...launch, env: environment((variable) => `\${user_config.${optionKey(variable)}}`) } },
  userConfig: Object.fromEntries(
    ASKED.map((variable) => [
      optionKey(variable),
      {
        type: variable.type,
        title: variable.title,
        description: variable.description,
        ...(variable.secret ? { sensitive: true } : {}),
        ...(variable.required ? { required: true } : {}),
        ...(variable.default === undefined ? {} : { default: variable.default }),
      },
    ]),
  ),
});

export const claudeMarketplace = (): object => ({
  name: FACTS.package,
  owner: { name: FACTS.author },
  description: FACTS.summary,
  plugins: [{ name: FACTS.name, source: "./", description: FACTS.summary, category: FACTS.category }],
});

/** Without its entry in `settings`, a variable does not reach an extension's server. */
export const geminiExtension = (): object => ({
  name: FACTS.name,
  version: PACKAGE.version,
  description: FACTS.summary,
  mcpServers: { [FACTS.name]: { ...launch, env: environment(({ name }) => `$${name}`), timeout: 1_800_000 } },
  settings: ASKED.map(({ title, description, name, secret }) => ({
    name: title,
    description,
    envVar: name,
    sensitive: secret,
  })),
});
