/** Finds the Gemini CLI on PATH and caches the result while the file exists. */

import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { z } from "zod";

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

function search({ environment, platform = process.platform }: LocateOptions): CliProgram | undefined {
  const windows = platform === "win32";
  for (const directory of searchPath(environment, windows)) {
    const found = windows ? findOnWindows(directory) : findOnPosix(directory);
    if (found !== undefined) return found;
  }
  return undefined;
}

function searchPath(environment: LocateOptions["environment"], windows: boolean): string[] {
  // Windows calls the variable `Path`, and a copy of the environment is case-sensitive.
  const name = Object.keys(environment).find((key) => key.toUpperCase() === "PATH") ?? "PATH";
  return (
    (environment[name] ?? "")
      .split(windows ? ";" : ":")
      .map((directory) => directory.replaceAll(/^"|"$/g, ""))
      // A relative entry refers to the current directory, which may be an untrusted repository.
      .filter((directory) => isAbsolute(directory))
  );
}

function findOnPosix(directory: string): CliProgram | undefined {
  const file = join(directory, "gemini");
  return isFile(file) && isExecutable(file) ? { command: file, leadingArgs: [], file } : undefined;
}

/** Never runs the `.cmd`, which needs a shell. npm puts the package beside it, or one folder up for `.bin`. */
function findOnWindows(directory: string): CliProgram | undefined {
  const binary = join(directory, "gemini.exe");
  if (isFile(binary)) return { command: binary, leadingArgs: [], file: binary };
  if (!isFile(join(directory, "gemini.cmd"))) return undefined;
  for (const modules of [join(directory, "node_modules"), join(directory, "..")]) {
    const entry = packageEntry(join(modules, "@google", "gemini-cli"));
    if (entry !== undefined) return { command: process.execPath, leadingArgs: [entry], file: entry };
  }
  return undefined;
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

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
