/** R2: delivery of the notifications of many runs by several processes. */

import { setTimeout as sleep } from "node:timers/promises";
import { judge } from "../kit/judge/kills-judge.ts";
import { drain } from "../kit/kills/kills.ts";
import { openKillWorld } from "../kit/kills/world.ts";
import type { NotificationDaemon } from "../kit/services/notification-daemon.ts";
import { inLanes, inTurn } from "./lanes.ts";

const SERVERS = 4;
const STARTS_PER_SECOND = 10;

export interface NoticeVerdict {
  /** The number of ended runs with a notification. */
  due: number;
  shown: number;
  /** Runs that were announced more than once. */
  twice: number;
  /** Milliseconds from recording the end to the notifier's confirmation. */
  took: number[];
  broken: string[];
}

export interface NoticeOptions {
  runs: number;
  seed: number;
  /** A real desktop instead of the counting notifier. */
  desktop?: NotificationDaemon;
}

export async function countNotices({ runs, seed, desktop }: NoticeOptions): Promise<NoticeVerdict> {
  const world = await openKillWorld({ seed, build: "dist", starts: runs });
  const env = desktop === undefined ? {} : { ...desktop.environment, PATH: process.env["PATH"] ?? "" };
  try {
    const children = Array.from({ length: SERVERS }, () => world.begin({ env }));
    const worker = world.begin({ env, args: ["worker"] });
    await inLanes(runs, SERVERS, async (n, lane) => {
      const pause = sleep((1_000 * SERVERS) / STARTS_PER_SECOND);
      await inTurn(children, lane).call("start_deep_research", { query: `Question ${n} about bells` });
      await pause;
    });
    while (world.query("select 1 from research_tasks where next_poll_at is not null").length > 0) await sleep(100);
    while (world.query("select 1 from notification_outbox where sent_at is null").length > 0) await sleep(100);
    for (const child of children) child.closeStdin();
    worker.signal("SIGTERM");
    await Promise.all([...children, worker].map((child) => child.ended));
    await drain(world);
    const rows = world.query<{ task_id: string; took: number }>(
      "select task_id, sent_at - created_at as took from notification_outbox",
    );
    const lines = desktop?.received().map(({ title, body }) => `${title} | ${body}`) ?? world.notified();
    const times = rows.map(({ task_id }) => lines.filter((line) => line.includes(task_id.slice(0, 8))).length);
    return {
      due: rows.length,
      shown: times.filter((count) => count > 0).length,
      twice: times.filter((count) => count > 1).length,
      took: rows.map(({ took }) => took),
      // On a real desktop the counting notifier receives nothing.
      broken: desktop === undefined ? judge(world).broken : [],
    };
  } finally {
    await world.close();
  }
}
