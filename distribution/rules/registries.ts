/**
 * The rules of the MCP Registry (server.schema.json 2025-12-11; the schema of 2025-09-29 and the notes of its successor
 * read 2026-11-16 in modelcontextprotocol/registry) and of Docker's catalogue (types and validator of docker/mcp-registry
 * at 818bf169, read 2026-11-16), as our own statement: their validators are Go programs and need a network. Glama's file is
 * known from the repositories that have one, read 2026-11-18.
 */

import { z } from "zod";
import { GLAMA_SCHEMA, REGISTRY_SCHEMA } from "../registries.ts";

/** A version, and not a range. */
const exactVersion = z
  .string()
  .max(255)
  .regex(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/);

const input = z.strictObject({
  name: z.string().min(1),
  description: z.string().optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
  format: z.enum(["string", "number", "boolean", "filepath"]).optional(),
  default: z.string().optional(),
  value: z.string().optional(),
  choices: z.array(z.string()).optional(),
});

const npmPackage = z.strictObject({
  registryType: z.literal("npm"),
  identifier: z.string().min(1),
  version: exactVersion,
  runtimeHint: z.string().optional(),
  transport: z.strictObject({ type: z.literal("stdio") }),
  environmentVariables: z.array(input).optional(),
});

export const registryEntry = z.strictObject({
  $schema: z.literal(REGISTRY_SCHEMA),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z\d.-]+\/[a-zA-Z\d._-]+$/),
  title: z.string().min(1).max(100).optional(),
  description: z.string().min(1).max(100),
  version: exactVersion,
  repository: z.strictObject({ url: z.url(), source: z.string() }).optional(),
  websiteUrl: z.url().optional(),
  icons: z
    .array(
      z.strictObject({
        src: z.url({ protocol: /^https$/ }).max(255),
        mimeType: z.enum(["image/png", "image/jpeg", "image/jpg", "image/svg+xml", "image/webp"]).optional(),
        sizes: z.array(z.string().regex(/^(?:\d+x\d+|any)$/)).optional(),
      }),
    )
    .optional(),
  packages: z.array(npmPackage).min(1),
});

const SMALL_WORDS = ["and", "for"];

export const dockerEntry = z
  .strictObject({
    name: z.string().regex(/^[a-z\d-]+$/),
    image: z.string(),
    type: z.literal("server"),
    meta: z.strictObject({ category: z.string(), tags: z.array(z.string()).min(1) }),
    about: z.strictObject({
      title: z
        .string()
        .refine((title) => !/MCP|Server/.test(title))
        .refine((title) => title.split(/\s+/).every((word) => SMALL_WORDS.includes(word) || /^[A-Z]/.test(word))),
      description: z.string(),
      icon: z.url(),
    }),
    source: z.strictObject({
      project: z.url(),
      commit: z.string().regex(/^[a-f\d]{40}$/),
      buildTarget: z.string().optional(),
    }),
    run: z.strictObject({ volumes: z.array(z.string().regex(/^[^:]+:\//)) }).optional(),
    config: z.strictObject({
      description: z.string(),
      secrets: z.array(
        z.strictObject({
          name: z.string().regex(/^[\w-]+\.[\w.-]+$/),
          env: z.string(),
          example: z.string(),
          description: z.string(),
        }),
      ),
      env: z.array(z.strictObject({ name: z.string(), example: z.string(), value: z.string() })),
      parameters: z.strictObject({
        type: z.literal("object"),
        properties: z.record(
          z.string(),
          z.strictObject({
            type: z.enum(["string", "number", "integer", "boolean"]),
            description: z.string(),
            default: z.unknown(),
          }),
        ),
      }),
    }),
  })
  .refine(
    ({ name, config }) =>
      config.env.every(({ value }) => {
        const parameter = /^\{\{([\w-]+)\.(\w+)\}\}$/.exec(value);
        return parameter?.[1] === name && Object.hasOwn(config.parameters.properties, parameter[2] ?? "");
      }),
    "a variable uses a parameter that is not defined",
  );

/** Accounts of GitHub. */
export const glamaEntry = z.strictObject({
  $schema: z.literal(GLAMA_SCHEMA),
  maintainers: z.array(z.string().regex(/^[a-z\d](?:-?[a-z\d]){0,38}$/i)).min(1),
});
