/** Files with reports that the database refused, and their removal when the run is deleted. */

import { readdir, rm } from "node:fs/promises";
import path from "node:path";
import type { AgentUsage } from "../../gemini/research-agent.ts";
import { MONTH_FOLDER } from "./file-name.ts";

export interface Backup {
  path: string;
  /** Undefined if Google has not reported it. */
  usage: AgentUsage | undefined;
}

interface RefusedReport {
  taskId: string;
  query: string;
  report: string;
  usage: AgentUsage | undefined;
  now: number;
}

export interface Backups {
  /** Of a report that this process has saved. */
  of(taskId: string): Backup | undefined;
  /** Saves a report once; resolves with its path. */
  save(report: RefusedReport): Promise<string | undefined>;
  /** Best effort, also for files of earlier processes, which are found by their names. */
  remove(taskIds: ReadonlySet<string>): Promise<void>;
}

/** Not a prefix that a user chooses for reports of their own, which are kept. */
const PREFIX = "refused-by-database";
const NAME = new RegExp(`^${PREFIX}_([0-9a-f-]{36})_\\d{8}_\\d{6}(?:_\\d+)?\\.md$`);

/** `directories`: in the order in which they are tried, because the disk of the database may be full. */
export function createBackups(directories: readonly string[]): Backups {
  const saved = new Map<string, Backup>();
  return {
    of: (taskId) => saved.get(taskId),
    save: async (report) => {
      const { taskId, usage } = report;
      const file = saved.get(taskId)?.path ?? (await saveToFirst(directories, report));
      if (file !== undefined) saved.set(taskId, { usage, path: file });
      return file;
    },
    remove: async (taskIds) => {
      for (const directory of directories) {
        for (const month of (await namesIn(directory)).filter((name) => MONTH_FOLDER.test(name))) {
          const folder = path.join(directory, month);
          const names = (await namesIn(folder)).filter((name) => taskIds.has(NAME.exec(name)?.[1] ?? ""));
          for (const name of names) await rm(path.join(folder, name), { force: true }).catch(() => undefined);
        }
      }
    },
  };
}

const namesIn = (directory: string): Promise<string[]> => readdir(directory).catch(() => []);

async function saveToFirst(directories: readonly string[], { taskId, query, report, now }: RefusedReport) {
  const { renderMarkdown } = await import("../markdown/markdown.ts");
  const { saveMarkdown } = await import("./save-markdown.ts");
  const document = { query, report, sources: [], partial: undefined, metadata: undefined, includeSources: false };
  const text = renderMarkdown(document);
  for (const directory of directories) {
    try {
      return (await saveMarkdown({ directory, named: { prefix: PREFIX, taskId }, text, now })).path;
    } catch {
      // The next directory may be on another disk.
    }
  }
  return undefined;
}
