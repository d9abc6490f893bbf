/** Renders the status of workers, runs and polls, the verdict last. */

import type { FleetStatus } from "../../runs/scheduling/fleet-status-store.ts";
import { formatDuration } from "./durations.ts";
import type { Paint } from "./paint.ts";
import type { Problem } from "./status-problems.ts";
import { type Column, tableLines } from "./table.ts";
import { wrapToWidth } from "./words.ts";

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
