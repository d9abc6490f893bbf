/** The environment of the notification program: only the variables that it needs. */

import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { environmentValue } from "../platform/find-program.ts";

type Environment = Record<string, string | undefined>;

/** The variables that the programs need; never a key or a token. */
const MACOS_NEEDS = ["HOME", "USER", "LOGNAME", "TMPDIR", "__CF_USER_TEXT_ENCODING"];
/** Without PSModulePath: one inherited from PowerShell 7 prevents Windows PowerShell from loading its own modules. */
const WINDOWS_NEEDS = [
  "APPDATA",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PATH",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMFILES",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "TMP",
  "USERNAME",
  "USERPROFILE",
  "WINDIR",
];
const FREEDESKTOP_NEEDS = ["HOME", "XDG_RUNTIME_DIR"];

/** Undefined if there is no session bus, hence no desktop. */
export function notifierEnvironment(
  environment: Environment,
  platform: NodeJS.Platform,
): Record<string, string> | undefined {
  if (platform === "darwin") return pick(environment, MACOS_NEEDS);
  if (platform === "win32") return pick(environment, WINDOWS_NEEDS);
  const bus = sessionBus(environment);
  if (bus === undefined) return undefined;
  // Without DISPLAY on purpose: with it and a dead bus, a new bus would be started and left running.
  return { ...pick(environment, FREEDESKTOP_NEEDS), DBUS_SESSION_BUS_ADDRESS: bus };
}

/** MCP clients often pass on little more than PATH and HOME, so systemd's default socket is tried as well. */
export function sessionBus(
  environment: Environment,
  userRuntimeDirectory = `/run/user/${process.getuid?.() ?? ""}`,
): string | undefined {
  const address = environment["DBUS_SESSION_BUS_ADDRESS"];
  if (address !== undefined && address !== "") return address;
  const socket = [environment["XDG_RUNTIME_DIR"] ?? "", userRuntimeDirectory]
    .filter((directory) => isAbsolute(directory))
    .map((directory) => join(directory, "bus"))
    .find((path) => existsSync(path));
  if (socket === undefined) return undefined;
  return `unix:path=${socket.split("/").map(encodeURIComponent).join("/")}`;
}

function pick(environment: Environment, names: readonly string[]): Record<string, string> {
  const entries = names.map((name) => [name, environmentValue(environment, name)] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
