/** Heartbeat of a polling process: stores its key and poll counts every ten seconds. */

import { pollKeyOf, recordHeartbeat } from "../../store/processes.ts";
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
    /** May be called more often; writes at most once per interval, and not before `start`. */
    beat: async (): Promise<void> => {
      if (isStarted && Math.abs(clock.now() - beatAt) >= HEARTBEAT_MS) await record();
    },
  };
}
