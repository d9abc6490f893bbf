/** Ends what a Gemini CLI call started and no process group holds any more: daemons, and orphans of a server that died. */

import { readdir, readFile } from "node:fs/promises";

/** A process may fork while we look. */
const MOST_LOOKS = 3;

/** Known by the call's own home in their environment, which only Linux lets us read; elsewhere nothing is done. */
export async function killStragglers(cliHome: string): Promise<void> {
  for (let look = 0; look < MOST_LOOKS; look += 1) {
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
      // Unreadable: somebody else's, or gone.
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
    // It has just gone by itself.
  }
}
