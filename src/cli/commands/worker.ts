/** `worker`: polls background runs without a client, so that they are collected and notified. */

import { createApp } from "../../app.ts";
import { leaveOnSignals } from "../../platform/shutdown.ts";

const IDLE_CHECK_MS = 1_000;

export async function runWorker({ untilIdle }: { untilIdle: boolean }): Promise<void> {
  const app = createApp({ flags: { RESEARCH_FOLLOW: "on" }, logFrom: "INFO" });
  const { shutdown, log, deps } = app;
  leaveOnSignals(shutdown, () => 0);
  await app.telemetry;
  await app.openStore();
  const runner = await app.followResearch();
  log.info(`Following ${await runner.count()} unfinished research runs.`);
  while (!shutdown.leaving()) {
    await deps.clock.sleep(IDLE_CHECK_MS, shutdown.signal).catch(() => undefined);
    if (untilIdle && (await runner.idle())) {
      log.info("No unfinished research is left.");
      await shutdown.leave(0);
    }
  }
}
