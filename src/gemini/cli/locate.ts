/** Finds the Gemini CLI on PATH and caches the result while the file exists. */

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { findProgram } from "../../platform/find-program.ts";

export interface CliProgram {
  command: string;
  /** Arguments between the command and our own. */
  leadingArgs: readonly string[];
  /** The file whose existence keeps this result valid. */
  file: string;
}

interface LocateOptions {
  environment: Record<string, string | undefined>;
  platform?: NodeJS.Platform;
}

export function createCliLocator(options: LocateOptions): () => CliProgram | undefined {
  let cached: CliProgram | undefined;
  return () => {
    if (cached === undefined || !isFile(cached.file)) cached = search(options);
    return cached;
  };
}

/** On Windows never the `.cmd`, which needs a shell. npm puts the package beside it, or one folder up for `.bin`. */
function search({ environment, platform = process.platform }: LocateOptions): CliProgram | undefined {
  const onPath = (name: string): string | undefined => findProgram(name, environment, platform);
  const file = onPath(platform === "win32" ? "gemini.exe" : "gemini");
  if (file !== undefined) return { command: file, leadingArgs: [], file };
  const script = platform === "win32" ? onPath("gemini.cmd") : undefined;
  if (script === undefined) return undefined;
  const entry = [join(script, "..", "node_modules"), join(script, "..", "..")]
    .map((modules) => packageEntry(join(modules, "@google", "gemini-cli")))
    .find((found) => found !== undefined);
  return entry === undefined ? undefined : { command: process.execPath, leadingArgs: [entry], file: entry };
}

const manifest = z.object({ bin: z.union([z.string(), z.object({ gemini: z.string() })]) });

function packageEntry(folder: string): string | undefined {
  try {
    const { bin } = manifest.parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));
    const file = join(folder, typeof bin === "string" ? bin : bin.gemini);
    return isFile(file) ? file : undefined;
  } catch {
    return undefined;
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
