/** Kills processes of a Gemini CLI call that left its process group: daemons, and orphans of a server that died. */

import { readdir, readFile } from "node:fs/promises";

/** A process may fork while the list is read. */
const MAX_PASSES = 3;

/** Finds them by the call's home in their environment, which is readable on Linux only; does nothing elsewhere. */
export async function killStragglers(cliHome: string): Promise<void> {
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const pids = await processesOf(cliHome);
    if (pids.length === 0) return;
    for (const pid of pids) kill(pid);
  }
}

async function processesOf(cliHome: string): Promise<number[]> {
  const entry = `\0GEMINI_CLI_HOME=${cliHome}\0`;
  const names = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    names.map(async (name) => {
      // Unreadable if the process belongs to another user or has exited.
      const environment = await readFile(`/proc/${name}/environ`, "utf8").catch(() => "");
      return `\0${environment}`.includes(entry) ? [Number(name)] : [];
    }),
  );
  return found.flat();
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has already exited.
  }
}
