/** Where a user's files are on this machine: the few facts that every client's path is made of. */

import { isAbsolute, join } from "node:path";
import { AppError } from "../errors.ts";

export interface Place {
  platform: NodeJS.Platform;
  home: string;
  /** Where project files go. */
  project: string;
  environment: Record<string, string | undefined>;
}

/** Fails early: a relative home would scatter files wherever the command happens to run. */
export function checkHome(find: () => string): void {
  let home = "";
  try {
    home = find();
  } catch {
    // A user that the system has no record of, and no HOME.
  }
  if (isAbsolute(home)) return;
  throw new AppError({
    code: "INVALID_INPUT",
    message: "The home directory of this user is not known, so the clients' files cannot be found.",
    suggestion: "Set HOME to it and run init again.",
  });
}

/** The folder of desktop programs' settings: XDG, Application Support, or APPDATA. */
export function settingsFolder({ platform, home, environment }: Place): string {
  if (platform === "darwin") return join(home, "Library", "Application Support");
  if (platform === "win32") return environment["APPDATA"] ?? join(home, "AppData", "Roaming");
  const xdg = environment["XDG_CONFIG_HOME"];
  return xdg !== undefined && isAbsolute(xdg) ? xdg : join(home, ".config");
}

/** A folder that a client lets its user move. */
export function movable({ environment }: Place, variable: string, usual: string): string {
  const moved = environment[variable]?.trim();
  return moved !== undefined && isAbsolute(moved) ? moved : usual;
}
