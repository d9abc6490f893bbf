/** The metrics of `serve`, in the text format of Prometheus. No label contains a run, an owner or a question. */

import type { Database } from "../store/database.ts";
import { readFleetStatus } from "./scheduling/fleet-status-store.ts";

interface MetricsOptions {
  now: number;
  /** Calls of this process, by the labels of their metric. */
  calls: ReadonlyMap<string, number>;
}

type Metric = [name: string, help: string, samples: Iterable<[labels: string, value: number]>];

/** All but the calls is of the database: the same from every process. */
export async function readMetrics(db: Database, { now, calls }: MetricsOptions): Promise<string> {
  const { workers, runs, polls } = await readFleetStatus(db, now);
  const stored = await db
    .selectFrom("research_tasks")
    .select(["status", "kind", (select) => select.fn.countAll<number>().as("count")])
    .groupBy(["status", "kind"])
    .execute();
  const spent = await db
    .selectFrom("ledger")
    .select(["state", "kind", (select) => select.fn.sum<number>("micros").as("micros")])
    .where("state", "!=", "released")
    .groupBy(["state", "kind"])
    .execute();
  const responding = workers.filter(({ responds }) => responds).length;
  const metrics: Metric[] = [
    [
      "workers",
      "Processes that poll runs.",
      [
        ['state="responding"', responding],
        ['state="silent"', workers.length - responding],
      ],
    ],
    ["runs", "Stored runs.", stored.map(({ status, kind, count }) => [`status="${status}",kind="${kind}"`, count])],
    ["runs_due", "Runs in progress that are due to be polled.", [["", runs.due]]],
    ["runs_late", "Runs that have been due for more than a minute.", [["", runs.late]]],
    ["oldest_due_seconds", "Time since the oldest due run became due.", [["", runs.oldestDueMs / 1_000]]],
    ["polls_per_second", "Polls of the last five minutes.", [["", polls.polls / polls.seconds]]],
    [
      "poll_errors_per_second",
      "Polls and database requests of the last five minutes that failed.",
      Object.entries(polls.errors).map(([error, count]) => [`error="${error}"`, count / polls.seconds]),
    ],
    [
      "spent_micro_dollars",
      "Cost in the ledger: settled at list prices, or reserved at the upper end of its estimate.",
      spent.map(({ state, kind, micros }) => [`state="${state}",kind="${kind}"`, micros]),
    ],
    ["calls_total", "Calls of this process by operation, and by error code.", calls],
  ];
  return metrics.map(linesOf).join("");
}

function linesOf([name, help, samples]: Metric): string {
  const full = `gemini_search_${name}`;
  const type = name.endsWith("_total") ? "counter" : "gauge";
  const lines = [...samples].map(([labels, value]) => `${full}${labels === "" ? "" : `{${labels}}`} ${value}\n`);
  return [`# HELP ${full} ${help}\n# TYPE ${full} ${type}\n`, ...lines].join("");
}
