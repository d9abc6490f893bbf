/** Entries of registries: the MCP Registry, the catalogue of Docker and Glama. */

import { ASKED, FACTS, fileUrl, optionKey, PACKAGE } from "./facts.ts";

export const REGISTRY_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/** The npm package only: an entry for the desktop bundle needs the hash of a published file. */
export const registryServer = (): object => ({
  $schema: REGISTRY_SCHEMA,
  name: FACTS.registryName,
  title: FACTS.title,
  description: FACTS.summary,
  version: PACKAGE.version,
  repository: { url: FACTS.repository, source: "github" },
  websiteUrl: FACTS.repository,
  icons: [{ src: rawUrl(FACTS.icon), mimeType: "image/png", sizes: ["512x512"] }],
  packages: [
    {
      registryType: "npm",
      identifier: FACTS.package,
      version: PACKAGE.version,
      runtimeHint: FACTS.command,
      transport: { type: "stdio" },
      environmentVariables: ASKED.map((variable) => ({
        name: variable.name,
        description: variable.description,
        isRequired: variable.required,
        isSecret: variable.secret,
        ...(variable.type === "number" ? { format: "number" } : {}),
        ...(variable.default === undefined ? {} : { default: String(variable.default) }),
      })),
    },
  ],
});

const rawUrl = (path: string): string =>
  `${FACTS.repository.replace("//github.com/", "//raw.githubusercontent.com/")}/main/${path}`;

const DOCKER_NAME = FACTS.name;

/**
 * servers/<name>/server.yaml of the catalogue. Docker builds the image itself, from the stage that serves stdio, at the
 * commit of a release.
 */
export const dockerServer = (commit: string): object => ({
  name: DOCKER_NAME,
  image: `mcp/${DOCKER_NAME}`,
  type: "server",
  meta: { category: FACTS.category, tags: [...PACKAGE.keywords].slice(0, 5) },
  about: { title: FACTS.title, description: FACTS.explanation, icon: rawUrl(FACTS.icon) },
  source: { project: FACTS.repository, commit, buildTarget: "stdio" },
  run: { volumes: [`${DOCKER_NAME}-data:/data`] },
  config: {
    description: `Get a key: ${FACTS.keyPage}. Privacy: ${fileUrl(FACTS.pages.privacy)}`,
    secrets: ASKED.filter(({ secret }) => secret).map((variable) => ({
      name: `${DOCKER_NAME}.${optionKey(variable)}`,
      env: variable.name,
      example: `<${variable.name}>`,
      description: variable.description,
    })),
    env: ASKED.filter(({ secret }) => !secret).map((variable) => ({
      name: variable.name,
      example: String(variable.default ?? ""),
      value: `{{${DOCKER_NAME}.${optionKey(variable)}}}`,
    })),
    parameters: {
      type: "object",
      properties: Object.fromEntries(
        ASKED.filter(({ secret }) => !secret).map((variable) => [
          optionKey(variable),
          {
            type: variable.type,
            description: variable.description,
            ...(variable.default === undefined ? {} : { default: variable.default }),
          },
        ]),
      ),
    },
  },
});

export const GLAMA_SCHEMA = "https://glama.ai/mcp/schemas/server.json";

/** Glama reads everything else from the repository; this file says whose GitHub accounts may claim the entry. */
export const glamaServer = (): object => ({
  $schema: GLAMA_SCHEMA,
  maintainers: [new URL(FACTS.repository).pathname.split("/")[1]],
});
