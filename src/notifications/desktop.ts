/**
 * Shows a desktop notification when a run has ended, or logs it if there is no desktop; never fails. The command is a
 * system program with a constant script, which receives the text as data and only the variables that it needs.
 */

import { dirname, isAbsolute, join } from "node:path";
import { existsSync } from "node:fs";
import type { ChildOutcome, ChildRequest } from "../platform/child.ts";
import { durationText } from "../platform/duration.ts";
import { environmentValue, findProgram } from "../platform/find-program.ts";
import type { Log } from "../platform/log.ts";
import { cleanText, shortened } from "../platform/clean-text.ts";

interface EndedRun {
  taskId: string;
  outcome: "completed" | "failed";
  durationMs: number;
  /** Default: `Deep Research`. */
  what?: string | undefined;
  /** Why the run failed: one of our own sentences, never text from a page, a model or an upstream error. */
  reason?: string | undefined;
}

export function notificationFor({
  taskId,
  outcome,
  durationMs,
  what = "Deep Research",
  reason,
}: EndedRun): Notification {
  const run = taskId.slice(0, 8);
  if (outcome === "completed") {
    return { title: `${what} Complete`, body: `${run}: finished in ${durationText(durationMs)}` };
  }
  return { title: `${what} Failed`, body: `${run}: ${reason ?? `failed after ${durationText(durationMs)}`}` };
}

export const planNotification = (taskId: string): Notification => ({
  title: "Research Plan Ready",
  body: `${taskId.slice(0, 8)}: waiting for your approval`,
});

/** Of a run of a schedule: the changes may be text of its report. */
export const changesNotification = (taskId: string, changes: string): Notification => ({
  title: "What Changed",
  body: `${taskId.slice(0, 8)}: ${changes}`,
});

/** `why`: a sentence of ours. */
export const unstartedNotification = (scheduleId: string, why: string): Notification => ({
  title: "Research Schedule",
  body: `${scheduleId}: ${why}`,
});

export const budgetNotification = (body: string): Notification => ({ title: "Research Budget", body });

/** Usually a notification is shown within two seconds (O1); on a busy machine, late is better than never. */
const MAX_TOTAL_MS = 10_000;
const GRACE_MS = 200;

export interface DesktopNotifier {
  notify(notification: Notification): Promise<"shown" | "unavailable">;
}

export interface DesktopNotifierOptions {
  platform: NodeJS.Platform;
  environment: Record<string, string | undefined>;
  log: Log;
  run: (request: ChildRequest) => Promise<ChildOutcome>;
  /** Includes the time to stop a program that hangs. */
  limitMs?: number | undefined;
}

export function createDesktopNotifier(options: DesktopNotifierOptions): DesktopNotifier {
  const { program } = desktopCommand(options.platform);
  let found: { path: string | undefined } | undefined;
  const path = (): string | undefined => {
    found ??= { path: findProgram(program, options.environment, options.platform) };
    return found.path;
  };
  return {
    notify: async (requested) => {
      const notification = sanitizeNotification(requested);
      const obstacle = await show(notification, path(), options);
      if (obstacle === undefined) return "shown";
      options.log.announce(`${notification.title} (${notification.body}). No desktop notification: ${obstacle}.`);
      return "unavailable";
    },
  };
}

/** Why notifications are not available, as far as it can be determined without showing one. */
export function desktopObstacle(
  platform: NodeJS.Platform,
  environment: DesktopNotifierOptions["environment"],
): string | undefined {
  const { program } = desktopCommand(platform);
  if (findProgram(program, environment, platform) === undefined) return `${program} is not on PATH`;
  return notifierEnvironment(environment, platform) === undefined ? "there is no session bus" : undefined;
}

/** Returns why the notification was not shown, if it was not. */
async function show(
  notification: Notification,
  path: string | undefined,
  { platform, environment, run, limitMs = MAX_TOTAL_MS }: DesktopNotifierOptions,
): Promise<string | undefined> {
  const { program, args, stdin } = desktopCommand(platform);
  if (path === undefined) return `${program} is not on PATH`;
  const env = notifierEnvironment(environment, platform);
  if (env === undefined) return "there is no session bus";
  const outcome = await run({
    command: path,
    args: args(notification),
    // A directory in which other users cannot create files.
    cwd: dirname(path),
    env,
    stdin: stdin(notification),
    timeoutMs: limitMs - GRACE_MS,
    // It is not awaited, and a shutdown stops all child processes anyway.
    signal: new AbortController().signal,
    grace: () => GRACE_MS,
    onOutput: () => undefined,
  });
  return obstacleIn(outcome, { program, limitMs });
}

/** In our own words, because the program's output is untrusted text. */
function obstacleIn(
  outcome: ChildOutcome,
  { program, limitMs }: { program: string; limitMs: number },
): string | undefined {
  if (outcome.ended === "not_started") return `${program} could not be started`;
  if (outcome.ended === "timeout") return `${program} did not end within ${limitMs / 1000} s`;
  if (outcome.ended !== "exit") return `${program} was stopped`;
  if (outcome.exitCode === 0) return undefined;
  return `${program} ended with exit code ${outcome.exitCode ?? "none"}`;
}

export type NotificationKind = "completed" | "failed" | "plan" | "budget" | "changed" | "not_started" | "no_budget";

export interface Notification {
  title: string;
  body: string;
}

const MAX_TITLE_CHARS = 80;
const MAX_BODY_CHARS = 200;

/** Makes one short line of each text, without control characters. */
export const sanitizeNotification = ({ title, body }: Notification): Notification => ({
  title: shortLine(title, MAX_TITLE_CHARS),
  body: shortLine(body, MAX_BODY_CHARS),
});

export function shortLine(text: string, limit: number): string {
  const line = cleanText(text)
    .toWellFormed()
    // Not valid in XML: Windows would reject the whole notification.
    .replaceAll(/[\uFFFE\uFFFF]/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length <= limit ? line : shortened(line, limit - 1);
}

interface DesktopCommand {
  program: string;
  args(notification: Notification): string[];
  stdin(notification: Notification): string;
}

function desktopCommand(platform: NodeJS.Platform): DesktopCommand {
  if (platform === "darwin") return MACOS;
  if (platform === "win32") return WINDOWS;
  return FREEDESKTOP;
}

const FREEDESKTOP: DesktopCommand = {
  program: "notify-send",
  args: ({ title, body }) => ["--app-name=gemini-search-mcp", "--", title, asLiteralBody(body)],
  stdin: () => "",
};

/** Unlike the title, the body is markup, and notify-send itself expands escapes such as `\n` and `\101` in it. */
const asLiteralBody = (text: string): string =>
  text.replaceAll("\\", "\\\\").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const MACOS: DesktopCommand = {
  program: "osascript",
  args: ({ title, body }) => [
    "-e",
    "on run argv",
    "-e",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "-e",
    "end run",
    "--",
    title,
    body,
  ],
  stdin: () => "",
};

/**
 * Uses `$input`, because PowerShell's host reads stdin itself and `[Console]::In` would race with it. The template and
 * the DOM escape the text. The app id is PowerShell's own: Windows accepts toasts of an unregistered id, and drops
 * them. Single quotes only, so that nothing needs quoting on a Windows command line.
 */
const TOAST_SCRIPT = [
  "$ErrorActionPreference = 'Stop'",
  "$note = (@($input) -join '') | ConvertFrom-Json",
  "[void][Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]",
  "[void][Windows.Data.Xml.Dom.XmlDocument, Windows.Data.Xml.Dom.XmlDocument, ContentType = WindowsRuntime]",
  "$kind = [Windows.UI.Notifications.ToastTemplateType]::ToastText02",
  "$xml = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent($kind)",
  "$lines = $xml.GetElementsByTagName('text')",
  "[void]$lines.Item(0).AppendChild($xml.CreateTextNode([string]$note.title))",
  "[void]$lines.Item(1).AppendChild($xml.CreateTextNode([string]$note.body))",
  "$toast = [Windows.UI.Notifications.ToastNotification]::new($xml)",
  "$app = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\\WindowsPowerShell\\v1.0\\powershell.exe'",
  "[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier($app).Show($toast)",
].join("; ");

/** Windows PowerShell, not `pwsh`: only the former has the notification API without an extra package. */
const WINDOWS: DesktopCommand = {
  program: "powershell.exe",
  args: () => ["-NoLogo", "-NoProfile", "-NonInteractive", "-Command", TOAST_SCRIPT],
  stdin: (notification) => asciiJson(notification),
};

/** The console's code page decides how PowerShell decodes stdin; ASCII is the same in all of them. */
const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    /[\u007F-\uFFFF]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

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
function notifierEnvironment(environment: Environment, platform: NodeJS.Platform): Record<string, string> | undefined {
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
