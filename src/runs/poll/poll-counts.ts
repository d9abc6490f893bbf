/** Counts the polls of this process by outcome and minute, for the fleet status. */

import type { Agent, PollResult } from "../../gemini/research-agent.ts";
import type { Clock } from "../../platform/clock.ts";

export const POLL_ERRORS = [
  "rate_limited",
  "server_error",
  "timeout",
  "network",
  "wrong_key",
  "rejected",
  "database",
] as const;
export type PollError = (typeof POLL_ERRORS)[number];
type PollOutcome = PollError | "answered";

/** As stored with a heartbeat, oldest first. */
type CountedMinutes = { minute: number; counts: Partial<Record<PollOutcome, number>> }[];

export interface PollCounts {
  add(outcome: PollOutcome): void;
  lastMinutes(): CountedMinutes;
}

const MINUTE_MS = 60_000;
const COUNTED_MINUTES = 5;

export function createPollCounts(clock: Pick<Clock, "now">): PollCounts {
  let counted: CountedMinutes = [];
  const current = (): number => Math.floor(clock.now() / MINUTE_MS);
  const recent = (): CountedMinutes => counted.filter(({ minute }) => isRecent(minute, current()));
  return {
    add: (outcome) => {
      const minute = current();
      if (counted.at(-1)?.minute !== minute) counted = [...recent(), { minute, counts: {} }];
      const counts = counted.at(-1)?.counts ?? {};
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    },
    lastMinutes: recent,
  };
}

export const countPolls = (agent: Agent, counts: PollCounts): Agent => ({
  ...agent,
  poll: async (id, signal) => {
    const result = await agent.poll(id, signal);
    if (!signal.aborted) counts.add(outcomeOf(result));
    return result;
  },
});

function outcomeOf(result: PollResult): PollOutcome {
  if (result.kind === "rate_limited" || result.kind === "rejected") return result.kind;
  if (result.kind === "forbidden") return "wrong_key";
  if (result.kind !== "unreachable") return "answered";
  const { reason } = result.error;
  if (reason === "auth") return "wrong_key";
  if (reason === "timeout") return "timeout";
  return reason === "network" || reason === "not_google" ? "network" : "server_error";
}

/** The current minute and the complete ones before it; none from before the clock was set back. */
const isRecent = (minute: number, now: number): boolean => minute <= now && minute > now - COUNTED_MINUTES;

export interface SummedPolls {
  polls: number;
  errors: Partial<Record<PollError, number>>;
  /** The period covered; shorter after a start. */
  seconds: number;
}

/** Sums the last minutes of several processes. */
export function sumPolls(stored: readonly string[], { now, since }: { now: number; since: number }): SummedPolls {
  const minute = Math.floor(now / MINUTE_MS);
  const all = stored.flatMap((text): CountedMinutes => JSON.parse(text)).filter((one) => isRecent(one.minute, minute));
  const errors: SummedPolls["errors"] = {};
  let polls = 0;
  for (const [outcome, count] of all.flatMap(({ counts }) => Object.entries(counts))) {
    const error = POLL_ERRORS.find((known) => known === outcome);
    // A failed database request is not a poll.
    if (error !== "database") polls += count;
    if (error !== undefined) errors[error] = (errors[error] ?? 0) + count;
  }
  const from = Math.max((minute - COUNTED_MINUTES + 1) * MINUTE_MS, since);
  return { polls, errors, seconds: Math.max(1, (now - from) / 1_000) };
}
