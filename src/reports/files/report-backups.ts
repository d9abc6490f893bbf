/** Files with reports that the database refused, and their removal when the run is deleted. */

import { readdir, rm } from "node:fs/promises";
import path from "node:path";
import { renderMarkdown } from "../markdown/markdown.ts";
import { MONTH_FOLDER } from "./file-name.ts";
import { saveMarkdown } from "./save-markdown.ts";

/** Not a prefix that a user chooses for reports of their own, which are kept. */
const PREFIX = "refused-by-database";
const NAME = new RegExp(`^${PREFIX}_([0-9a-f-]{36})_\\d{8}_\\d{6}(?:_\\d+)?\\.md$`);

interface Backup {
  taskId: string;
  query: string;
  report: string;
  now: number;
}

/** Tries several directories, because the disk of the database may be full. Returns the path. */
export async function saveReportBackup(
  directories: readonly string[],
  { taskId, query, report, now }: Backup,
): Promise<string | undefined> {
  const document = { query, report, sources: [], partial: undefined, metadata: undefined, includeSources: false };
  const text = renderMarkdown(document);
  for (const directory of directories) {
    try {
      return (await saveMarkdown({ directory, prefix: PREFIX, taskId, text, now })).path;
    } catch {
      // The next directory may be on another disk.
    }
  }
  return undefined;
}

/** Best effort, also for files of earlier processes, which are found by their names. */
export async function removeReportBackups(directories: readonly string[], taskIds: ReadonlySet<string>): Promise<void> {
  for (const directory of directories) {
    const months = (await readdir(directory).catch(() => [])).filter((name) => MONTH_FOLDER.test(name));
    for (const month of months) {
      const folder = path.join(directory, month);
      const names = await readdir(folder).catch(() => []);
      for (const name of names.filter((candidate) => taskIds.has(NAME.exec(candidate)?.[1] ?? "")))
        await rm(path.join(folder, name), { force: true }).catch(() => undefined);
    }
  }
}
