/** Where and how an answer is shown: the window of the terminal, its colours, and the stored report behind an answer. */

import type { App } from "../app.ts";
import { LOCAL_OWNER } from "../caller.ts";
import { isDemo } from "../config/config.ts";
import { withPictureLinks } from "../operations/parts/answer-text.ts";
import { cleanValue } from "../platform/clean-text.ts";
import { readStored } from "../runs/history/read.ts";
import { answerWidth } from "./output.ts";
import type { AnswerSpace, StoredReport } from "./render/answer-view.ts";
import { hyperlinkFor } from "./render/hyperlink.ts";
import { paintFor } from "./render/paint.ts";

export function answerSpace({ config, deps }: Pick<App, "config" | "deps">): AnswerSpace {
  return {
    width: answerWidth(),
    paint: paintFor(process.stdout),
    link: hyperlinkFor(process.stdout, config.environment),
    now: deps.clock.now(),
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
