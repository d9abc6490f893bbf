/** Runs the build of rolldown.config.ts and prints warnings, errors and one line about the result. */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { build } from "rolldown";
import configurations from "../rolldown.config.ts";

const ROOT = join(import.meta.dirname, "..");

const startedAt = performance.now();
await build(configurations);
const bytes = readdirSync(join(ROOT, "dist"), { recursive: true, encoding: "utf8" })
  .filter((name) => !name.endsWith(".map"))
  .map((name) => statSync(join(ROOT, "dist", name)))
  .reduce((sum, entry) => sum + (entry.isFile() ? entry.size : 0), 0);
const { name, version }: { name: string; version: string } = JSON.parse(
  readFileSync(join(ROOT, "package.json"), "utf8"),
);
const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
// On stderr, because commands such as `npm run bench` build first and print figures on stdout.
process.stderr.write(`Built ${name} ${version} into dist/ (${(bytes / 1e6).toFixed(1)} MB) in ${seconds} s.\n`);
