/** Shows a desktop notification when a run has ended, or logs it if there is no desktop; never fails. */

import { dirname } from "node:path";
import type { ChildOutcome, ChildRequest } from "../platform/child.ts";
import { durationText } from "../platform/duration.ts";
import { findProgram } from "../platform/find-program.ts";
import type { Log } from "../platform/log.ts";
import { desktopCommand } from "./desktop-command.ts";
import { notifierEnvironment } from "./desktop-environment.ts";
import { type Notification, sanitizeNotification } from "./notification.ts";

export interface EndedRun {
  taskId: string;
  outcome: "completed" | "failed";
  durationMs: number;
  /** Why the run failed: one of our own sentences, never text from a page, a model or an upstream error. */
  reason?: string | undefined;
}

export function notificationFor({ taskId, outcome, durationMs, reason }: EndedRun): Notification {
  const run = taskId.slice(0, 8);
  if (outcome === "completed") {
    return { title: "Deep Research Complete", body: `${run}: finished in ${durationText(durationMs)}` };
  }
  return { title: "Deep Research Failed", body: `${run}: ${reason ?? `failed after ${durationText(durationMs)}`}` };
}

export const planNotification = (taskId: string): Notification => ({
  title: "Research Plan Ready",
  body: `${taskId.slice(0, 8)}: waiting for your approval`,
});

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
