/** Identifies a process so that another process can determine later whether it is still alive. */

import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { errorCodeOf } from "./error-code.ts";

export interface ProcessIdentity {
  processId: string;
  host: string;
  pid: number;
  /** Differs if the pid was reused by another process; null if the platform does not provide it. */
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

/** `unknown`: only the process itself or its lease can answer. */
export type Liveness = "alive" | "dead" | "unknown";

export const liveness = (other: Omit<ProcessIdentity, "processId">): Liveness =>
  other.host === hostname() ? livenessHere(other) : "unknown";

/** For a process that is known to be on this machine. */
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
    // EPERM: the process exists and belongs to another user.
    return errorCodeOf(error) === "EPERM";
  }
}

/** Boot id and start tick: unique together, because pids are reused and ticks restart with the machine. */
function startMarkOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The program name may contain spaces and parentheses; the fields after the last parenthesis are regular.
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

/** A random id for platforms without boot id and namespaces: then no pid is ever compared. */
let randomScope: string | undefined;

/**
 * Identifies the scope in which a pid is unique: this boot of this machine, and this container. A host name does not
 * suffice, because machines share names and containers share pids.
 */
export function machineMark(): string {
  try {
    return `${hostname()} ${bootId()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    randomScope ??= crypto.randomUUID();
    return `${hostname()} ${randomScope}`;
  }
}
