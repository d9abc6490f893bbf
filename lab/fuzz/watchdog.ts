/** Watches the current input from another thread; stores one that takes too long, and ends the process. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isMainThread, workerData } from "node:worker_threads";
import { z } from "zod";
import { nameOf } from "./loop.ts";

/** CPU time, because wall-clock time is unreliable on a busy machine. */
const MAX_CPU_MS = 1_000;
/** For an input that waits forever. */
const MAX_WALL_MS = 20_000;
const CHECK_INTERVAL_MS = 100;

if (!isMainThread) {
  const { shared, folder, name } = z
    .object({ shared: z.instanceof(SharedArrayBuffer), folder: z.string(), name: z.string() })
    .parse(workerData);
  const head = new Int32Array(shared, 0, 2);
  let current = 0;
  let since = { cpu: process.cpuUsage(), wall: performance.now() };
  setInterval(() => {
    const number = Atomics.load(head, 0);
    if (number !== current || number <= 0) {
      current = number;
      since = { cpu: process.cpuUsage(), wall: performance.now() };
      return;
    }
    const { user, system } = process.cpuUsage(since.cpu);
    if ((user + system) / 1_000 < MAX_CPU_MS && performance.now() - since.wall < MAX_WALL_MS) return;
    const input = String.fromCharCode(...new Uint16Array(shared, 8, Math.min(head[1] ?? 0, 60_000)));
    writeFileSync(join(folder, `${nameOf(input)}.txt`), JSON.stringify({ target: name, why: "hang", input }));
    process.kill(process.pid, "SIGKILL");
  }, CHECK_INTERVAL_MS);
}
