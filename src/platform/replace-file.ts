/** Replaces a file in one step, and retries what Windows refuses while a scanner or an editor has the file open. */

import { chmod, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
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

export interface Replacing {
  mode: number;
  /** The last step before the new content takes the name. */
  beforeRename?(temporary: string): Promise<void>;
  renameFile?: typeof rename | undefined;
  platform?: NodeJS.Platform | undefined;
}

/** A reader sees the former content or the new one, also after a crash. */
export async function replaceFile(
  file: string,
  content: string | Uint8Array,
  { mode, beforeRename, renameFile = rename, platform = process.platform }: Replacing,
): Promise<void> {
  const temporary = join(dirname(file), `.${basename(file)}.${crypto.randomUUID()}.tmp`);
  try {
    await writeFlushed(temporary, content, mode);
    await beforeRename?.(temporary);
    await retryWhileFileBusy(() => renameFile(temporary, file), { platform });
  } finally {
    await rm(temporary, { force: true }).catch(() => undefined);
  }
}

/** Creates a file with exactly this mode. */
export async function writeFlushed(file: string, content: string | Uint8Array, mode: number): Promise<void> {
  await writeFile(file, content, { flag: "wx", mode, flush: true });
  // The umask narrowed the mode at opening.
  await chmod(file, mode);
}
