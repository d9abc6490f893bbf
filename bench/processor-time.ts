/** CPU time and memory of other processes and their children, as counted by the kernel. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The kernel's clock ticks on every Linux that Node.js supports. */
const TICKS_PER_SECOND = 100;

/** In milliseconds, of the threads that the process has now: finer than ticks, and without its children. */
export function threadsMs(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  const nanoseconds = (thread: string): number =>
    Number(readFileSync(join(tasks, thread, "schedstat"), "utf8").split(" ", 1)[0]);
  return readdirSync(tasks).reduce((sum, thread) => sum + nanoseconds(thread), 0) / 1e6;
}

function fieldsOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}

/** In milliseconds: its own, its children's, and that of ended children. */
export function processorMs(pid: number): number {
  const everyPid = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  const children = everyPid.filter((child) => fieldsOf(child)[1] === String(pid));
  const ticks = (of: number, last: number): number =>
    fieldsOf(of)
      .slice(11, last)
      .reduce((sum, field) => sum + Number(field), 0);
  // utime and stime, and for the process itself cutime and cstime.
  const all = children.reduce((sum, child) => sum + ticks(child, 13), ticks(pid, 15));
  return (all / TICKS_PER_SECOND) * 1_000;
}
