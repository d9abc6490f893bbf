/** From where an MCP client on this machine may send files. */

import { realpathSync } from "node:fs";
import path from "node:path";
import { isInside } from "../reports/files/allowed-root.ts";
import type { FileAccess } from "./read-files.ts";

interface Installation {
  settings: { GEMINI_SEARCH_FILE_ROOTS: readonly string[] };
  home: string;
  configDir: string;
  databaseFile: string;
}

export function fileAccess({ settings, home, configDir, databaseFile }: Installation): FileAccess {
  const workingDirectory = currentDirectory();
  return {
    workingDirectory,
    roots: fileRoots(settings.GEMINI_SEARCH_FILE_ROOTS, { workingDirectory, home }),
    privatePaths: [configDir, databaseFile],
  };
}

/**
 * By default the working directory, which most clients set to the project. Some start their servers in the home
 * directory or in `/`: that would be every file of the user, so there nothing may be sent until the user names a
 * directory.
 */
export function fileRoots(
  configured: readonly string[],
  { workingDirectory, home }: { workingDirectory: string; home: string },
): string[] {
  // No shell expands the tilde of a configuration file.
  const expanded = configured.map((directory) => directory.replace(/^~(?=$|[/\\])/, () => home));
  if (expanded.length > 0) return expanded.map((directory) => path.resolve(workingDirectory, directory));
  return isInside(realPath(workingDirectory), realPath(home)) ? [] : [workingDirectory];
}

/** The home directory may be a link, which the working directory never is. */
function realPath(directory: string): string {
  try {
    return realpathSync(directory);
  } catch {
    return directory;
  }
}

/** Throws when the directory was deleted after the process had started in it. */
function currentDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return path.parse(path.resolve("/")).root;
  }
}
