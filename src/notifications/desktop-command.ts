/**
 * The notification command of each platform: a system program with a constant script, which receives the text only as
 * data.
 */

import type { Notification } from "./notification.ts";

export interface DesktopCommand {
  program: string;
  args(notification: Notification): string[];
  stdin(notification: Notification): string;
}

export function desktopCommand(platform: NodeJS.Platform): DesktopCommand {
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
