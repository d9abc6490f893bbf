/** Shows an address in the user's browser: without a shell, without our secrets, and without waiting for it. */

import { spawn } from "node:child_process";
import { isAbsolute, join } from "node:path";
import type { Environment } from "../../config/config.ts";
import { findProgram } from "../../platform/find-program.ts";
import { SETTINGS } from "../../config/settings.ts";

interface BrowserCommand {
  program: string;
  args: string[];
}

export interface BrowserPlace {
  environment: Environment;
  platform?: NodeJS.Platform;
  /** How long an opener has to say that it cannot. */
  patienceMs?: number;
}

/** Undefined when it was opened, else why it was not. */
export async function openBrowser(url: string, place: BrowserPlace): Promise<string | undefined> {
  const command = browserCommand(url, place.environment, place.platform ?? process.platform);
  return typeof command === "string" ? command : start(command, place);
}

/** A text says why there is none. */
export function browserCommand(
  url: string,
  environment: Environment,
  platform: NodeJS.Platform,
): BrowserCommand | string {
  const chosen = environment["BROWSER"]?.trim() ?? "";
  if (chosen !== "") return chosenBrowser(chosen, url, environment);
  const { SSH_CONNECTION, DISPLAY, WAYLAND_DISPLAY } = environment;
  const hasScreen = (DISPLAY ?? "") !== "" || (WAYLAND_DISPLAY ?? "") !== "";
  if ((SSH_CONNECTION ?? "") !== "" && !hasScreen) return "this is a remote session";
  if (platform === "darwin") return { program: "/usr/bin/open", args: [url] };
  if (platform === "win32") return windowsBrowser(url, environment);
  if (!hasScreen) return "there is no screen";
  const program = findProgram("xdg-open", environment, platform);
  return program === undefined ? "xdg-open is not installed" : { program, args: [url] };
}

/** By its own handler of addresses: `start` is a word of the shell, which reads more than an address in an address. */
function windowsBrowser(url: string, environment: Environment): BrowserCommand {
  const system = environment["SystemRoot"] ?? environment["SYSTEMROOT"] ?? "C:\\Windows";
  return { program: join(system, "System32", "rundll32.exe"), args: ["url.dll,FileProtocolHandler", url] };
}

/** `$BROWSER` is a program with arguments, perhaps with `%s` for the address, or `none`. */
function chosenBrowser(chosen: string, url: string, environment: Environment): BrowserCommand | string {
  if (chosen === "none") return "BROWSER is none";
  const [name = "", ...args] = chosen.split(/\s+/);
  const program = isAbsolute(name) ? name : findProgram(name, environment, process.platform);
  if (program === undefined) return "the program in BROWSER was not found";
  const filled = args.map((arg) => arg.replaceAll("%s", url));
  return { program, args: args.some((arg) => arg.includes("%s")) ? filled : [...filled, url] };
}

/** An opener that has something to complain about does so at once; one that became the browser stays. */
const PATIENCE_MS = 1_500;

function start(
  { program, args }: BrowserCommand,
  { environment, patienceMs = PATIENCE_MS }: BrowserPlace,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const failed = (): void => resolve("the browser could not be started");
    const child = spawn(program, args, {
      env: withoutSettings(environment),
      stdio: "ignore",
      // It lives on when we leave, and a Ctrl-C meant for us is not meant for it.
      detached: true,
      windowsHide: true,
    });
    const timer = setTimeout(() => resolve(undefined), patienceMs);
    child.once("error", failed);
    child.once("exit", (code) => (code === 0 ? resolve(undefined) : failed()));
    child.once("close", () => clearTimeout(timer));
    child.unref();
  });
}

/** Keys and tokens are among our settings; a browser needs none of them. */
function withoutSettings(environment: Environment): Environment {
  const ours = new Set(Object.entries(SETTINGS).flatMap(([name, { aliases = [] }]) => [name, ...aliases]));
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !ours.has(name.toUpperCase())));
}
