/** Who a process is, well enough to tell later whether it still lives. */

import { readFileSync, readlinkSync } from "node:fs";
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
    processId: crypto.randomUUID(),
    host: hostname(),
    pid: process.pid,
    startMark: startMarkOf(process.pid),
  };
}

/** `unknown` when only the owner itself or its lease can tell. */
export type Liveness = "alive" | "dead" | "unknown";

export const liveness = (other: Omit<ProcessIdentity, "processId">): Liveness =>
  other.host === hostname() ? livenessHere(other) : "unknown";

/** Of a process that is known to be on this machine. */
export function livenessHere(other: Pick<ProcessIdentity, "pid" | "startMark">): Liveness {
  if (!pidExists(other.pid)) return "dead";
  if (other.startMark === null) return "unknown";
  return startMarkOf(other.pid) === other.startMark ? "alive" : "dead";
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
export function startMarkOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The program's name may hold spaces and brackets; the fields after the last one are regular.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const state = fields[0];
    const startTicks = fields[19];
    if (state === "Z" || state === "X" || startTicks === undefined) return null;
    return `${bootId()}:${startTicks}`;
  } catch {
    return null;
  }
}

const bootId = (): string => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();

/** One of a kind where the system does not tell: then no process number is ever compared. */
let nowhere: string | undefined;

/**
 * Where a process number means the same process: this boot of this machine, and in it this container. Names alone do
 * not tell, because machines share them and containers share numbers as well.
 */
export function machineMark(): string {
  try {
    return `${hostname()} ${bootId()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    nowhere ??= crypto.randomUUID();
    return `${hostname()} ${nowhere}`;
  }
}
