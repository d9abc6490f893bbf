/** Parses compose.yaml: services with their commands, variables and replicas. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parse } from "yaml";
import { z } from "zod";

export const ROOT = resolve(import.meta.dirname, "..");

const service = z.looseObject({
  image: z.string(),
  build: z.string().optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  env_file: z.string().optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  healthcheck: z
    .union([z.object({ disable: z.literal(true) }), z.looseObject({ test: z.array(z.string()) })])
    .optional(),
  volumes: z.array(z.string()).default([]),
  restart: z.string().optional(),
  stop_grace_period: z.string().optional(),
  read_only: z.boolean().optional(),
  init: z.boolean().optional(),
  cap_drop: z.array(z.string()).default([]),
  security_opt: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  deploy: z.object({
    replicas: z.number().int().positive().default(1),
    resources: z.object({ limits: z.object({ cpus: z.string(), memory: z.string() }) }),
  }),
});

const composition = z.looseObject({
  services: z.record(z.string(), service),
  volumes: z.record(z.string(), z.unknown()).default({}),
});

export type Service = z.infer<typeof service>;
export type Composition = z.infer<typeof composition>;

export const readComposition = (text: string = readFileSync(resolve(ROOT, "compose.yaml"), "utf8")): Composition =>
  composition.parse(parse(text, { merge: true }));

/** The services that run this program. */
export const programsOf = ({ services }: Composition): [string, Service][] =>
  Object.entries(services).filter(([, { build }]) => build !== undefined);
