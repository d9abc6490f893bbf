/** The built `worker` in a process that reports its own resource use, which the product does not do. */

import { fork } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { z } from "zod";
import { BIN } from "../test/kit/server/server.ts";

/**
 * Runs inside the process. JavaScript, because stripping types would use memory as well. Not `maxRSS`: a forked process
 * inherits that of its parent, even after exec.
 */
const SELF_REPORT = `
  import { readFileSync } from "node:fs";
  process.on("message", () => {
    const { userCPUTime, systemCPUTime } = process.resourceUsage();
    const resources = process.getActiveResourcesInfo();
    const peakKb = Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]);
    process.send({ cpuMs: (userCPUTime + systemCPUTime) / 1000, peakMb: peakKb / 1024, resources });
  });
  process.channel.unref();
`;

const used = z.object({ cpuMs: z.number(), peakMb: z.number(), resources: z.array(z.string()) });

export type Used = z.output<typeof used>;

export interface WorkerProcess {
  /** When the process was spawned, on the clock of `performance.now()`. */
  spawnedAt: number;
  /** Resolves with the time of the first log line that contains this text. */
  logged(words: string): Promise<number>;
  used(): Promise<Used>;
  close(): Promise<void>;
}

const MAX_EXIT_MS = 10_000;

export function startWorker(env: Record<string, string>): WorkerProcess {
  const preload = `data:text/javascript,${encodeURIComponent(SELF_REPORT)}`;
  const spawnedAt = performance.now();
  const child = fork(BIN, ["worker"], {
    execArgv: ["--import", preload],
    env,
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  if (child.stderr === null) throw new Error("The worker's log cannot be read.");
  const gone = once(child, "exit");
  const lines: { text: string; at: number }[] = [];
  const log = createInterface({ input: child.stderr }).on("line", (text) =>
    lines.push({ text, at: performance.now() }),
  );
  const left = gone.then(() => Promise.reject(new Error(`The worker left: ${lines.at(-1)?.text}`)));
  // Rejection is expected in the end; other waiters handle it themselves.
  left.catch(() => undefined);
  const logged = async (words: string): Promise<number> => {
    for (;;) {
      const found = lines.find(({ text }) => text.includes(words));
      if (found !== undefined) return found.at;
      await Promise.race([once(log, "line"), left]);
    }
  };
  return {
    spawnedAt,
    logged,
    used: async () => {
      child.send("report");
      const [answer] = await Promise.race([once(child, "message"), left]);
      return used.parse(answer);
    },
    close: async () => {
      const killTimer = setTimeout(() => child.kill("SIGKILL"), MAX_EXIT_MS);
      child.kill("SIGTERM");
      await gone;
      clearTimeout(killTimer);
    },
  };
}
