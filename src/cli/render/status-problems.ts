/** Finds problems with the polling of unfinished runs, each with a remedy. */

import { POLL_ERRORS, type PollError, type SummedPolls } from "../../telemetry/poll-counts.ts";
import type { FleetStatus } from "../../runs/scheduling/fleet-status-store.ts";

export interface Problem {
  message: string;
  remedy: string;
}

/** Fewer failed polls may be due to a single run. */
const MIN_FAILED_POLLS = 3;

export function problemsOf({ workers, runs, polls }: FleetStatus): Problem[] {
  const isPolling = workers.some(({ responds }) => responds);
  if (runs.inProgress > 0 && !isPolling) {
    const message = `No worker is running, and ${counted(runs.inProgress)} in progress.`;
    return [{ message, remedy: "Start one: gemini-search-mcp worker" }];
  }
  const problems: Problem[] = [];
  if (runs.withoutKey > 0) {
    const message = `No worker has the key of ${runs.withoutKey} ${runs.withoutKey === 1 ? "run" : "runs"}.`;
    problems.push({ message, remedy: "Start a worker with the GEMINI_API_KEY that started them." });
  }
  if (runs.late > 0) {
    const message = `${counted(runs.late)} late, by up to ${Math.round(runs.oldestDueMs / 1_000)} s.`;
    problems.push({ message, remedy: remedyFor(polls) ?? "Start more workers: gemini-search-mcp worker" });
  } else if (runs.inProgress > 0 && failedPolls(polls) >= Math.max(MIN_FAILED_POLLS, polls.polls / 2)) {
    const message = `${failedPolls(polls)} of the last ${polls.polls} polls failed.`;
    problems.push({ message, remedy: remedyFor(polls) ?? "" });
  }
  return problems;
}

/** Database errors are not counted, because no poll was sent. */
const failedPolls = ({ errors }: SummedPolls): number =>
  POLL_ERRORS.filter((error) => error !== "database").reduce((sum, error) => sum + (errors[error] ?? 0), 0);

const counted = (runs: number): string => (runs === 1 ? "1 run is" : `${runs} runs are`);

const REMEDIES: Record<PollError, string> = {
  rate_limited: "Google refuses polls (429): lower RESEARCH_MAX_RPS, or raise the key's quota.",
  server_error: "Google's service is failing (5xx). Polls continue; nothing is lost.",
  timeout: "Google does not answer in time. Check the workers' network.",
  network: "Google cannot be reached. Check the workers' network.",
  wrong_key: "Google refuses the key. Check the workers' GEMINI_API_KEY.",
  rejected: "Google rejects the polls. Update gemini-search-mcp.",
  database: "The database refuses requests. Check it and the workers' log.",
};

/** The remedy for the most frequent error; undefined when there are few errors. */
function remedyFor({ polls, errors }: SummedPolls): string | undefined {
  const [most] = POLL_ERRORS.toSorted((one, other) => (errors[other] ?? 0) - (errors[one] ?? 0));
  return most === undefined || (errors[most] ?? 0) < Math.max(1, polls / 10) ? undefined : REMEDIES[most];
}
