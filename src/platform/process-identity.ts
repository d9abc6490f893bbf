/** Who a process is, well enough to tell later whether it still lives. */

import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

export interface ProcessIdentity {
  processId: string;
  host: string;
  pid: number;
  /** Differs when the pid was given to another process since; null where the system does not tell. */
  startMark: string | null;
}

export function thisProcess(): ProcessIdentity {
  return {
    processId: randomUUID(),
    host: hostname(),
    pid: process.pid,
    startMark: startMark(process.pid),
  };
}

/** `unknown` when only the owner itself or its lease can tell. */
export function liveness(other: Omit<ProcessIdentity, "processId">): "alive" | "dead" | "unknown" {
  if (other.host !== hostname()) return "unknown";
  if (!pidExists(other.pid)) return "dead";
  if (other.startMark === null) return "unknown";
  return startMark(other.pid) === other.startMark ? "alive" : "dead";
}

function pidExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it exists and belongs to somebody else.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Boot and start tick: together unique, because pids repeat and ticks restart with the machine. */
function startMark(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The program's name may hold spaces and brackets; the fields after the last one are regular.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const state = fields[0];
    const startTicks = fields[19];
    if (state === "Z" || state === "X" || startTicks === undefined) return null;
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}:${startTicks}`;
  } catch {
    return null;
  }
}
