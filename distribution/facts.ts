/** The install facts: what every manifest, deep link and install line is generated from. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";

export const ROOT = resolve(import.meta.dirname, "..");

const variable = z.strictObject({
  name: z.string().regex(/^[A-Z][A-Z\d_]*$/),
  title: z.string(),
  description: z.string(),
  type: z.enum(["string", "number", "directory"]),
  secret: z.boolean(),
  required: z.boolean(),
  default: z.union([z.string(), z.number()]).optional(),
  /** Asked for in desktop bundles only: elsewhere the working directory is the user's project. */
  only: z.literal("desktop").optional(),
});
export type Variable = z.infer<typeof variable>;

const factsSchema = z.strictObject({
  name: z.string(),
  title: z.string(),
  package: z.string(),
  registryName: z.string(),
  repository: z.url(),
  author: z.string(),
  summary: z.string().max(100),
  explanation: z.string(),
  category: z.string(),
  command: z.string(),
  args: z.array(z.string()),
  keyPage: z.url(),
  variables: z.array(variable),
  /** OpenAI's directory accepts at most three, of at most 128 characters. */
  prompts: z.array(z.string().max(128)).length(3),
  icon: z.string(),
  pages: z.strictObject({ privacy: z.string(), terms: z.string() }),
});

const packageSchema = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  license: z.string(),
  keywords: z.array(z.string()),
  mcpName: z.string(),
  homepage: z.string(),
  repository: z.object({ type: z.literal("git"), url: z.string() }),
  bugs: z.object({ url: z.string() }),
  engines: z.object({ node: z.string() }),
});

const readJson = (file: string): unknown => JSON.parse(readFileSync(resolve(ROOT, file), "utf8"));

export const FACTS = factsSchema.parse(readJson("distribution/facts.json"));
/** Version, description, licence and keywords: npm reads them from package.json, and so does the generator. */
export const PACKAGE = packageSchema.parse(readJson("package.json"));

export const VERSIONED_PACKAGE = `${FACTS.package}@${PACKAGE.version}`;

/** The address of a file of the repository. */
export const fileUrl = (path: string): string => `${FACTS.repository}/blob/main/${path}`;

/** The variables that a client without a desktop bundle asks for or passes on. */
export const ASKED = FACTS.variables.filter(({ only }) => only === undefined);

/** The name of a variable in manifests whose keys are lower case. */
export const optionKey = ({ name }: Variable): string => name.toLowerCase();
