/** The simulator in a process of its own, so that it shares no time with what is measured. */

import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { ScenarioInput } from "../src/simulator/scenario.ts";
import { ROOT } from "../test/support/server.ts";

export interface ForkedSimulator {
  url: string;
  setScenario(scenario: ScenarioInput): Promise<void>;
  close(): Promise<void>;
}

export async function forkSimulator(): Promise<ForkedSimulator> {
  const child = fork(join(ROOT, "dist/simulator.js"), { stdio: ["ignore", "ignore", "ignore", "ipc"] });
  const gone = once(child, "exit");
  const url = await Promise.race([
    once(child, "message").then(([message]) => String(message.url)),
    gone.then(() => Promise.reject(new Error("The simulator did not start."))),
  ]);
  return {
    url,
    setScenario: async (scenario) => {
      const body = JSON.stringify(scenario);
      const { ok, status } = await fetch(`${url}/__simulator/scenario`, { method: "POST", body });
      if (!ok) throw new Error(`The simulator refused the scenario with ${status}.`);
    },
    close: async () => {
      child.disconnect();
      await gone;
    },
  };
}
