/** `worker`: polls background runs without a client, so that they are collected and notified. */

import { setFlagsFromString } from "node:v8";
import { createApp } from "../../app.ts";
import { countOf } from "../../platform/count.ts";
import { leaveOnSignals } from "../../platform/shutdown.ts";
import { createLogLines, EXIT_CODES, printFailure, serviceLogLevel } from "../output.ts";

const IDLE_CHECK_MS = 1_000;

/**
 * A worker runs all day beside other programs, so it collects garbage early: reports that end at the same time would
 * otherwise make its heap twice as large as it needs to be (docs/engineering/scale.md). V8 reads both flags at each
 * collection.
 */
const SMALL_HEAP = ["--heap-growing-percent=40", "--semi-space-growth-factor=1"];

export async function runWorker({ untilIdle }: { untilIdle: boolean }): Promise<void> {
  for (const flag of SMALL_HEAP) setFlagsFromString(flag);
  const app = createApp({ logFrom: serviceLogLevel(), logTo: createLogLines().write, showsAnnouncements: true });
  const { shutdown, log, config, deps } = app;
  if (config.settings.RESEARCH_MAX_RPS === 0) {
    await printFailure("RESEARCH_MAX_RPS is 0, so this worker would poll nothing. Unset it here.");
    return shutdown.leave(EXIT_CODES.usage);
  }
  leaveOnSignals(shutdown, () => EXIT_CODES.ok);
  await app.openStore();
  const runner = await app.startPolling({ service: true });
  const count = await runner.count();
  log.info(`Polling ${count} unfinished research runs.`);
  await tellPerson(`Tracking ${countOf(count, "run")}.`);
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
