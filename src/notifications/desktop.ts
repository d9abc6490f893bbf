/** Tells a person on this desktop that a run has ended, or the log where there is no desktop; never fails. */

import { dirname } from "node:path";
import type { ChildOutcome, ChildRequest } from "../platform/child.ts";
import type { Log } from "../platform/log.ts";
import { desktopCommand } from "./desktop-command.ts";
import { findProgram, notifierEnvironment } from "./desktop-environment.ts";
import { type Notification, type NotificationKind, presentable } from "./notification.ts";

export interface EndedRun {
  taskId: string;
  outcome: NotificationKind;
  durationMs: number;
  /** Why it failed: a sentence of ours, never text from a page, a model or an upstream error. */
  reason?: string | undefined;
}

export function notificationFor({ taskId, outcome, durationMs, reason }: EndedRun): Notification {
  const run = taskId.slice(0, 8);
  if (outcome === "completed") {
    return { title: "Deep Research Complete", body: `${run}: finished in ${inWords(durationMs)}` };
  }
  return { title: "Deep Research Failed", body: `${run}: ${reason ?? `failed after ${inWords(durationMs)}`}` };
}

function inWords(durationMs: number): string {
  // The clock may have been set back while the run lasted.
  const seconds = Math.max(0, Math.round(durationMs / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const rest = minutes % 60;
  return `${Math.floor(minutes / 60)} h${rest === 0 ? "" : ` ${rest} min`}`;
}

/** O1 promises two seconds, the time to stop a notifier that hangs included. */
const LIMIT_MS = 2_000;
const GRACE_MS = 200;

export interface DesktopNotifier {
  notify(notification: Notification): Promise<"shown" | "unavailable">;
}

export interface DesktopNotifierOptions {
  platform: NodeJS.Platform;
  environment: Record<string, string | undefined>;
  log: Log;
  run: (request: ChildRequest) => Promise<ChildOutcome>;
}

export function createDesktopNotifier(options: DesktopNotifierOptions): DesktopNotifier {
  const { program } = desktopCommand(options.platform);
  let found: { path: string | undefined } | undefined;
  const path = (): string | undefined => {
    found ??= { path: findProgram(program, options.environment, options.platform) };
    return found.path;
  };
  return {
    notify: async (asked) => {
      const notification = presentable(asked);
      const obstacle = await show(notification, path(), options);
      if (obstacle === undefined) return "shown";
      options.log.info(`${notification.title} (${notification.body}). No desktop notification: ${obstacle}.`);
      return "unavailable";
    },
  };
}

/** Why nothing could be shown here, as far as can be told without showing something. */
export function desktopObstacle(
  platform: NodeJS.Platform,
  environment: DesktopNotifierOptions["environment"],
): string | undefined {
  const { program } = desktopCommand(platform);
  if (findProgram(program, environment, platform) === undefined) return `${program} is not on PATH`;
  return notifierEnvironment(environment, platform) === undefined ? "there is no session bus" : undefined;
}

/** What was in the way, if anything was. */
async function show(
  notification: Notification,
  path: string | undefined,
  { platform, environment, run }: DesktopNotifierOptions,
): Promise<string | undefined> {
  const { program, args, stdin } = desktopCommand(platform);
  if (path === undefined) return `${program} is not on PATH`;
  const env = notifierEnvironment(environment, platform);
  if (env === undefined) return "there is no session bus";
  const outcome = await run({
    command: path,
    args: args(notification),
    // A directory that nobody else can put files into.
    cwd: dirname(path),
    env,
    stdin: stdin(notification),
    timeoutMs: LIMIT_MS - GRACE_MS,
    // Nobody waits for it, and a shutdown stops all children anyway.
    signal: new AbortController().signal,
    grace: () => GRACE_MS,
    onOutput: () => undefined,
  });
  return obstacleIn(outcome, program);
}

/** In our own words: what the program printed is foreign text. */
function obstacleIn(outcome: ChildOutcome, program: string): string | undefined {
  if (outcome.ended === "not_started") return `${program} could not be started`;
  if (outcome.ended === "timeout") return `${program} did not end within ${LIMIT_MS / 1000} s`;
  if (outcome.ended !== "exit") return `${program} was stopped`;
  if (outcome.exitCode === 0) return undefined;
  return `${program} ended with exit code ${outcome.exitCode ?? "none"}`;
}
