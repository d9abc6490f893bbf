/** Processor time and memory of other processes and all their children, as the kernel counts them. */

import { readdirSync, readFileSync } from "node:fs";

/** Of the kernel's unit for it, on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

function fieldsOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}

/** In milliseconds: its own, its children's, and that of children that have ended. */
export function processorMs(pid: number): number {
  const everyPid = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  const children = everyPid.filter((child) => fieldsOf(child)[1] === String(pid));
  const ticks = (of: number, last: number): number =>
    fieldsOf(of)
      .slice(11, last)
      .reduce((sum, field) => sum + Number(field), 0);
  // utime, stime, and for itself cutime and cstime.
  const all = children.reduce((sum, child) => sum + ticks(child, 13), ticks(pid, 15));
  return (all / TICKS_PER_SECOND) * 1_000;
}
