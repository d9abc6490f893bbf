/** Opens a URL in the user's browser, without a shell and without passing our settings. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Environment } from "../../config/environment.ts";
import { SETTINGS } from "../../config/settings.ts";
import { findProgram } from "../../platform/find-program.ts";

interface BrowserCommand {
  program: string;
  args: string[];
}

interface OpenOptions {
  environment: Environment;
  platform?: NodeJS.Platform;
  /** How long to wait for the failure of the program. */
  failureWindowMs?: number;
}

/** Returns undefined when the URL was opened, else the reason why not. */
export async function openBrowser(url: string, options: OpenOptions): Promise<string | undefined> {
  const command = browserCommand(url, options.environment, options.platform ?? process.platform);
  return typeof command === "string" ? command : start(command, options);
}

/** The command that opens the URL, or the reason why there is none. */
export function browserCommand(
  url: string,
  environment: Environment,
  platform: NodeJS.Platform,
): BrowserCommand | string {
  const chosen = environment["BROWSER"]?.trim() ?? "";
  if (chosen !== "") return chosenBrowser(chosen, url, environment);
  const { SSH_CONNECTION, DISPLAY, WAYLAND_DISPLAY } = environment;
  const hasScreen = (DISPLAY ?? "") !== "" || (WAYLAND_DISPLAY ?? "") !== "";
  if ((SSH_CONNECTION ?? "") !== "" && !hasScreen) return "remote session";
  if (platform === "darwin") return { program: "/usr/bin/open", args: [url] };
  if (platform === "win32") return windowsBrowser(url, environment);
  if (!hasScreen) return "no display";
  const program = findProgram("xdg-open", environment, platform);
  return program === undefined ? "xdg-open is not installed" : { program, args: [url] };
}

/** Uses the URL handler directly: `start` is a shell command, and the shell would interpret parts of the URL. */
function windowsBrowser(url: string, environment: Environment): BrowserCommand {
  const system = environment["SystemRoot"] ?? environment["SYSTEMROOT"] ?? "C:\\Windows";
  return { program: join(system, "System32", "rundll32.exe"), args: ["url.dll,FileProtocolHandler", url] };
}

/** `$BROWSER` is `none`, or a program with arguments, of which `%s` is replaced by the URL. */
function chosenBrowser(chosen: string, url: string, environment: Environment): BrowserCommand | string {
  if (chosen === "none") return "BROWSER is none";
  const [name = "", ...args] = chosen.split(/\s+/);
  const program = isAbsolute(name) ? name : findProgram(name, environment, process.platform);
  if (program === undefined) return "the program in BROWSER was not found";
  const filled = args.map((arg) => arg.replaceAll("%s", url));
  return { program, args: args.some((arg) => arg.includes("%s")) ? filled : [...filled, url] };
}

/** A program that fails does so at once; a browser keeps running. */
const FAILURE_WINDOW_MS = 1_500;

function start(
  { program, args }: BrowserCommand,
  { environment, failureWindowMs = FAILURE_WINDOW_MS }: OpenOptions,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const failed = (): void => resolve("the browser could not be started");
    const child = spawn(program, args, {
      env: withoutSettings(environment),
      stdio: "ignore",
      // The browser outlives this process and does not receive its Ctrl-C.
      detached: true,
      windowsHide: true,
    });
    const timer = setTimeout(() => resolve(undefined), failureWindowMs);
    child.once("error", failed);
    child.once("exit", (code) => (code === 0 ? resolve(undefined) : failed()));
    child.once("close", () => clearTimeout(timer));
    child.unref();
  });
}

/** Our settings include keys and tokens, which a browser must not get. */
export function withoutSettings(environment: Environment): Environment {
  const own = new Set(Object.entries(SETTINGS).flatMap(([name, { aliases = [] }]) => [name, ...aliases]));
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !own.has(name.toUpperCase())));
}

interface LoginFile {
  /** `file://…` */
  url: string;
  remove(): Promise<void>;
}

export async function createLoginFile(link: string, base = readableFolder()): Promise<LoginFile> {
  // Node creates it with mode 0700.
  const folder = await mkdtemp(join(base, "gemini-search-mcp-page-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true }).catch(() => undefined);
  try {
    const file = join(folder, "open.html");
    await writeFile(file, redirectPage(link), { mode: 0o600, flag: "wx" });
    return { url: pathToFileURL(file).href, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** A browser from a snap has its own /tmp, and can read only folders of the home directory without a leading dot. */
const SNAPS = ["firefox", "chromium", "brave", "opera"];

const readableFolder = (): string => (SNAPS.some((name) => existsSync(join("/snap/bin", name))) ? homedir() : tmpdir());

function redirectPage(link: string): string {
  const url = link.replaceAll("&", "&amp;").replaceAll('"', "%22");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${url}">
<title>gemini-search-mcp</title>
</head>
<body>
<p><a href="${url}">Open the page</a></p>
</body>
</html>
`;
}
