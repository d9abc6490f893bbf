/** Finds the folder in which programs keep a user's settings: XDG, Application Support or APPDATA. */

import { isAbsolute, join } from "node:path";

export interface UserFolders {
  platform: NodeJS.Platform;
  home: string;
  environment: Record<string, string | undefined>;
}

export function userConfigFolder({ platform, home, environment }: UserFolders): string {
  if (platform === "darwin") return join(home, "Library", "Application Support");
  if (platform === "win32") return environment["APPDATA"] ?? join(home, "AppData", "Roaming");
  const xdg = environment["XDG_CONFIG_HOME"];
  return xdg !== undefined && isAbsolute(xdg) ? xdg : join(home, ".config");
}
