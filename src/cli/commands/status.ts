/** `status`: workers, runs in progress and their polls at a glance; exit code 1 when runs are not polled in time. */

import type { App } from "../../app.ts";
import { isoTime } from "../../platform/clock.ts";
import type { FleetStatus } from "../../runs/scheduling/fleet-status-store.ts";
import { type Answer, runAnswer } from "../answer-command.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { answerWidth } from "../output.ts";
import { paintFor } from "../render/paint.ts";
import { type Problem, problemsOf } from "../render/status-problems.ts";
import { statusView } from "../render/status-view.ts";

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
