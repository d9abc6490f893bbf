/**
 * The rules of Agent Plugins 1.0.0 (agent-plugins.org, schemas and specification read 2026-11-15) and of SKILL.md
 * (agentskills.io, read 2026-11-15), as our own statement: neither has a validator on npm.
 */

import { z } from "zod";

const SCHEMAS = "https://agent-plugins.org/schemas/1.0.0";

export const pluginManifest = z.strictObject({
  $schema: z.literal(`${SCHEMAS}/plugin.schema.json`),
  name: z
    .string()
    .max(64)
    .regex(/^(?!.*(?:--|\.\.))[a-z\d](?:[a-z\d.-]*[a-z\d])?$/),
  version: z.string().optional(),
  description: z.string().optional(),
  author: z.strictObject({ name: z.string(), email: z.string(), url: z.string() }).partial().optional(),
  homepage: z.string().optional(),
  repository: z.string().optional(),
  license: z.string().optional(),
  keywords: z.array(z.string()).optional(),
  extensions: z.record(z.string().regex(/^[a-z\d-]+(?:\.[a-z\d-]+)+$/), z.looseObject({})).optional(),
});

const RESERVED = ["PLUGIN_ROOT", "PLUGIN_DATA"];

const stdioServer = z.strictObject({
  type: z.literal("stdio"),
  // One executable: a name, or a path in the plugin.
  command: z.string().regex(/^(?:\.\/)?[^\s/]+(?:\/[^\s/]+)*$/),
  args: z.array(z.string()).optional(),
  env: z
    .record(
      z.string().refine((name) => !RESERVED.includes(name)),
      z.string(),
    )
    .optional(),
  cwd: z
    .string()
    .regex(/^(?:\.\/|\$\{PLUGIN_(?:ROOT|DATA)\}(?:\/|$))/)
    .optional(),
});
const remoteServer = z.strictObject({
  type: z.enum(["streamable-http", "sse"]),
  url: z.url(),
  headers: z.record(z.string(), z.string()).optional(),
});

export const pluginServers = z.strictObject({
  $schema: z.literal(`${SCHEMAS}/mcp.schema.json`),
  mcpServers: z.record(z.string(), z.discriminatedUnion("type", [stdioServer, remoteServer])),
});

/** The front matter of skills/<name>/SKILL.md. */
export const skillHeader = (folder: string) =>
  z.strictObject({
    name: z
      .literal(folder)
      .refine((name) => /^[a-z\d]+(?:-[a-z\d]+)*$/.test(name) && name.length <= 64, "not a name of a skill"),
    description: z.string().min(1).max(1_024),
    license: z.string().optional(),
    compatibility: z.string().max(500).optional(),
    metadata: z.record(z.string(), z.string()).optional(),
    "allowed-tools": z.string().optional(),
  });
