/**
 * A real desktop for notifications: a virtual X server, a separate session bus, and dunst, which prints notifications.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureSystemPackages } from "../../../scripts/system-packages.ts";
import { runChild } from "../../../src/platform/child.ts";

export const notificationDesktop = (): Promise<"ready" | "missing"> =>
  ensureSystemPackages(["xvfb", "dbus", "libnotify-bin", "dunst"], {
    commands: ["Xvfb", "dbus-daemon", "dbus-send", "notify-send", "dunst"],
  });

interface ReceivedNotification {
  appName: string;
  title: string;
  /** As sent over the bus, where the body is markup. */
  body: string;
  urgency: string;
  /** By `performance.now()`. */
  at: number;
}

export interface NotificationDaemon {
  /** Directs a program to this desktop. */
  environment: { DISPLAY: string; DBUS_SESSION_BUS_ADDRESS: string };
  /** Contains the bus's socket, with the name that systemd gives it. */
  runtimeDirectory: string;
  received(): ReceivedNotification[];
}

const START_MS = 15_000;

/** Everything that it starts ends with the test, or at the latest with this process, however that ends. */
export async function startNotificationDaemon({
  onTestFinished,
}: {
  onTestFinished: (end: () => Promise<void>) => void;
}): Promise<NotificationDaemon> {
  const directory = mkdtempSync(join(tmpdir(), "gemini-search-desktop-"));
  const programs = createPrograms();
  onTestFinished(async () => {
    await programs.end();
    rmSync(directory, { recursive: true, force: true });
  });
  const bus = { DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(directory, "bus")}` };
  writeFileSync(join(directory, "bus.conf"), busConfig(bus.DBUS_SESSION_BUS_ADDRESS));
  // An empty configuration, because the user's own rules could hide notifications.
  writeFileSync(join(directory, "dunstrc"), "[global]\n");

  const screen = programs.start("Xvfb", ["-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp"], {});
  const daemon = programs.start(
    "dbus-daemon",
    [`--config-file=${join(directory, "bus.conf")}`, "--nofork", "--nopidfile", "--print-address=1"],
    {},
  );
  await until(
    "the X server and the bus",
    () => screen.output().endsWith("\n") && daemon.output().endsWith("\n"),
    () => screen.errors() + daemon.errors(),
  );
  const environment = { DISPLAY: `:${screen.output().trim()}`, ...bus };
  const received: ReceivedNotification[] = [];
  const dunst = programs.start("dunst", ["-conf", join(directory, "dunstrc"), "-print"], environment, (printed) => {
    for (const found of printedNotifications(printed).slice(received.length)) {
      received.push({ ...found, at: performance.now() });
    }
  });
  await until("dunst", () => isListening(bus), dunst.errors);
  return { environment, runtimeDirectory: directory, received: () => [...received] };
}

interface Program {
  output: () => string;
  errors: () => string;
}

/**
 * Ends the program when stdin ends: on request, or because we are dead, even by `kill -9`. Uses its own process group,
 * so that Ctrl-C of the tests does not end the guard before the program.
 */
const GUARD = '"$@" & program=$!; cat > /dev/null; kill "$program"; wait "$program"';

function createPrograms() {
  const guards: { end: () => void; gone: Promise<unknown> }[] = [];
  return {
    start: (
      command: string,
      args: string[],
      environment: Record<string, string>,
      onPrinted?: (all: string) => void,
    ): Program => {
      const guard = spawn("sh", ["-c", GUARD, "guard", command, ...args], {
        env: { PATH: process.env["PATH"] ?? "", HOME: tmpdir(), ...environment },
        detached: true,
      });
      guards.push({ end: () => guard.stdin.end(), gone: once(guard, "close") });
      let output = "";
      let errors = "";
      guard.stdout.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        onPrinted?.(output);
      });
      guard.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
      return { output: () => output, errors: () => errors };
    },
    end: async () => {
      for (const guard of guards) guard.end();
      await Promise.all(guards.map(({ gone }) => gone));
    },
  };
}

/** Has no service directories, so that only dunst can answer, whatever else is installed. */
const busConfig = (address: string): string => `<!DOCTYPE busconfig PUBLIC
  "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>${address}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
`;

async function isListening(bus: Record<string, string>): Promise<boolean> {
  let answer = "";
  await runChild({
    command: "dbus-send",
    args: [
      "--session",
      "--print-reply=literal",
      "--dest=org.freedesktop.DBus",
      "/org/freedesktop/DBus",
      "org.freedesktop.DBus.NameHasOwner",
      "string:org.freedesktop.Notifications",
    ],
    cwd: tmpdir(),
    env: { PATH: process.env["PATH"] ?? "", ...bus },
    stdin: "",
    timeoutMs: 2_000,
    signal: new AbortController().signal,
    grace: () => 100,
    onOutput: (text) => (answer += text),
  });
  return answer.includes("true");
}

async function until(what: string, isSo: () => boolean | Promise<boolean>, errors: () => string): Promise<void> {
  const deadline = performance.now() + START_MS;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`${what} did not start. ${errors()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Our values are single lines, so a line break ends a value. */
const PRINTED =
  /^\{\n\tappname: '(?<appName>.*)'\n\tsummary: '(?<title>.*)'\n\tbody: '(?<body>.*)'\n[^}]*?\n\turgency: (?<urgency>\w+)/gm;

const printedNotifications = (printed: string): Omit<ReceivedNotification, "at">[] =>
  [...printed.matchAll(PRINTED)].map(({ groups: found = {} }) => ({
    appName: found["appName"] ?? "",
    title: found["title"] ?? "",
    body: found["body"] ?? "",
    urgency: found["urgency"] ?? "",
  }));
