/** Determines how a client starts this installation. */

import { realpathSync } from "node:fs";
import { join } from "node:path";
import { searchPath } from "../platform/find-program.ts";

export interface Launch {
  command: string;
  args: string[];
}

export interface Installation {
  platform: NodeJS.Platform;
  environment: Record<string, string | undefined>;
  /** The Node.js executable that runs this process. */
  node: string;
  script: string;
}

const COMMAND = "gemini-search-mcp";

/** npx installs into this folder of its cache and empties it again. */
const NPX_CACHE = /[\\/]_npx[\\/]/;

/** Two ways to start the server: by name for clients with the user's PATH, by absolute paths for others. */
export interface Launches {
  byName: Launch;
  /** Undefined if npx runs this process: its paths do not last. */
  byPath: Launch | undefined;
  /** `byName` is a command on PATH, so it also works on other machines. */
  onPath: boolean;
}

export function launchesOf({ platform, environment, node, script }: Installation): Launches {
  if (NPX_CACHE.test(realOf(script) ?? script)) return { byName: byNpx(platform), byPath: undefined, onPath: true };
  const onPathAs = (name: string, file: string): string | undefined =>
    searchPath(environment, platform)
      .map((folder) => join(folder, name))
      .find((candidate) => realOf(candidate) === realOf(file));
  // A version manager's link survives an update of Node.js; its target does not.
  const byPath = { command: onPathAs("node", node) ?? node, args: [realOf(script) ?? script] };
  // On Windows npm installs a .cmd, which clients cannot start without a shell.
  const onPath = platform !== "win32" && onPathAs(COMMAND, script) !== undefined;
  return { byName: onPath ? { command: COMMAND, args: [] } : byPath, byPath, onPath };
}

/** On Windows npx is a .cmd, too. */
function byNpx(platform: NodeJS.Platform): Launch {
  const args = ["-y", `${COMMAND}@latest`];
  return platform === "win32" ? { command: "cmd", args: ["/c", "npx", ...args] } : { command: "npx", args };
}

function realOf(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}
