/** Composition root: chooses the adapters and creates the dependencies of the operations. */

import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import {
  createPrices,
  maintainStore,
  type ResearchComposition,
  researchDeps,
  retryUntilAvailable,
  webhookDeps,
} from "./compose-research.ts";
import { type Config, loadConfig } from "./config/config.ts";
import { stateDirectory } from "./config/directory.ts";
import { disableSdkDebugLogging, type Environment, readEnvironment } from "./config/environment.ts";
import { DEFAULT_API_MODEL } from "./costs/prices.ts";
import type { Backend } from "./gemini/search-backend.ts";
import type { WebhookSenderDeps } from "./notifications/webhook-sender.ts";
import { operationSettings } from "./operation-settings.ts";
import type { OperationDeps } from "./operations/operation.ts";
import { systemClock } from "./platform/clock.ts";
import { lazy } from "./platform/lazy.ts";
import { createLog, debugOnly, type Log, type LogLevel } from "./platform/log.ts";
import { createRedactor } from "./platform/redact.ts";
import { createShutdown, type Shutdown } from "./platform/shutdown.ts";
import type { FleetStatus } from "./runs/scheduling/fleet-status-store.ts";
import type { Runner } from "./runs/scheduling/runner.ts";
import type { Store } from "./store/store.ts";

/** Relative to `src/` and to `dist/`, which are in the same directory as these. */
const PACKAGE_FILE = new URL("../package.json", import.meta.url);
const PROMPTS_DIR = fileURLToPath(new URL("../prompts/", import.meta.url));

export interface App {
  name: string;
  version: string;
  config: Config;
  log: Log;
  shutdown: Shutdown;
  deps: OperationDeps;
  /** Opens the store before the first call needs it and releases what dead processes held. */
  openStore(): Promise<void>;
  /** What sends to webhooks, for tests of them and for the subscriptions of MCP clients. */
  webhooks(): WebhookSenderDeps;
  /** State of the processes that share this store. */
  fleetStatus(): Promise<FleetStatus>;
  /** In the text format of Prometheus. */
  metrics(): Promise<string>;
  /** Polls unfinished background runs until the process shuts down; a service starts those of schedules, too. */
  startPolling(as?: Polling): Promise<Runner>;
}

interface Polling {
  service: boolean;
  /** Whose schedules it starts; undefined: those of all users. */
  owner?: string | undefined;
}

export interface AppOptions {
  flags?: Environment;
  /** The lowest level that is logged; DEBUG=true lowers it. */
  logFrom: LogLevel;
  /** Receives the log lines; default: stderr. */
  logTo?: (line: string) => void;
  /** Announcements are shown to the person at the terminal even if INFO lines are not. */
  showsAnnouncements?: boolean;
  /** False: attempts of a search that are repeated or corrected are logged for debugging only. */
  logsRepairs?: boolean;
  /** False for a command that only reads, such as a health check: other processes maintain the store. */
  maintains?: boolean;
  /** Ends the process after the shutdown; default: process.exit. */
  exit?: (code: number) => void;
}

export function createApp(options: AppOptions): App {
  disableSdkDebugLogging();
  const config = loadConfig({ environment: readEnvironment(), flags: options.flags ?? {} });
  const redact = createRedactor(config.secrets);
  const { DEBUG: debug, LOG_FORMAT: format } = config.settings;
  const to = options.logTo === undefined ? {} : { write: options.logTo };
  const from = debug ? "DEBUG" : options.logFrom;
  // A command at a terminal prints warnings for the person in front of it, who knows the time.
  const timestamps = from !== "WARN" || !process.stderr.isTTY;
  const { showsAnnouncements = false } = options;
  const log = createLog({ from, format, timestamps, showsAnnouncements, redact, ...to });
  for (const warning of config.warnings) log.warn(warning);
  const shutdown = createShutdown(options.exit);
  const stateDir = stateDirectory(config, shutdown);
  const store = lazy(async () => {
    const { openStore } = await import("./store/store.ts");
    const opened = await openStore({
      file: config.databaseFile,
      shared: config.sharedDatabase,
      clock: systemClock,
      log,
      version: readPackage().version,
    });
    shutdown.finally(opened.close);
    if (options.maintains !== false) await maintain(opened, parts, deps);
    return opened;
  });
  const { logsRepairs = true } = options;
  const prices = createPrices({ config, log });
  const parts: Parts = { config, log, redact, shutdown, stateDir, store, prices, logsRepairs };
  const deps = operationDeps(parts);
  return {
    ...readPackage(),
    config,
    log,
    shutdown,
    deps,
    // The first call that needs the store reports a failure.
    openStore: () => store().then(ignore, ignore),
    webhooks: () => webhookDeps(parts),
    fleetStatus: async () => {
      const { readFleetStatus } = await import("./runs/scheduling/fleet-status-store.ts");
      return readFleetStatus((await store()).db, systemClock.now());
    },
    metrics: async () => {
      const { readMetrics } = await import("./runs/metrics-store.ts");
      const { callCounts } = await import("./operations/perform.ts");
      return readMetrics((await store()).db, { now: systemClock.now(), calls: callCounts });
    },
    startPolling: async ({ service, owner } = { service: false }) => {
      const { runner } = await retryUntilAvailable(deps.research, { log, signal: shutdown.signal });
      const scheduler = service
        ? (await import("./operations/schedules/start-due.ts")).createScheduler(deps, { owner })
        : undefined;
      runner.start(scheduler);
      return runner;
    },
  };
}

async function maintain(store: Store, parts: Parts, deps: OperationDeps): Promise<void> {
  await maintainStore(parts, store);
  if (parts.config.settings.VERIFY_CITATIONS !== "auto" || (await store.obstacle()) !== undefined) return;
  const { checkAutomatically } = await import("./compose-verification.ts");
  // Not awaited: it waits for the store, which is being opened.
  void checkAutomatically(parts, deps);
}

interface Parts extends ResearchComposition {
  logsRepairs: boolean;
}

function operationDeps(parts: Parts): OperationDeps {
  const { config, log, store } = parts;
  const { settings } = config;
  const backend = lazy(() => createBackend(parts));
  const verification = lazy(async () => {
    const { composeVerification } = await import("./compose-verification.ts");
    return composeVerification(parts);
  });
  const deps: OperationDeps = {
    ...researchDeps(parts),
    clock: systemClock,
    log,
    database: async () => (await store()).db,
    notifications: async () => (await store()).notifications,
    searchObstacle: async () => (await backend()).obstacle(),
    search: async (runLog) => {
      const { createPrompts } = await import("./search/prompts.ts");
      const { createInvalidOutputs } = await import("./store/slots.ts");
      const { db, processId } = await store();
      return {
        backend: await backend(),
        prompts: createPrompts({
          packaged: PROMPTS_DIR,
          own: settings.GEMINI_SEARCH_TEMPLATES_DIR,
          now: systemClock.now,
          log: runLog,
        }),
        invalidOutputs: createInvalidOutputs({
          directory: parts.stateDir(),
          db,
          processId,
          clock: systemClock,
          log: runLog,
        }),
        clock: systemClock,
        log: parts.logsRepairs ? runLog : debugOnly(runLog),
        model: settings.GEMINI_MODEL,
        correctionModel: settings.GEMINI_CORRECTION_MODEL,
        maxCycles: settings.JSON_MAX_RETRIES,
      };
    },
    verification,
    canNotify: lazy(async () => {
      const { desktopObstacle } = await import("./notifications/desktop.ts");
      return desktopObstacle(process.platform, config.environment) === undefined;
    }),
    settings: operationSettings(config),
  };
  return deps;
}

async function createBackend(parts: Parts): Promise<Backend> {
  const { config, log } = parts;
  const { settings, vertex } = config;
  const { createApiBackend } = await import("./gemini/api/backend.ts");
  const options = {
    apiKey: settings.GEMINI_API_KEY,
    vertex,
    baseUrl: settings.GOOGLE_GEMINI_BASE_URL,
    defaultModel: DEFAULT_API_MODEL,
    timeoutMs: settings.GEMINI_SEARCH_TIMEOUT,
    progressLogIntervalMs: settings.PROGRESS_LOG_INTERVAL,
    log,
  };
  const api = createApiBackend(options);
  const cli = settings.SEARCH_BACKEND === "api" ? undefined : await createCli(parts);
  if (hasFirecrawl(settings) && cli?.isInstalled() !== true) {
    log.warn("Firecrawl is configured, but not used: only the Gemini CLI can use it.");
  }
  if (cli === undefined) return api;
  if (settings.SEARCH_BACKEND === "cli") return cli;
  const { createAutoBackend } = await import("./gemini/choose-backend.ts");
  return createAutoBackend({ cli, api, apiReady: vertex || settings.GEMINI_API_KEY !== undefined, log });
}

const hasFirecrawl = ({ FIRECRAWL_API_KEY: key, FIRECRAWL_API_URL: url }: Config["settings"]): boolean =>
  key !== undefined || url !== undefined;

async function createCli({ config, log, redact, shutdown, stateDir, store }: Parts) {
  const { settings, vertex, environment } = config;
  const { createCliBackend } = await import("./gemini/cli/backend.ts");
  const { stopAllChildren } = await import("./platform/child.ts");
  const { createSlotPool } = await import("./store/slots.ts");
  const { db, processId, machine } = await store();
  const systemPrompt = hasFirecrawl(settings) ? "cli-system-prompt-firecrawl.md" : "cli-system-prompt.md";
  // Includes children of cancelled or timed-out calls, whose usual grace period is longer than the time left.
  shutdown.signal.addEventListener("abort", () => void stopAllChildren(SHUTDOWN_GRACE_MS));
  return createCliBackend({
    environment,
    home: join(stateDir(), "gemini-cli"),
    systemPromptFile: join(PROMPTS_DIR, systemPrompt),
    timeoutMs: settings.GEMINI_SEARCH_TIMEOUT,
    progressLogIntervalMs: settings.PROGRESS_LOG_INTERVAL,
    apiKey: settings.GEMINI_API_KEY,
    vertex,
    firecrawl: { apiKey: settings.FIRECRAWL_API_KEY, apiUrl: settings.FIRECRAWL_API_URL },
    userHome: environment["GEMINI_CLI_HOME"] ?? homedir(),
    log,
    redact,
    slots: createSlotPool({
      db,
      clock: systemClock,
      log,
      processId,
      pool: `gemini-cli@${machine}`,
      size: settings.GEMINI_CLI_MAX_CHILDREN,
      withoutStore: "The limit on Gemini CLI processes is not enforced for this call",
    }),
    shutdownGrace: () => (shutdown.leaving() ? SHUTDOWN_GRACE_MS : undefined),
  });
}

/** Most of the 1.5 s that a client waits before it kills this process. */
const SHUTDOWN_GRACE_MS = 1_000;

export function readPackage(): { name: string; version: string } {
  return z.object({ name: z.string(), version: z.string() }).parse(JSON.parse(readFileSync(PACKAGE_FILE, "utf8")));
}

const ignore = (): void => {};
