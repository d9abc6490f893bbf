/** Runs commands that are no operation but answer like one: text or JSON on stdout, the same errors and exit codes. */

import { type App, type AppOptions, createApp } from "../app.ts";
import { LOCAL_OWNER } from "../caller.ts";
import { isDemo } from "../config/config.ts";
import { withPictureLinks } from "../operations/parts/answer-text.ts";
import { refused } from "../operations/perform.ts";
import { cleanValue } from "../platform/clean-text.ts";
import { leaveOnSignals } from "../platform/shutdown.ts";
import { readStored } from "../runs/history/read.ts";
import { answerLogLevel, answerWidth, createLogLines, EXIT_CODES, logsRepairs, print, printFailure } from "./output.ts";
import { printFailedOutcome } from "./print-error.ts";
import type { AnswerSpace, StoredReport } from "./render/answer-view.ts";
import { hyperlinkFor, paintFor } from "./render/paint.ts";

export interface Answer {
  structured: Record<string, unknown>;
  text: string;
  /** Printed on stderr, so that a script reads the answer alone. */
  remark?: string;
  /** 0 when undefined. */
  exitCode?: number;
}

/** Creates the app of a command, which ends on a signal or when its output is no longer read. */
export function openCommand(options: Omit<AppOptions, "logFrom" | "logsRepairs"> = {}): App {
  const { logTo = createLogLines().write, ...more } = options;
  const app = createApp({
    ...more,
    logFrom: answerLogLevel(),
    logsRepairs: logsRepairs(),
    logTo,
  });
  leaveOnSignals(app.shutdown, () => EXIT_CODES.interrupted);
  // `| head` closes stdout early; that is not an error.
  process.stdout.on("error", () => void app.shutdown.leave(EXIT_CODES.ok));
  return app;
}

export async function runAnswer(
  json: boolean,
  act: (app: App) => Promise<Answer>,
  options: Pick<AppOptions, "maintains"> = {},
): Promise<void> {
  const app = openCommand(options);
  const { shutdown, deps } = app;
  try {
    const { structured, text, remark, exitCode = EXIT_CODES.ok } = await shutdown.during(act(app));
    if (remark !== undefined) await printFailure(remark);
    await print(json ? JSON.stringify(structured, null, 2) : text);
    await shutdown.leave(exitCode);
  } catch (error) {
    await shutdown.leave(await printFailedOutcome(refused(error, deps), { json }));
  }
}

export function answerSpace({ config, deps }: Pick<App, "config" | "deps">): AnswerSpace {
  return {
    width: answerWidth(),
    paint: paintFor(process.stdout),
    link: hyperlinkFor(process.stdout, config.environment),
    now: deps.clock.now(),
    home: config.home,
    isDemo: isDemo(config),
    stored: (taskId) => storedReport(deps, taskId),
  };
}

/** Undefined where it cannot be read: the answer is then shown without titles. */
async function storedReport({ database }: App["deps"], taskId: string): Promise<StoredReport | undefined> {
  try {
    const { result } = await readStored(await database(), LOCAL_OWNER, taskId);
    return result && withPictureLinks(taskId, { ...result, sources: cleanValue(result.sources) });
  } catch {
    return undefined;
  }
}
