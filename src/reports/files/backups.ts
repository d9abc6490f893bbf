/** The files of reports that the database refused in this process, with what Google charged for. */

import type { AgentUsage } from "../../gemini/research-agent.ts";

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
  of(taskId: string): Backup | undefined;
  /** Saves a report once; resolves with its path. */
  save(report: RefusedReport): Promise<string | undefined>;
  remove(taskIds: ReadonlySet<string>): Promise<void>;
}

/** `directories`: in the order in which they are tried. */
export function createBackups(directories: readonly string[]): Backups {
  const saved = new Map<string, Backup>();
  return {
    of: (taskId) => saved.get(taskId),
    save: async ({ usage, ...report }) => {
      const known = saved.get(report.taskId);
      if (known !== undefined) return known.path;
      const { saveReportBackup } = await import("./report-backups.ts");
      const path = await saveReportBackup(directories, report);
      if (path !== undefined) saved.set(report.taskId, { path, usage });
      return path;
    },
    remove: async (taskIds) => {
      const { removeReportBackups } = await import("./report-backups.ts");
      await removeReportBackups(directories, taskIds);
    },
  };
}
