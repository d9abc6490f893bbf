import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LOOPBACK_ONLY_VARIABLES } from "../../test/kit/loopback-only/records.ts";
import { HOSTILE_TEXTS, MARKER } from "../../test/kit/hostile/texts.ts";
import { type ChildOutcome, type ChildRequest, runChild } from "../platform/child.ts";
import {
  createDesktopNotifier,
  type DesktopNotifierOptions,
  notificationFor,
  sanitizeNotification,
  sessionBus,
} from "./desktop.ts";
import { createTestLog } from "../../test/kit/log.ts";

const TASK_ID = "1b4e28ba-2fa1-41d2-883f-0016d3cca427";
const COMPLETE = { title: "Deep Research Complete", body: "1b4e28ba: finished in 12 min" };

let folder: string;
let lines: string[];
const log = createTestLog((line) => lines.push(line));

beforeEach(() => {
  lines = [];
  folder = mkdtempSync(join(tmpdir(), "gemini-search-notifier-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Replaces the system's notifier and records its arguments. */
function stub(program: string, then = ""): void {
  const script = `#!/bin/sh
printf '%s\\0' "$@" > ${folder}/argv
/bin/cat > ${folder}/stdin
/usr/bin/env > ${folder}/env
pwd > ${folder}/cwd
${then}`;
  writeFileSync(join(folder, program), script, { mode: 0o755 });
}

const recorded = (what: string): string => readFileSync(join(folder, what), "utf8");
const recordedArgs = (): string[] => recorded("argv").split("\0").slice(0, -1);

const BUS = { DBUS_SESSION_BUS_ADDRESS: "unix:path=/somewhere" };

const notifier = (
  platform: NodeJS.Platform,
  environment: Record<string, string> = {},
  more: Partial<DesktopNotifierOptions> = {},
) =>
  createDesktopNotifier({
    platform,
    environment: { PATH: folder, ...BUS, ...environment },
    log,
    run: runChild,
    ...more,
  });

describe("the text of a notification (O1)", () => {
  test.each([
    [0, "0 s"],
    [-5_000, "0 s"],
    [59_499, "59 s"],
    [59_500, "1 min"],
    [720_000, "12 min"],
    [3_569_000, "59 min"],
    [3_570_000, "1 h"],
    [3_900_000, "1 h 5 min"],
    [28_800_000, "8 h"],
  ])("states the duration: %d ms", (durationMs, words) => {
    expect(notificationFor({ taskId: TASK_ID, outcome: "completed", durationMs })).toEqual({
      title: "Deep Research Complete",
      body: `1b4e28ba: finished in ${words}`,
    });
  });

  test("states the reason of a failure, or else the duration", () => {
    const failed = { taskId: TASK_ID, outcome: "failed" as const, durationMs: 720_000 };
    expect(notificationFor({ ...failed, reason: "The research took longer than max_wait_hours." })).toEqual({
      title: "Deep Research Failed",
      body: "1b4e28ba: The research took longer than max_wait_hours.",
    });
    expect(notificationFor(failed).body).toBe("1b4e28ba: failed after 12 min");
  });

  test("is one line of at most 200 characters without control characters, whatever the input (T22)", () => {
    for (const text of HOSTILE_TEXTS) {
      const { title, body } = sanitizeNotification({ title: text, body: text });
      for (const line of [title, body]) {
        expect(line).not.toMatch(/[\u0000-\u001F\u007F-\u009F\u2028\u2029\u202A-\u202E\u2066-\u2069\uFFFE\uFFFF]/);
        expect(line.isWellFormed()).toBe(true);
        expect(line).not.toBe("");
      }
      expect(body.length).toBeLessThanOrEqual(200);
      expect(title.length).toBeLessThanOrEqual(80);
    }
    expect(sanitizeNotification(COMPLETE)).toEqual(COMPLETE);
    expect(sanitizeNotification({ title: "", body: "x".repeat(201) }).body).toBe(`${"x".repeat(199)}…`);
  });
});

describe("text is data (O2, T22)", () => {
  test("there are 40 hostile texts, all different", () => expect(new Set(HOSTILE_TEXTS).size).toBe(40));

  test("Linux: after `--`, the body as literal markup", async () => {
    stub("notify-send");
    const { notify } = notifier("linux");
    for (const text of HOSTILE_TEXTS) {
      const given = sanitizeNotification({ title: text, body: text });
      expect(await notify({ title: text, body: text })).toBe("shown");
      const [app, end, title, body, ...rest] = recordedArgs();
      expect([app, end, title, rest]).toEqual(["--app-name=gemini-search-mcp", "--", given.title, []]);
      expect(body).not.toMatch(/[<>]|&(?!(?:amp|lt|gt);)/);
      expect(body?.replaceAll("\\\\", "")).not.toContain("\\");
      expect(asShown(body ?? "")).toBe(given.body);
      expect(recorded("stdin")).toBe("");
    }
    expect(existsSync(MARKER)).toBe(false);
  });

  test("macOS: a constant script, the text in argv", async () => {
    stub("osascript");
    const { notify } = notifier("darwin");
    for (const text of HOSTILE_TEXTS) {
      const given = sanitizeNotification({ title: text, body: text });
      expect(await notify({ title: text, body: text })).toBe("shown");
      expect(recordedArgs()).toEqual([
        "-e",
        "on run argv",
        "-e",
        "display notification (item 2 of argv) with title (item 1 of argv)",
        "-e",
        "end run",
        "--",
        given.title,
        given.body,
      ]);
      expect(recorded("stdin")).toBe("");
    }
    expect(existsSync(MARKER)).toBe(false);
  });

  test("Windows: a constant script, the text as ASCII JSON on stdin", async () => {
    stub("powershell.exe");
    const { notify } = notifier("win32");
    for (const text of HOSTILE_TEXTS) {
      expect(await notify({ title: text, body: text })).toBe("shown");
      expect(recordedArgs()).toEqual(["-NoLogo", "-NoProfile", "-NonInteractive", "-Command", TOAST_SCRIPT]);
      expect(recorded("stdin")).toMatch(/^[ -~]+$/);
      expect(JSON.parse(recorded("stdin"))).toEqual(sanitizeNotification({ title: text, body: text }));
    }
    expect(existsSync(MARKER)).toBe(false);
  });

  test("Windows: nothing in the script needs quoting on a command line, nor do quotes it does not know end a string", () => {
    expect(TOAST_SCRIPT).toMatch(/^[ -~]+$/);
    expect(TOAST_SCRIPT).not.toMatch(/["`]|\\$/);
  });
});

describe("the notifier process", () => {
  test("gets no secret and has its own working directory", async () => {
    stub("notify-send");
    const secrets = { GEMINI_API_KEY: "a-secret", MCP_AUTH_TOKEN: "a-secret", HOME: "/home/somebody", DISPLAY: ":7" };
    expect(await notifier("linux", secrets).notify(COMPLETE)).toBe("shown");
    const names = recorded("env")
      .split("\n")
      .map((line) => line.split("=")[0] ?? "");
    // Except variables that the stub's own shell sets, and those that keep tests on loopback.
    expect(
      names.filter((name) => !["PWD", "OLDPWD", "SHLVL", "_", "", ...LOOPBACK_ONLY_VARIABLES].includes(name)).sort(),
    ).toEqual(["DBUS_SESSION_BUS_ADDRESS", "HOME"]);
    expect(recorded("cwd").trim()).toBe(folder);
  });

  test("finds the session bus where systemd puts it when no variable names it (O1)", () => {
    const runtime = join(folder, "run user");
    mkdirSync(runtime);
    expect(sessionBus({}, runtime)).toBeUndefined();
    writeFileSync(join(runtime, "bus"), "");
    const address = `unix:path=${folder}/run%20user/bus`;
    expect(sessionBus({}, runtime)).toBe(address);
    expect(sessionBus({ XDG_RUNTIME_DIR: runtime }, "/nowhere")).toBe(address);
    expect(sessionBus({ DBUS_SESSION_BUS_ADDRESS: "" }, runtime)).toBe(address);
    expect(sessionBus({ ...BUS }, runtime)).toBe(BUS.DBUS_SESSION_BUS_ADDRESS);
    expect(sessionBus({ XDG_RUNTIME_DIR: "." }, "/nowhere")).toBeUndefined();
  });

  test("is located once, by absolute path only", async () => {
    stub("notify-send");
    const { notify } = notifier("linux", { PATH: `:.:relative:${folder}` });
    expect(await notify(COMPLETE)).toBe("shown");
    rmSync(join(folder, "notify-send"));
    expect(await notify(COMPLETE)).toBe("unavailable");
    const before = process.cwd();
    process.chdir(folder);
    stub("notify-send");
    try {
      expect(await notifier("linux", { PATH: "::.:./" }).notify(COMPLETE)).toBe("unavailable");
    } finally {
      process.chdir(before);
    }
  });
});

describe("a notification that cannot be shown is one log line and no error (O1)", () => {
  const line = (why: string): string[] => [
    `[INFO] Deep Research Complete (1b4e28ba: finished in 12 min). No desktop notification: ${why}.\n`,
  ];

  test.each([
    ["linux", "notify-send"],
    ["darwin", "osascript"],
    ["win32", "powershell.exe"],
  ] as const)("without a notifier on %s", async (platform, program) => {
    expect(await notifier(platform).notify(COMPLETE)).toBe("unavailable");
    expect(lines).toEqual(line(`${program} is not on PATH`));
  });

  // The case without a session bus cannot be tested on a machine that has one.
  test.skipIf(sessionBus({}) !== undefined)(
    "without a session bus, where the program is not even started",
    async () => {
      stub("notify-send");
      expect(await notifier("linux", { DBUS_SESSION_BUS_ADDRESS: "" }).notify(COMPLETE)).toBe("unavailable");
      expect(lines).toEqual(line("there is no session bus"));
      expect(existsSync(join(folder, "argv"))).toBe(false);
    },
  );

  test("with a notifier that fails, whose output stays out of the log", async () => {
    stub("notify-send", "echo 'GDBus.Error: foreign text' >&2; exit 1");
    expect(await notifier("linux").notify(COMPLETE)).toBe("unavailable");
    expect(lines).toEqual(line("notify-send ended with exit code 1"));
  });

  test("with a notifier that hangs and ignores signals, which is killed at its limit (R6)", async () => {
    stub("notify-send", "trap '' TERM; echo $$ > pid; while :; do /bin/sleep 1; done");
    expect(await notifier("linux", {}, { limitMs: 1_000 }).notify(COMPLETE)).toBe("unavailable");
    expect(lines).toEqual(line("notify-send did not end within 1 s"));
    expect(existsSync(`/proc/${recorded("pid").trim()}`)).toBe(false);
  });

  test("not with one that a busy machine delays: it has ten seconds (R2)", async () => {
    stub("notify-send");
    const limits: number[] = [];
    const run = (request: ChildRequest): Promise<ChildOutcome> => {
      limits.push(request.timeoutMs + request.grace());
      return runChild(request);
    };
    expect(await notifier("linux", {}, { run }).notify(COMPLETE)).toBe("shown");
    expect(limits).toEqual([10_000]);
  });

  test("with a notifier file that cannot be executed", async () => {
    writeFileSync(join(folder, "notify-send"), "#!/nonexistent/interpreter\n", { mode: 0o755 });
    expect(await notifier("linux").notify(COMPLETE)).toBe("unavailable");
    expect(lines).toEqual(line("notify-send could not be started"));
  });
});

/** A body after processing by notify-send and the desktop. */
const asShown = (argument: string): string =>
  argument.replaceAll("\\\\", "\\").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

const TOAST_SCRIPT =
  "$ErrorActionPreference = 'Stop'; " +
  "$note = (@($input) -join '') | ConvertFrom-Json; " +
  "[void][Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]; " +
  "[void][Windows.Data.Xml.Dom.XmlDocument, Windows.Data.Xml.Dom.XmlDocument, ContentType = WindowsRuntime]; " +
  "$kind = [Windows.UI.Notifications.ToastTemplateType]::ToastText02; " +
  "$xml = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent($kind); " +
  "$lines = $xml.GetElementsByTagName('text'); " +
  "[void]$lines.Item(0).AppendChild($xml.CreateTextNode([string]$note.title)); " +
  "[void]$lines.Item(1).AppendChild($xml.CreateTextNode([string]$note.body)); " +
  "$toast = [Windows.UI.Notifications.ToastNotification]::new($xml); " +
  "$app = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\\WindowsPowerShell\\v1.0\\powershell.exe'; " +
  "[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier($app).Show($toast)";
