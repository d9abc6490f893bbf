/** Checks this machine: Node.js, its SQLite, disk space, and desktop notifications. */

import { statfsSync } from "node:fs";
import { desktopObstacle } from "../notifications/desktop.ts";
import { isSafeSqlite } from "../store/sqlite/sqlite.ts";
import { type CheckResult, fail, ok, warn } from "./check.ts";

export function checkNode(version: string, supported: (version: string) => boolean): CheckResult {
  return supported(version)
    ? ok("node", `Node ${version}`)
    : fail("node", `Node ${version} is too old.`, "Install Node 22.22.3, 24.15 or a later version.");
}

/** The ranges of `engines` in package.json: older versions contain SQLite's WAL-reset bug. */
export function isSupportedNode(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  if (major === 22) return minor > 22 || (minor === 22 && patch >= 3);
  if (major === 24) return minor >= 15;
  return major >= 26;
}

export function checkSqlite(version: string): CheckResult {
  return isSafeSqlite(version)
    ? ok("sqlite", `SQLite ${version}`)
    : fail(
        "sqlite",
        `SQLite ${version} can damage a database that several processes write.`,
        "Use an official Node 22.22.3, 24.15 or later; a distribution may link an older SQLite.",
      );
}

const MIN_FREE_BYTES = 50 * 2 ** 20;

export function checkSpace(directory: string): CheckResult {
  const { bavail, bsize } = statfsSync(directory);
  const free = bavail * bsize;
  const message = `${Math.round(free / 2 ** 20).toLocaleString("en")} MB free`;
  return free > MIN_FREE_BYTES
    ? ok("disk", message)
    : fail("disk", message, "Free some space on the disk with the config directory, where paid reports are stored.");
}

/** File system magic numbers of Linux (statfs(2)) on which SQLite's locks do not work, or not between machines. */
const SHARED_DISKS = new Map([
  [0x6969, "NFS"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB"],
  [0x01021997, "9p"],
  [0x65735546, "FUSE"],
]);

export function checkDiskKind(directory: string, kind = statfsSync(directory).type): CheckResult[] {
  const name = process.platform === "linux" ? SHARED_DISKS.get(kind) : undefined;
  if (name === undefined) return [];
  const remedy = "Set GEMINI_SEARCH_CONFIG_DIR to a directory on a disk of this machine.";
  return [warn("disk kind", `${directory} is on ${name}, where SQLite's locks may not hold.`, remedy)];
}

export function checkNotifier(environment: Record<string, string | undefined>): CheckResult {
  const obstacle = desktopObstacle(process.platform, environment);
  return obstacle === undefined
    ? ok("notifications", "Desktop notifications are available.")
    : warn("notifications", `Unavailable: ${obstacle}.`, "Research works without them.");
}
