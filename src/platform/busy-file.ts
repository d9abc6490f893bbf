/** Retries file operations that Windows refuses while a scanner or an editor has the file open. */

import { setTimeout as delay } from "node:timers/promises";
import { errorCodeOf } from "./error-code.ts";

const BUSY = ["EPERM", "EBUSY", "EACCES"];
const MAX_TRIES = 10;
const RETRY_DELAY_MS = 200;

export async function retryWhileFileBusy<T>(
  action: () => Promise<T>,
  { platform = process.platform, delayMs = RETRY_DELAY_MS }: { platform?: NodeJS.Platform; delayMs?: number } = {},
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await action();
    } catch (error) {
      if (platform !== "win32" || !BUSY.includes(errorCodeOf(error)) || tries === MAX_TRIES) throw error;
      await delay(delayMs);
    }
  }
}
