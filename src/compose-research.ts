/** The part of the composition root for background research: agent, runner, notifications, prices, maintenance. */

import { FOLLOWUP_MODEL } from "./costs/prices.ts";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "./config/config.ts";
import { prepareDirectory } from "./config/directory.ts";
import { googleWebhook } from "./config/google-webhook.ts";
import { costCalculator } from "./costs/actual.ts";
import type { PriceTable } from "./costs/prices.ts";
import type { PlanStage } from "./costs/estimate.ts";
import type { Agent } from "./gemini/research-agent.ts";
import { configuredServer } from "./material/configured-server.ts";
import { budgetsOf, maxRpsOf } from "./operation-settings.ts";
import type { OperationDeps, ResearchParts } from "./operations/operation.ts";
import { AppError } from "./errors.ts";
import { systemClock } from "./platform/clock.ts";
import { lazy } from "./platform/lazy.ts";
import type { Log } from "./platform/log.ts";
import type { Shutdown } from "./platform/shutdown.ts";
import type { DesktopNotifier } from "./notifications/desktop.ts";
import type { OutboxSender } from "./notifications/outbox.ts";
import type { WebhookSenderDeps } from "./notifications/webhook-sender.ts";
import type { Engine } from "./runs/engine/engine.ts";
import { countPolls, createPollCounts, type PollCounts } from "./runs/poll/poll-counts.ts";
import { createBackups } from "./reports/files/backups.ts";
import type { ResearchDeps as RunDeps } from "./runs/deps.ts";
import type { Post } from "./pages/transport/post.ts";
import type { UnsavedRun } from "./runs/run.ts";
import type { StartFailure } from "./runs/start/start-store.ts";
import type { Store } from "./store/store.ts";

export interface ResearchComposition {
  config: Config;
  log: Log;
  redact: (text: string) => string;
  shutdown: Shutdown;
  /** The directory for files of this installation. */
  stateDir: () => string;
  store: () => Promise<Store>;
  prices: () => Promise<PriceTable>;
}

const recovery = lazy(() => import("./runs/recovery/dead-processes.ts"));

/** Finished runs of the user that calibrate an estimate. */
const MAX_HISTORY_RUNS = 200;

export function researchDeps(parts: ResearchComposition) {
  const { config, log, store, shutdown } = parts;
  const backups = createBackups(backupDirectories(config));
  const pollCounts = createPollCounts(systemClock);
  const agent = lazy(() => createAgent(parts, pollCounts));
  const backUp: RunDeps["backUp"] = ({ taskId, query }, report, usage) =>
    backups.save({ taskId, query, report, usage, now: systemClock.now() });
  const research = lazy(() => composeResearch(parts, { agent, backUp, pollCounts }));
  return {
    research,
    recorder: async () => {
      const { db, processId, obstacle } = await store();
      const costOf = costCalculator(await parts.prices());
      const { signal: leaving, during } = shutdown;
      const { fingerprint } = await import("./gemini/key-fingerprint.ts");
      const keyFingerprint = fingerprint(config.settings.GEMINI_API_KEY);
      const budgets = budgetsOf(config);
      const stored = { db, processId, obstacle, clock: systemClock, log };
      return { ...stored, leaving, during, costOf, keyFingerprint, budgets, backUp };
    },
    agent: async () => (config.settings.GEMINI_API_KEY === undefined && !config.vertex ? undefined : agent()),
    findRun: async (owner, taskId) => {
      const { findCurrentRun } = await recovery();
      return findCurrentRun((await store()).db, { owner, taskId, log, now: systemClock.now() });
    },
    estimate: (query, model, owner) => estimateFor(parts, { query, model, owner }),
    estimateFollowup: async (characters, answer) => {
      const { estimateFollowup } = await import("./costs/estimate.ts");
      return estimateFollowup({
        characters,
        answer,
        model: FOLLOWUP_MODEL,
        prices: await parts.prices(),
        now: systemClock.now(),
      });
    },
    estimatePlan: ({ agent: model, ...start }) => estimateFor(parts, { ...start, model }),
    priceNotices: async (models) => {
      const { configuredModels, priceNotices } = await import("./costs/price-notices.ts");
      const used = [...configuredModels(config.settings), ...models];
      const notices = priceNotices(await parts.prices(), { models: used, now: systemClock.now() });
      return notices.map(({ message }) => message);
    },
    mcpServer: (name) => configuredServer(config, name),
    backupOf: backups.of,
    removeBackups: backups.remove,
    inBackground: (work) => void shutdown.during(work),
    leaving: shutdown.signal,
  } satisfies Partial<OperationDeps>;
}

async function createAgent({ config, log }: ResearchComposition, counts: PollCounts): Promise<Agent> {
  const { createInteractionsAgent } = await import("./gemini/interactions/agent.ts");
  const { GEMINI_API_KEY: apiKey, GOOGLE_GEMINI_BASE_URL: baseUrl } = config.settings;
  const { vertex, environment } = config;
  const webhookUrl = googleWebhook(config)?.url;
  return countPolls(createInteractionsAgent({ apiKey, vertex, baseUrl, log, environment, webhookUrl }), counts);
}

async function composeResearch(
  parts: ResearchComposition,
  { agent, backUp, pollCounts }: { agent: () => Promise<Agent>; backUp: RunDeps["backUp"]; pollCounts: PollCounts },
): Promise<ResearchParts> {
  const { config, log, redact, shutdown, stateDir, store } = parts;
  const { createRunner } = await import("./runs/scheduling/runner.ts");
  const { START_LIMITS } = await import("./runs/start/limits-store.ts");
  const { db, processId, obstacle } = await store();
  const queue = await openEngine(parts, await agent());
  const costOf = costCalculator(await parts.prices());
  const { deliverPending: deliver, notify } = await createDelivery(parts, { db, processId });
  const research = {
    db,
    agent: await agent(),
    queue,
    limits: { ...START_LIMITS, budgets: budgetsOf(config) },
    processId,
    clock: systemClock,
    log,
    redact,
    mcpServer: (name: string) => configuredServer(config, name),
    // The config directory may become writable later.
    get stateDir() {
      return stateDir();
    },
    costOf,
    during: shutdown.during,
    leaving: shutdown.signal,
    pollCounts,
    unsavedIds: new Map<string, UnsavedRun>(),
    unchargedFailures: new Map<string, StartFailure>(),
    notify,
    backUp,
  };
  const { RESEARCH_POLL_INTERVAL_MS: pollIntervalMs } = config.settings;
  const makesPolls = config.settings.RESEARCH_MAX_RPS > 0;
  const maxRps = maxRpsOf(config);
  const runner = createRunner({ deps: research, pollIntervalMs, maxRps, deliver, makesPolls });
  const startObstacle = async (): Promise<AppError | undefined> => {
    const cause = await obstacle();
    // An id that the database refuses is saved to a file: without a directory for it nothing paid is started.
    if (prepareDirectory(config.configDir) && cause === undefined) return undefined;
    return (await import("./operations/start/started-run.ts")).notStarted(cause);
  };
  return { research, runner, obstacle: startObstacle };
}

async function openEngine(parts: ResearchComposition, agent: Agent): Promise<Engine> {
  const { shutdown } = parts;
  const engine = await createEngine(parts, agent);
  // Closed before the database, so that polls in flight are finished or released.
  const close = (): void => void shutdown.during(engine.close()).catch(() => undefined);
  shutdown.signal.addEventListener("abort", close, { once: true });
  return engine;
}

/** A shared database has pg-boss; one that is read-only has nothing to deliver. */
async function createEngine({ config, log, shutdown, store }: ResearchComposition, agent: Agent): Promise<Engine> {
  const { db, processId, obstacle } = await store();
  if (config.sharedDatabase === undefined || (await obstacle()) !== undefined) {
    const { createTableEngine } = await import("./runs/engine/table-engine.ts");
    return createTableEngine({ db, processId, clock: systemClock, log, leaving: shutdown.signal });
  }
  const { openBossEngine } = await import("./runs/engine/boss-engine.ts");
  const { pollKeyOf } = await import("./store/processes.ts");
  const { url } = config.sharedDatabase;
  const key = pollKeyOf(agent.fingerprint);
  return openBossEngine({ url, key, makesPolls: config.settings.RESEARCH_MAX_RPS > 0, log });
}

async function createDelivery(
  parts: ResearchComposition,
  { db, processId }: Pick<Store, "db" | "processId">,
): Promise<Pick<OutboxSender, "deliverPending"> & DesktopNotifier> {
  const { createDesktopNotifier } = await import("./notifications/desktop.ts");
  const { createOutboxSender } = await import("./notifications/outbox.ts");
  const { runChild } = await import("./platform/child.ts");
  const { config, log, shutdown } = parts;
  const { environment } = config;
  const notifier = createDesktopNotifier({ platform: process.platform, environment, log, run: runChild });
  const common = { db, processId, clock: systemClock, log, signal: shutdown.signal };
  const sender = createOutboxSender({ ...common, notify: notifier.notify });
  const { createWebhookSender } = await import("./notifications/webhook-sender.ts");
  const webhooks = createWebhookSender({ ...common, ...webhookDeps(parts) });
  const deliverPending = (): Promise<number> => {
    // Not awaited: a receiver may take its time.
    const sent = webhooks.deliverDue().catch(() => log.debug("Webhooks could not be sent yet."));
    void shutdown.during(sent);
    return sender.deliverPending();
  };
  return { ...notifier, deliverPending };
}

/** What sends to webhooks, for the outbox and for tests of them. */
export function webhookDeps({ config, shutdown }: Pick<ResearchComposition, "config" | "shutdown">): WebhookSenderDeps {
  const { MCP_PUBLIC_URL: publicUrl } = config.settings;
  // Loaded with the first message: few users have a webhook.
  const connected = lazy(async () => (await import("./pages/transport/post.ts")).createPost());
  const post: Post = async (...message) => (await connected())(...message);
  return { clock: systemClock, post, publicUrl, signal: shutdown.signal };
}

/** Releases what dead processes held, then starts the periodic maintenance. */
export async function maintainStore(
  parts: Pick<ResearchComposition, "config" | "log" | "shutdown" | "stateDir">,
  store: Store,
): Promise<void> {
  await recoverFromDeadProcesses(store, parts);
  await startPeriodicMaintenance(parts, store);
}

/** Ends the runs and removes the files of dead processes, before the store is read. */
async function recoverFromDeadProcesses(
  { db, obstacle }: Store,
  { log, stateDir }: Pick<ResearchComposition, "log" | "stateDir">,
): Promise<void> {
  try {
    const { markInterruptedSearches } = await import("./runs/recovery/dead-processes.ts");
    const { cleanupOrphanedTempFiles } = await import("./store/slots.ts");
    const { forgetStaleProcesses } = await import("./runs/recovery/dead-processes.ts");
    await markInterruptedSearches(db, log, systemClock.now());
    await cleanupOrphanedTempFiles({ directory: stateDir(), db, clock: systemClock, log });
    await forgetStaleProcesses(db, systemClock.now());
  } catch (error) {
    // Otherwise this has been logged.
    if ((await obstacle()) !== undefined) return;
    log.warn(`Cleaning up after earlier processes failed: ${error instanceof Error ? error.message : "unknown"}`);
  }
}

/** Deletes old runs and, where configured, resolves the links of sources, until the process shuts down. */
async function startPeriodicMaintenance(
  parts: Pick<ResearchComposition, "config" | "log" | "shutdown" | "stateDir">,
  { db }: Store,
): Promise<void> {
  const { config, log, shutdown } = parts;
  const { RESEARCH_KEEP_DAYS: keepDays, RESOLVE_SOURCE_LINKS: resolvesLinks } = config.settings;
  const common = { db, clock: systemClock, log, leaving: shutdown.signal };
  const { startRetention } = await import("./runs/deletion/retention.ts");
  const { removeOldBackups } = await import("./store/sqlite/sqlite.ts");
  const removeCopies = (now: number): Promise<void> => removeOldBackups(config.databaseFile, now);
  const { remove: removeBackups } = createBackups(backupDirectories(config));
  startRetention({ ...common, keepDays, removeCopies, removeBackups }, shutdown.during);
  if (!resolvesLinks) return;
  const { createRedirectResolver } = await import("./gemini/redirect-links.ts");
  const { startLinkResolution } = await import("./runs/links/resolve-links.ts");
  startLinkResolution({ ...common, resolver: createRedirectResolver() }, shutdown.during);
}

/** Reads the price list once, so that a mistake in its file is logged once. */
export function createPrices({ config, log }: Pick<ResearchComposition, "config" | "log">): () => Promise<PriceTable> {
  return lazy(async () => {
    const { loadPrices } = await import("./costs/price-file.ts");
    return loadPrices(config.configDir, log);
  });
}

async function estimateFor(
  { config, prices, store }: ResearchComposition,
  { query, model, owner, plan }: { query: string; model: string; owner: string; plan?: PlanStage | undefined },
) {
  const { complexityOf } = await import("./costs/complexity.ts");
  const { estimate } = await import("./costs/estimate.ts");
  const { finishedAgentRuns } = await import("./runs/run-store.ts");
  // An estimate without the history of the user is better than none.
  const finished = await finishedAgentRuns((await store()).db, owner, MAX_HISTORY_RUNS).catch(() => []);
  return estimate({
    query,
    agent: model,
    plan,
    prices: await prices(),
    history: finished.map((run) => ({ ...run, complexity: run.complexity ?? complexityOf(run.query) })),
    syncWindowMs: config.settings.RESEARCH_SYNC_WINDOW_MS,
    now: systemClock.now(),
  });
}

/** Where a report is saved that the database refused, in the order in which they are tried. */
const backupDirectories = ({ configDir, home, settings }: Config): string[] => {
  const { RESEARCH_REPORTS_DIR: chosen } = settings;
  const others = [join(configDir, "reports"), join(home, "research_reports"), tmpdir()];
  return chosen === undefined ? others : [chosen, ...others];
};

const RETRY_MS = 5_000;

/** Retries while the error is retryable, such as a database that is being restarted. */
export async function retryUntilAvailable<T>(
  work: () => Promise<T>,
  { log, signal }: { log: Log; signal: AbortSignal },
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AppError && error.retryable) || signal.aborted) throw error;
      log.warn(`${error.message} Retrying every ${RETRY_MS / 1_000} s.`);
      await systemClock.sleep(RETRY_MS, signal);
    }
  }
}
