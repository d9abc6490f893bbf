/** The config directory: created where possible, and replaced by a temporary one while it cannot be written. */

import { accessSync, chmodSync, constants, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { errorCodeOf } from "../platform/error-code.ts";
import type { Shutdown } from "../platform/shutdown.ts";
import { userConfigFolder, type UserFolders } from "../platform/user-config-folder.ts";

export function configDirectory(folders: UserFolders): string {
  const override = folders.environment["GEMINI_SEARCH_CONFIG_DIR"]?.trim();
  return override ? resolve(override) : join(userConfigFolder(folders), "gemini-search-mcp");
}

/** Creates the directory if necessary; returns whether it can be used. */
export function prepareDirectory(directory: string): boolean {
  try {
    makeDirectory(directory);
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    return statSync(directory).isDirectory();
  } catch {
    return false;
  }
}

/** Not `mkdirSync` with `recursive`, which never returns below /proc. */
function makeDirectory(directory: string): void {
  if (existsSync(directory)) return;
  if (dirname(directory) !== directory) makeDirectory(dirname(directory));
  try {
    mkdirSync(directory, { mode: 0o700 });
    // The umask may have removed bits that the owner needs.
    chmodSync(directory, 0o700);
  } catch (error) {
    // Another process created it first.
    if (errorCodeOf(error) !== "EEXIST") throw error;
  }
}

/** Returns the config directory, or as long as that cannot be written one that is deleted with the process. */
export function stateDirectory(
  { configDir, configDirWritable }: { configDir: string; configDirWritable: boolean },
  shutdown: Pick<Shutdown, "finally">,
): () => string {
  const temporary = configDirWritable ? undefined : privateTempDir(shutdown);
  return () => (temporary === undefined || prepareDirectory(configDir) ? configDir : temporary);
}

function privateTempDir(shutdown: Pick<Shutdown, "finally">): string {
  const directory = mkdtempSync(join(tmpdir(), "gemini-search-mcp-"));
  shutdown.finally(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
