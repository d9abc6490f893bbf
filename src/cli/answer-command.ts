/** Commands that are no operation but answer like one: on stdout, as text or JSON, with the same errors and exit codes. */

import { type App, type AppOptions, createApp } from "../app.ts";
import { refused } from "../operations/perform.ts";
import { leaveOnSignals } from "../platform/shutdown.ts";
import { EXIT_CODES, failureCode } from "./exit-codes.ts";
import { print, printFailure } from "./output.ts";

export interface Answer {
  structured: Record<string, unknown>;
  text: string;
  /** Said beside the answer, so that a script gets the answer alone. */
  remark?: string;
  /** When it is not 0. */
  exitCode?: number;
}

export async function runAnswer(
  json: boolean,
  act: (app: App) => Promise<Answer>,
  options: Pick<AppOptions, "maintains"> = {},
): Promise<void> {
  const app = createApp({ logFrom: "WARN", ...options });
  const { shutdown, deps } = app;
  leaveOnSignals(shutdown, () => EXIT_CODES.interrupted);
  // `| head` closes our stdout early; that is not an error.
  process.stdout.on("error", () => void shutdown.leave(EXIT_CODES.ok));
  try {
    const { structured, text, remark, exitCode = EXIT_CODES.ok } = await shutdown.during(act(app));
    if (remark !== undefined) await printFailure(remark);
    await print(json ? JSON.stringify(structured, null, 2) : text);
    await shutdown.leave(exitCode);
  } catch (error) {
    const { structured, text } = refused(error, deps);
    await printFailure(text);
    if (json) await print(JSON.stringify(structured, null, 2));
    await shutdown.leave(failureCode(structured));
  }
}
