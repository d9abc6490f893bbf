/** Where the system's notifier is, and the little of our environment that it gets to see. */

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";

type Environment = Record<string, string | undefined>;

/** By absolute path: a relative entry of PATH means the current directory, which may be a stranger's repository. */
export function findProgram(name: string, environment: Environment, platform: NodeJS.Platform): string | undefined {
  return (valueOf(environment, "PATH") ?? "")
    .split(platform === "win32" ? ";" : ":")
    .map((directory) => directory.replaceAll(/^"|"$/g, ""))
    .filter((directory) => isAbsolute(directory))
    .map((directory) => join(directory, name))
    .find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** What the programs do not run without; a key or a token is never among it. */
const MACOS_NEEDS = ["HOME", "USER", "LOGNAME", "TMPDIR", "__CF_USER_TEXT_ENCODING"];
/** Without PSModulePath: one inherited from PowerShell 7 keeps Windows PowerShell from loading its own modules. */
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

/** Undefined: there is no session bus, hence nobody who could show anything. */
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

/** MCP clients hand on little more than PATH and HOME, so the bus is also looked for where systemd puts it. */
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

/** On Windows names are case-insensitive, but a copy of the environment is not. */
function valueOf(environment: Environment, name: string): string | undefined {
  const key = Object.keys(environment).find((other) => other.toUpperCase() === name.toUpperCase());
  return key === undefined ? undefined : environment[key];
}

function pick(environment: Environment, names: readonly string[]): Record<string, string> {
  const entries = names.map((name) => [name, valueOf(environment, name)] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
