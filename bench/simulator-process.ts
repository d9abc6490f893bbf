/** The simulator in its own process, so that it does not compete with what is measured. */

import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { z } from "zod";
import type { ScenarioInput } from "../simulator/scenario.ts";
import { ROOT } from "../test/kit/server/server.ts";

const requestCounts = z.object({ requests: z.record(z.string(), z.number()) });

export interface ForkedSimulator {
  url: string;
  pid: number;
  /** Advances the time of all interactions by this many milliseconds. */
  skip(ms: number): Promise<void>;
  setScenario(scenario: ScenarioInput): Promise<void>;
  /** The number of requests about research so far, by response: `{ "get in_progress": 3 }`. */
  countRequests(): Promise<Record<string, number>>;
  close(): Promise<void>;
}

export async function forkSimulator(args: readonly string[] = []): Promise<ForkedSimulator> {
  const child = fork(join(ROOT, "dist/simulator.js"), args, { stdio: ["ignore", "ignore", "ignore", "ipc"] });
  const gone = once(child, "exit");
  const url = await Promise.race([
    once(child, "message").then(([message]) => String(message.url)),
    gone.then(() => Promise.reject(new Error("The simulator did not start."))),
  ]);
  return {
    url,
    pid: child.pid ?? 0,
    skip: async (ms) => void (await fetch(`${url}/__simulator/skip`, { method: "POST", body: String(ms) })),
    setScenario: async (scenario) => {
      const body = JSON.stringify(scenario);
      const { ok, status } = await fetch(`${url}/__simulator/scenario`, { method: "POST", body });
      if (!ok) throw new Error(`The simulator refused the scenario with ${status}.`);
    },
    countRequests: async () => {
      // An offset beyond all starts, so that their list, which is not needed, is empty.
      const answer = await fetch(`${url}/__simulator/starts?from=${Number.MAX_SAFE_INTEGER}`);
      return requestCounts.parse(await answer.json()).requests;
    },
    close: async () => {
      child.disconnect();
      await gone;
    },
  };
}
