/** `worker`: polls background runs without a client, so that they are collected and notified. */

import { createApp } from "../../app.ts";
import { leaveOnSignals } from "../../platform/shutdown.ts";
import { printFailure } from "../output.ts";
import { serviceLogLevel } from "../verbosity.ts";

const IDLE_CHECK_MS = 1_000;

export async function runWorker({ untilIdle }: { untilIdle: boolean }): Promise<void> {
  const app = createApp({ flags: { RESEARCH_FOLLOW: "on" }, logFrom: serviceLogLevel(), showsAnnouncements: true });
  const { shutdown, log, deps } = app;
  leaveOnSignals(shutdown, () => 0);
  await app.telemetry;
  await app.openStore();
  const runner = await app.startPolling();
  const count = await runner.count();
  log.info(`Following ${count} unfinished research runs.`);
  await tellPerson(`Tracking ${count} ${count === 1 ? "run" : "runs"}.`);
  while (!shutdown.leaving()) {
    await deps.clock.sleep(IDLE_CHECK_MS, shutdown.signal).catch(() => undefined);
    if (untilIdle && (await runner.idle())) {
      log.info("No unfinished research is left.");
      await tellPerson("All runs finished.");
      await shutdown.leave(0);
    }
  }
}

/** At a terminal, where the log is not shown. */
const tellPerson = async (text: string): Promise<void> =>
  serviceLogLevel() === "INFO" ? undefined : printFailure(text);
