/** The part of the composition root that belongs to background research: agent, runner, notifications, prices. */

import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "./config/config.ts";
import { type CostOf, costCalculator, roundCost } from "./costs/actual.ts";
import type { PriceTable } from "./costs/prices.ts";
import type { Agent } from "./gemini/research-agent.ts";
import type { OperationDeps, ResearchParts } from "./operations/operation.ts";
import { AppError } from "./errors.ts";
import { systemClock } from "./platform/clock.ts";
import type { Log } from "./platform/log.ts";
import type { Shutdown } from "./platform/shutdown.ts";
import type { DesktopNotifier } from "./notifications/desktop.ts";
import type { OutboxSender } from "./notifications/outbox.ts";
import type { PollQueue } from "./queue/queue.ts";
import { createPollCounts, type PollCounts } from "./telemetry/poll-counts.ts";
import type { UnsavedRun } from "./runs/deps.ts";
import type { StartFailure } from "./runs/start/start-store.ts";
import type { Store } from "./store/store.ts";

export interface ResearchComposition {
  config: Config;
  log: Log;
  shutdown: Shutdown;
  stateDir: string;
  store: () => Promise<Store>;
  prices: () => Promise<PriceTable>;
}

/** Enough of the user's own runs to learn from. */
const HISTORY = 200;

type ResearchDeps = Pick<
  OperationDeps,
  "research" | "agent" | "findRun" | "estimate" | "backupOf" | "inBackground" | "leaving"
>;

export function researchDeps(parts: ResearchComposition): ResearchDeps {
  const { config, store, shutdown } = parts;
  const backups = new Map<string, string>();
  const pollCounts = createPollCounts(systemClock);
  const agent = once(() => createAgent(parts, pollCounts));
  const research = once(() => composeResearch(parts, { agent, backups, pollCounts }));
  return {
    research,
    agent: async () => (config.settings.GEMINI_API_KEY === undefined && !config.vertex ? undefined : agent()),
    findRun: async (owner, taskId) => {
      const { findRun } = await import("./runs/run-store.ts");
      return findRun((await store()).db, owner, taskId);
    },
    estimate: (query, model, owner) => estimateFor(parts, { query, model, owner }),
    backupOf: (taskId) => backups.get(taskId),
    inBackground: (work) => void shutdown.during(work),
    leaving: shutdown.signal,
  };
}

async function createAgent({ config, log }: ResearchComposition, counts: PollCounts): Promise<Agent> {
  const { createInteractionsAgent } = await import("./gemini/interactions/agent.ts");
  const { observedAgent } = await import("./gemini/call-telemetry.ts");
  const { GEMINI_API_KEY: apiKey, GOOGLE_GEMINI_BASE_URL: baseUrl } = config.settings;
  const { vertex, environment } = config;
  return observedAgent(createInteractionsAgent({ apiKey, vertex, baseUrl, log, environment }), counts);
}

async function composeResearch(
  parts: ResearchComposition,
  { agent, backups, pollCounts }: { agent: () => Promise<Agent>; backups: Map<string, string>; pollCounts: PollCounts },
): Promise<ResearchParts> {
  const { config, log, shutdown, stateDir, store } = parts;
  const { createRunner } = await import("./runs/scheduling/runner.ts");
  const { db, processId, durable } = await store();
  const queue = await openQueue(parts, await agent());
  const costOf = costCalculator(await parts.prices());
  const { deliverPending: deliver, notify } = await createDelivery(parts, { db, processId });
  const research = {
    db,
    agent: await agent(),
    queue,
    limits: {
      unfinished: config.settings.RESEARCH_MAX_UNFINISHED,
      perUser: config.settings.RESEARCH_MAX_RUNS_PER_USER,
      startsPerMinute: config.settings.RESEARCH_MAX_STARTS_PER_MINUTE,
    },
    processId,
    clock: systemClock,
    log,
    stateDir,
    costOf: ((usage, model, at) => roundCost(costOf(usage, model, at))) satisfies CostOf,
    during: shutdown.during,
    leaving: shutdown.signal,
    pollCounts,
    unsavedIds: new Map<string, UnsavedRun>(),
    unchargedFailures: new Map<string, StartFailure>(),
    notify,
    backUp: (run: { taskId: string; query: string }, report: string) => backUp(parts, { ...run, report, backups }),
  };
  const { RESEARCH_POLL_INTERVAL_MS: pollIntervalMs, RESEARCH_MAX_RPS: maxRps } = config.settings;
  const { RESEARCH_FOLLOW: follows } = config.settings;
  const runner = createRunner({ deps: research, pollIntervalMs, maxRps, deliver, follows });
  // A paid id that the database refuses goes to a file: without a place for it, nothing that costs is started.
  return { research, runner, durable: durable && config.configDirWritable };
}

/** A database for several machines has an engine on it; where it can only be read, there is nothing to poll. */
async function openQueue({ config, log, shutdown, store }: ResearchComposition, agent: Agent): Promise<PollQueue> {
  const { localQueue } = await import("./queue/local.ts");
  if (config.sharedDatabase === undefined || !(await store()).durable) return localQueue;
  const { openDistributedQueue } = await import("./queue/distributed.ts");
  const { pollKeyOf } = await import("./store/poll-key.ts");
  const { url } = config.sharedDatabase;
  const key = pollKeyOf(agent.fingerprint);
  const queue = await openDistributedQueue({ url, key, follows: config.settings.RESEARCH_FOLLOW, log });
  // Before the database is closed: polls in flight are settled or given back.
  const close = (): void => void shutdown.during(queue.close()).catch(() => undefined);
  shutdown.signal.addEventListener("abort", close, { once: true });
  return queue;
}

async function createDelivery(
  { config, log, shutdown }: ResearchComposition,
  { db, processId }: Pick<Store, "db" | "processId">,
): Promise<Pick<OutboxSender, "deliverPending"> & DesktopNotifier> {
  const { createDesktopNotifier } = await import("./notifications/desktop.ts");
  const { createOutboxSender } = await import("./notifications/outbox.ts");
  const { runChild } = await import("./platform/child.ts");
  const { environment } = config;
  const notifier = createDesktopNotifier({ platform: process.platform, environment, log, run: runChild });
  const sender = createOutboxSender({
    db,
    processId,
    clock: systemClock,
    log,
    notify: notifier.notify,
    signal: shutdown.signal,
  });
  return { ...sender, ...notifier };
}

/** Gives back what dead processes held, then starts what goes on while the process lives. */
export async function maintainStore(
  parts: Pick<ResearchComposition, "config" | "log" | "shutdown" | "stateDir">,
  store: Store,
): Promise<void> {
  await tidyUp(store, parts);
  await startUpkeep(parts, store);
}

/** What dead processes left is given back before anybody reads the store. */
async function tidyUp({ db }: Store, { log, stateDir }: Pick<ResearchComposition, "log" | "stateDir">): Promise<void> {
  try {
    const { markInterruptedSearches } = await import("./runs/recovery/interrupted-searches.ts");
    const { cleanupOrphanedTempFiles } = await import("./store/invalid-outputs.ts");
    const { forgetStaleProcesses } = await import("./runs/recovery/stale-processes.ts");
    await markInterruptedSearches(db, log, systemClock.now());
    await cleanupOrphanedTempFiles({ directory: stateDir, db, clock: systemClock, log });
    await forgetStaleProcesses(db, systemClock.now());
  } catch (error) {
    log.warn(`Tidying up after earlier processes failed: ${error instanceof Error ? error.message : "unknown"}`);
  }
}

/** What goes on beside the runs while the process lives: old ones are deleted, links resolved where that is wished. */
async function startUpkeep(
  { config, log, shutdown }: Pick<ResearchComposition, "config" | "log" | "shutdown">,
  { db, durable }: Store,
): Promise<void> {
  if (!durable) return;
  const { RESEARCH_KEEP_DAYS: keepDays, RESOLVE_SOURCE_LINKS: resolvesLinks } = config.settings;
  const common = { db, clock: systemClock, log, leaving: shutdown.signal };
  const { startRetention } = await import("./runs/deletion/retention.ts");
  const { removeOldBackups } = await import("./store/old-backups.ts");
  const removeCopies = (now: number): Promise<void> => removeOldBackups(config.databaseFile, now);
  startRetention({ ...common, keepDays, removeCopies }, shutdown.during);
  if (!resolvesLinks) return;
  const { createRedirectResolver } = await import("./gemini/redirect-links.ts");
  const { startLinkResolution } = await import("./runs/links/resolve-links.ts");
  startLinkResolution({ ...common, resolver: createRedirectResolver() }, shutdown.during);
}

/** Read once: a file with a mistake in it is named once. */
export function createPrices({ config, log }: Pick<ResearchComposition, "config" | "log">): () => Promise<PriceTable> {
  return once(async () => {
    const { loadPrices } = await import("./costs/price-file.ts");
    return loadPrices(config.configDir, log);
  });
}

async function estimateFor(
  { config, prices, store }: ResearchComposition,
  { query, model, owner }: { query: string; model: string; owner: string },
) {
  const { complexityOf } = await import("./costs/complexity.ts");
  const { estimate } = await import("./costs/estimate.ts");
  const { finishedAgentRuns } = await import("./runs/run-store.ts");
  // An estimate without the user's own runs is better than none.
  const finished = await finishedAgentRuns((await store()).db, owner, HISTORY).catch(() => []);
  return estimate({
    query,
    agent: model,
    prices: await prices(),
    history: finished.map((run) => ({ ...run, complexity: complexityOf(run.query) })),
    syncWindowMs: config.settings.RESEARCH_SYNC_WINDOW_MS,
    now: systemClock.now(),
  });
}

/** The disk that holds the database may be the full one: other places are tried in turn. */
async function backUp(
  { config, stateDir }: ResearchComposition,
  { taskId, query, report, backups }: { taskId: string; query: string; report: string; backups: Map<string, string> },
): Promise<string | undefined> {
  const known = backups.get(taskId);
  if (known !== undefined) return known;
  const { renderMarkdown } = await import("./reports/markdown/markdown.ts");
  const { saveMarkdown } = await import("./reports/files/save-markdown.ts");
  const document = { query, report, sources: [], partial: undefined, metadata: undefined, includeSources: false };
  const text = renderMarkdown(document);
  const { RESEARCH_REPORTS_DIR } = config.settings;
  const places = [RESEARCH_REPORTS_DIR, join(stateDir, "reports"), join(config.home, "research_reports"), tmpdir()];
  for (const directory of places.filter((place) => place !== undefined)) {
    try {
      const { path } = await saveMarkdown({
        directory,
        prefix: "backup",
        taskId,
        text,
        now: systemClock.now(),
      });
      backups.set(taskId, path);
      return path;
    } catch {
      // The next place may have room.
    }
  }
  return undefined;
}

/** Made when first asked for, then the same for everybody. */
export function once<T>(create: () => Promise<T>): () => Promise<T> {
  let created: Promise<T> | undefined;
  const attempt = (): Promise<T> =>
    create().catch((error: unknown) => {
      // What cannot be had now, such as a database that is being restarted, is tried anew by who comes next.
      created = undefined;
      throw error;
    });
  return () => (created ??= attempt());
}

const RETRY_MS = 5_000;

/** A database that is being restarted must not keep runs from being followed until this process is restarted too. */
export async function retryUntilAvailable<T>(
  work: () => Promise<T>,
  { log, signal }: { log: Log; signal: AbortSignal },
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AppError && error.retryable) || signal.aborted) throw error;
      log.warn(`${error.message} It is tried again until it can be.`);
      await systemClock.sleep(RETRY_MS, signal);
    }
  }
}
