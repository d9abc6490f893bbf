/** What a process that polls runs stores about itself every few seconds: that it is there, its key, and its polls. */

import { pollKeyOf } from "../../store/poll-key.ts";
import { recordHeartbeat } from "../../store/processes.ts";
import type { ResearchDeps } from "../deps.ts";

const HEARTBEAT_MS = 10_000;

type HeartbeatDeps = Pick<ResearchDeps, "db" | "agent" | "processId" | "clock" | "pollCounts">;

export function createHeartbeat({ db, agent, processId, clock, pollCounts }: HeartbeatDeps) {
  const key = pollKeyOf(agent.fingerprint);
  let beatAt = -Infinity;
  let isStarted = false;
  const record = (): Promise<void> => {
    beatAt = clock.now();
    return recordHeartbeat(db, processId, { key, polls: JSON.stringify(pollCounts.lastMinutes()), now: beatAt });
  };
  return {
    start: async (): Promise<void> => {
      await record();
      isStarted = true;
    },
    /** Called more often than it writes; not before the start. */
    beat: async (): Promise<void> => {
      if (isStarted && Math.abs(clock.now() - beatAt) >= HEARTBEAT_MS) await record();
    },
  };
}
