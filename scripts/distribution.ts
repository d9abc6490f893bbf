/**
 * Writes the manifests, registry entries and install lines from distribution/facts.json: `npm run distribution`. With
 * `--commit <sha>`, prints the entry of Docker's catalogue for the release at that commit instead.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../distribution/facts.ts";
import { dockerYaml, generatedFiles } from "../distribution/files.ts";

const { values } = parseArgs({ options: { commit: { type: "string" } } });

if (values.commit !== undefined) {
  process.stdout.write(dockerYaml(values.commit));
} else {
  const files = Object.entries(generatedFiles());
  for (const [path, content] of files) {
    mkdirSync(dirname(resolve(ROOT, path)), { recursive: true });
    writeFileSync(resolve(ROOT, path), content);
  }
  process.stdout.write(`${files.map(([path]) => path).join("\n")}\n`);
}
