/** Packs the desktop bundle, distribution/out/<name>-<version>.mcpb, with the official packer: `npm run bundle`. */

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { BUNDLED, desktopManifest, isBundled } from "../distribution/desktop.ts";
import { FACTS, PACKAGE, ROOT } from "../distribution/facts.ts";

const MCPB = resolve(ROOT, "node_modules/@anthropic-ai/mcpb/dist/cli/cli.js");

export const bundleFile = (): string => resolve(ROOT, "distribution/out", `${FACTS.name}-${PACKAGE.version}.mcpb`);

/** Copies the files of the bundle to a folder. */
export function stageBundle(folder: string): void {
  for (const path of BUNDLED) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(resolve(ROOT, path), join(folder, path), { recursive: true, filter: isBundled });
  }
  cpSync(resolve(ROOT, FACTS.icon), join(folder, "icon.png"));
  writeFileSync(join(folder, "manifest.json"), `${JSON.stringify(desktopManifest(), undefined, 2)}\n`);
}

/** Runs a command of the packer and returns what it printed. */
export const runPacker = (args: string[]): string =>
  execFileSync(process.execPath, [MCPB, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

export function packBundle(file: string): void {
  const folder = mkdtempSync(join(tmpdir(), "gemini-search-bundle-"));
  try {
    stageBundle(folder);
    runPacker(["validate", join(folder, "manifest.json")]);
    mkdirSync(dirname(file), { recursive: true });
    runPacker(["pack", folder, file]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  packBundle(bundleFile());
  process.stdout.write(`${bundleFile()} (${(statSync(bundleFile()).size / 1e6).toFixed(2)} MB)\n`);
}
