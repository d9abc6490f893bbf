/** The folders from which the paths of the clients' files are derived. */

import { isAbsolute } from "node:path";
import { AppError } from "../errors.ts";
import type { UserFolders } from "../platform/user-config-folder.ts";

export interface Paths extends UserFolders {
  /** The folder of project files. */
  project: string;
}

/** Fails early: with a relative home, files would be written relative to the working directory. */
export function checkHome(find: () => string): void {
  let home = "";
  try {
    home = find();
  } catch {
    // The system has no record of the user, and HOME is not set.
  }
  if (isAbsolute(home)) return;
  throw new AppError({
    code: "INVALID_INPUT",
    message: "This user's home directory is unknown, so the clients' files cannot be found.",
    suggestion: "Set HOME to it and run init again.",
  });
}

/** A folder that a client lets its user override with a variable. */
export function overridableFolder({ environment }: Paths, variable: string, defaultFolder: string): string {
  const override = environment[variable]?.trim();
  return override !== undefined && isAbsolute(override) ? override : defaultFolder;
}
