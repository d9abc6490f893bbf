/** Starts the stand-in for Google in its own process, configures its responses and collects the polls it received. */

import { fork } from "node:child_process";
import { once } from "node:events";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import type { Poll } from "./polls.ts";

/** Prefix of the interaction ids, followed by the number of the run. */
export const RUN_PREFIX = "bench-";

export interface Behaviour {
  latencyMs: number;
  /** Share of polls that return a change. */
  changedShare: number;
  /** Share of polls without a response. */
  hungShare: number;
  /** Whether every run has ended with its report. */
  ended: boolean;
}

/** Google responds after 100 ms, and 30 % of the responses contain a change. */
export const NORMAL: Behaviour = { latencyMs: 100, changedShare: 0.3, hungShare: 0, ended: false };

export interface Google {
  url: string;
  pid: number;
  behave(behaviour: Behaviour): void;
  /** The polls since the last call. */
  takePolls(): Promise<Poll[]>;
  close(): Promise<void>;
}

/**
 * Raises its priority, because polls are timed there: on a busy machine a late process would record bursts that did not
 * happen. Needs root.
 */
function raisePriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_HIGHEST);
  } catch {
    process.stderr.write("The stand-in has no priority: bursts may be those of this machine.\n");
  }
}

export async function startGoogle(): Promise<Google> {
  const child = fork(join(import.meta.dirname, "google.ts"), { serialization: "advanced" });
  const exited = once(child, "exit");
  raisePriority(child.pid ?? 0);
  const received = (): Promise<unknown[]> =>
    Promise.race([once(child, "message"), exited.then(() => Promise.reject(new Error("The stand-in has ended.")))]);
  const [{ url }] = (await received()) as [{ url: string }];
  return {
    url,
    pid: child.pid ?? 0,
    behave: (behaviour) => void child.send(behaviour),
    takePolls: async () => {
      child.send("polls");
      const [{ runs, times }] = (await received()) as [{ runs: Uint32Array; times: Float64Array }];
      return Array.from(runs, (run, index) => ({ run, at: times[index] ?? 0 }));
    },
    close: async () => {
      child.disconnect();
      await exited;
    },
  };
}
