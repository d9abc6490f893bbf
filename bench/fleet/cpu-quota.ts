/**
 * Limits a process to a share of a core with a control group, version 1 or 2, so that scaling is visible on two cores.
 */

import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Short, because a throttled process is stopped for the rest of the period: with the kernel's default of 100 ms, for
 * 90.
 */
const PERIOD_US = 20_000;
const ROOT = "/sys/fs/cgroup";

export interface CpuQuota {
  /** Removes the limit from the process. */
  remove(): void;
}

/** Undefined if control groups cannot be created, which needs root and a CPU controller. */
export function limitCpu(pid: number, cores: number): CpuQuota | undefined {
  const isVersion2 = existsSync(join(ROOT, "cgroup.controllers"));
  const group = join(ROOT, isVersion2 ? "" : "cpu", `gemini-search-bench-${pid}`);
  const quota = Math.round(cores * PERIOD_US);
  try {
    if (isVersion2) writeFileSync(join(ROOT, "cgroup.subtree_control"), "+cpu");
    mkdirSync(group);
    if (isVersion2) writeFileSync(join(group, "cpu.max"), `${quota} ${PERIOD_US}`);
    else {
      writeFileSync(join(group, "cpu.cfs_period_us"), String(PERIOD_US));
      writeFileSync(join(group, "cpu.cfs_quota_us"), String(quota));
    }
    writeFileSync(join(group, "cgroup.procs"), String(pid));
  } catch {
    return undefined;
  }
  return {
    remove: () => {
      if (existsSync(`/proc/${pid}`)) writeFileSync(join(group, "..", "cgroup.procs"), String(pid));
      rmdirSync(group);
    },
  };
}
