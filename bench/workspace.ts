/** A temporary folder for the files of a bench, removed afterwards, even if the bench is interrupted. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export async function withWorkspace<T>(use: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), "gemini-search-bench-"));
  const remove = (): void => rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  const stop = (): void => process.exit(130);
  process.on("exit", remove).on("SIGINT", stop).on("SIGTERM", stop);
  try {
    return await use(directory);
  } finally {
    remove();
    process.off("exit", remove).off("SIGINT", stop).off("SIGTERM", stop);
  }
}
