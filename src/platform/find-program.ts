/** Finds a program on PATH. */

import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";

type Environment = Record<string, string | undefined>;

export const findProgram = (name: string, environment: Environment, platform: NodeJS.Platform): string | undefined =>
  searchPath(environment, platform)
    .map((directory) => join(directory, name))
    .find((file) => isProgram(file, platform));

/** Without relative entries of PATH: they mean the working directory, which may be an untrusted repository. */
export const searchPath = (environment: Environment, platform: NodeJS.Platform): string[] =>
  (environmentValue(environment, "PATH") ?? "")
    .split(platform === "win32" ? ";" : ":")
    .map((directory) => directory.replaceAll(/^"|"$/g, ""))
    .filter((directory) => isAbsolute(directory));

function isProgram(file: string, platform: NodeJS.Platform): boolean {
  try {
    if (platform !== "win32") accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Variable names are case-insensitive on Windows, but a copy of the environment is not. */
export function environmentValue(environment: Environment, name: string): string | undefined {
  const key = Object.keys(environment).find((other) => other.toUpperCase() === name.toUpperCase());
  return key === undefined ? undefined : environment[key];
}
