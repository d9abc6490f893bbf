/**
 * Reads /proc: which processes are alive, whose environment or command line contains a path, memory, and open files.
 */

import { readdirSync, readFileSync } from "node:fs";

function read(pid: number | string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

/** A zombie counts as ended: only its parent has not read its exit code yet. */
export function isAlive(pid: number): boolean {
  const stat = read(pid, "stat");
  return stat !== "" && !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
}

const everyPid = (): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

export const processesNaming = (text: string): number[] =>
  everyPid().filter((pid) => isAlive(pid) && (read(pid, "cmdline") + read(pid, "environ")).includes(text));

/** The running children of a process, and its zombies. */
export function childrenOf(pid: number): { living: number[]; zombies: number[] } {
  const children = everyPid().filter((child) => fieldsAfterName(child)[1] === String(pid));
  const zombies = children.filter((child) => fieldsAfterName(child)[0] === "Z");
  return { living: children.filter((child) => !zombies.includes(child)), zombies };
}

function fieldsAfterName(pid: number): string[] {
  const stat = read(pid, "stat");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

export const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

/** Resident memory in megabytes. */
export const residentMemory = (pid: number): number =>
  Number(/^VmRSS:\s*(\d+) kB$/m.exec(read(pid, "status"))?.[1]) / 1_024;

/** Peak resident memory in megabytes. */
export const peakMemory = (pid: number): number =>
  Number(/^VmHWM:\s*(\d+) kB$/m.exec(read(pid, "status"))?.[1]) / 1_024;
