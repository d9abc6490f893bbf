/** `status`: workers, runs in progress and their polls at a glance; exit code 1 when runs are not polled in time. */

import type { App } from "../../app.ts";
import { isoTime } from "../../platform/clock.ts";
import { countOf } from "../../platform/count.ts";
import type { FleetStatus } from "../../runs/scheduling/fleet-status-store.ts";
import { POLL_ERRORS, type PollError, type SummedPolls } from "../../runs/poll/poll-counts.ts";
import { type Answer, runAnswer } from "../answer-command.ts";
import { answerWidth, EXIT_CODES } from "../output.ts";
import { shell } from "../render/answer-view.ts";
import { formatDuration } from "../render/durations.ts";
import { type Paint, paintFor } from "../render/paint.ts";
import { type Column, tableLines } from "../render/table.ts";
import { wrapToWidth } from "../render/words.ts";

export const printStatus = ({ json }: { json: boolean }): Promise<void> =>
  runAnswer(json, answer, { maintains: false });

async function answer(app: App): Promise<Answer> {
  const status = await app.fleetStatus();
  const problems = problemsOf(status);
  return {
    structured: structuredStatus(status, problems),
    text: statusView(status, problems, { width: answerWidth() ?? PLAIN_WIDTH, paint: paintFor(process.stdout) }),
    exitCode: problems.length === 0 ? EXIT_CODES.ok : EXIT_CODES.failed,
  };
}

const PLAIN_WIDTH = 100;

function structuredStatus({ now, workers, runs, polls, queues }: FleetStatus, problems: Problem[]) {
  return {
    success: true,
    healthy: problems.length === 0,
    problems,
    workers: workers.map(({ host, pid, version, startedAt, lastHeartbeatAt, responds }) => ({
      host,
      pid,
      version: version ?? null,
      since: isoTime(startedAt),
      last_heartbeat: isoTime(lastHeartbeatAt),
      responds,
    })),
    runs: {
      in_progress: runs.inProgress,
      due: runs.due,
      late: runs.late,
      late_by_seconds: Math.round(runs.oldestDueMs / 1_000),
      without_key: runs.withoutKey,
      ...(runs.oldest === undefined
        ? {}
        : {
            oldest: { task_id: runs.oldest.taskId, since_seconds: Math.round((now - runs.oldest.scheduledAt) / 1_000) },
          }),
    },
    polls: {
      per_second: Number((polls.polls / polls.seconds).toFixed(2)),
      window_seconds: Math.round(polls.seconds),
      errors: polls.errors,
    },
    queues,
  };
}

interface StatusSpace {
  width: number;
  paint: Paint;
}

const ERROR_NAMES: Record<string, string> = {
  rate_limited: "429",
  server_error: "5xx",
  timeout: "timeout",
  network: "network",
  wrong_key: "wrong key",
  rejected: "rejected",
  database: "database",
};

export function statusView(status: FleetStatus, problems: Problem[], { width, paint }: StatusSpace): string {
  const { now, workers, runs, polls, queues } = status;
  const row = (name: string, text: string): string => `${name.padEnd(9)}${text}`;
  const responding = workers.filter(({ responds }) => responds).length;
  const errors = Object.entries(polls.errors).map(([cause, count]) => `${ERROR_NAMES[cause] ?? cause} ${count}`);
  const oldest =
    runs.oldest === undefined ? "" : `; the oldest has waited ${formatDuration(now - runs.oldest.scheduledAt)}`;
  return [
    row("Workers", workers.length === 0 ? "none" : `${responding} of ${workers.length} responding`),
    ...(workers.length === 0 ? [] : tableLines(workerColumns(now), workers, { width, paint })).map(
      (line) => `  ${line}`,
    ),
    row("Runs", `${runs.inProgress} in progress, ${runs.due} due, ${runs.late} late${oldest}`),
    row(
      "Polls",
      `${(polls.polls / polls.seconds).toFixed(1)} per second (last ${formatDuration(polls.seconds * 1_000)})`,
    ),
    row("Errors", errors.length === 0 ? "none" : errors.join(", ")),
    ...queues.map(({ name, deferred, ready, active, failed }) =>
      row("Queue", `${name}: ${deferred} scheduled, ${ready} ready, ${active} active, ${failed} failed`),
    ),
    "",
    ...(problems.length === 0
      ? [paint("good", "Healthy.")]
      : problems.flatMap(({ message, remedy }) =>
          wrapToWidth(`${message} ${remedy}`, width).map((line) => paint("bad", line)),
        )),
  ].join("\n");
}

const workerColumns = (now: number): Column<FleetStatus["workers"][number]>[] => [
  { title: "Host", cell: ({ host }) => host },
  { title: "Process", cell: ({ pid }) => String(pid), align: "right" },
  { title: "Version", cell: ({ version }) => version ?? "?", dropped: 1 },
  { title: "Running for", cell: ({ startedAt }) => formatDuration(now - startedAt), dropped: 2 },
  {
    title: "Last heartbeat",
    cell: ({ lastHeartbeatAt, responds }) =>
      `${formatDuration(now - lastHeartbeatAt)} ago${responds ? "" : " (does not respond)"}`,
    style: ({ responds }) => (responds ? undefined : "bad"),
  },
];

interface Problem {
  message: string;
  remedy: string;
}

/** Fewer failed polls may be due to a single run. */
const MIN_FAILED_POLLS = 3;

export function problemsOf({ workers, runs, polls, schedules }: FleetStatus): Problem[] {
  const isPolling = workers.some(({ responds }) => responds);
  if (runs.inProgress > 0 && !isPolling) {
    const message = `No worker is running, and ${counted(runs.inProgress)} in progress.`;
    return [{ message, remedy: `Start one: ${shell("worker")}` }];
  }
  const problems: Problem[] = [];
  if (schedules > 0 && !isPolling) {
    const message = `${countOf(schedules, "schedule")} ${schedules === 1 ? "is" : "are"} active, but no worker is running.`;
    problems.push({ message, remedy: `Keep one running: ${shell("worker")}` });
  }
  if (runs.withoutKey > 0) {
    const message = `No worker has the key of ${countOf(runs.withoutKey, "run")}.`;
    problems.push({ message, remedy: "Start a worker with the GEMINI_API_KEY that started them." });
  }
  if (runs.late > 0) {
    const message = `${counted(runs.late)} late, by up to ${Math.round(runs.oldestDueMs / 1_000)} s.`;
    problems.push({ message, remedy: remedyFor(polls) ?? `Start more workers: ${shell("worker")}` });
  } else if (runs.inProgress > 0 && failedPolls(polls) >= Math.max(MIN_FAILED_POLLS, polls.polls / 2)) {
    const message = `${failedPolls(polls)} of the last ${polls.polls} polls failed.`;
    problems.push({ message, remedy: remedyFor(polls) ?? "" });
  }
  return problems;
}

/** Database errors are not counted, because no poll was sent. */
const failedPolls = ({ errors }: SummedPolls): number =>
  POLL_ERRORS.filter((error) => error !== "database").reduce((sum, error) => sum + (errors[error] ?? 0), 0);

const counted = (runs: number): string => `${countOf(runs, "run")} ${runs === 1 ? "is" : "are"}`;

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
