/** How a client is to start this very installation. */

import { realpathSync } from "node:fs";
import { delimiter, join } from "node:path";

export interface Launch {
  command: string;
  args: string[];
}

export interface Installation {
  platform: NodeJS.Platform;
  environment: Record<string, string | undefined>;
  /** The Node that runs us. */
  node: string;
  /** The file it was given to run. */
  script: string;
}

const COMMAND = "gemini-search-mcp";

/** Both ways to start it: short for who has the user's PATH, whole for who has not. */
export interface Launches {
  short: Launch;
  whole: Launch;
  /** The short one is a command on PATH, so it means the same on another machine. */
  onPath: boolean;
}

export function launchesOf({ platform, environment, node, script }: Installation): Launches {
  const folders = (environment["PATH"] ?? environment["Path"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const onPathAs = (name: string, file: string): string | undefined =>
    folders.map((folder) => join(folder, name)).find((candidate) => realOf(candidate) === realOf(file));
  // A version manager's link survives the next update of Node; the file behind it does not.
  const whole = { command: onPathAs("node", node) ?? node, args: [realOf(script) ?? script] };
  // On Windows npm installs a .cmd, which clients cannot start without a shell.
  const onPath = platform !== "win32" && onPathAs(COMMAND, script) !== undefined;
  return { short: onPath ? { command: COMMAND, args: [] } : whole, whole, onPath };
}

function realOf(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}
