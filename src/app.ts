/** The composition root: the only place that knows which adapters exist. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { createPrices, once, type ResearchComposition, researchDeps } from "./compose-research.ts";
import { type Config, type Environment, loadConfig, readEnvironment, silenceLeakySwitches } from "./config.ts";
import { pricedBy } from "./costs/actual.ts";
import { DEFAULT_API_MODEL } from "./costs/prices.ts";
import type { Backend } from "./gemini/ask.ts";
import type { OperationDeps } from "./operations/operation.ts";
import { systemClock } from "./platform/clock.ts";
import { createLog, type Log, type LogLevel } from "./platform/log.ts";
import { createRedactor } from "./platform/redact.ts";
import { createShutdown, type Shutdown } from "./platform/shutdown.ts";
import type { Runner } from "./runs/runner.ts";
import type { Store } from "./store/store.ts";

/** Both `src/` and `dist/` stand beside these. */
const PACKAGE_FILE = new URL("../package.json", import.meta.url);
const PROMPTS_DIR = fileURLToPath(new URL("../prompts/", import.meta.url));

export interface App {
  name: string;
  version: string;
  config: Config;
  log: Log;
  shutdown: Shutdown;
  deps: OperationDeps;
  /** Opens the store before the first call does, and with it gives back what dead processes held. */
  openStore(): Promise<void>;
  /** Takes up unfinished background runs and follows them until the process leaves. */
  followResearch(): Promise<Runner>;
}

export interface AppOptions {
  flags?: Environment;
  /** The lowest level that is logged; DEBUG=true lowers it. */
  logFrom: LogLevel;
  /** Where log lines go; stderr when nothing is said. */
  logTo?: (line: string) => void;
}

export function createApp(options: AppOptions): App {
  silenceLeakySwitches();
  const config = loadConfig({ environment: readEnvironment(), flags: options.flags ?? {} });
  const redact = createRedactor(config.secrets);
  const { DEBUG: debug, LOG_FORMAT: format } = config.settings;
  const to = options.logTo === undefined ? {} : { write: options.logTo };
  const log = createLog({ from: debug ? "DEBUG" : options.logFrom, format, redact, ...to });
  for (const warning of config.warnings) log.warn(warning);
  const shutdown = createShutdown();
  const stateDir = config.configDirWritable ? config.configDir : privateTempDir(shutdown);
  const store = once(async () => {
    const { openStore } = await import("./store/store.ts");
    const opened = await openStore({
      file: config.configDirWritable ? config.databaseFile : undefined,
      clock: systemClock,
      log,
    });
    shutdown.finally(opened.close);
    await tidyUp(opened, { log, stateDir });
    return opened;
  });
  const parts: Parts = { config, log, redact, shutdown, stateDir, store, prices: createPrices({ config, log }) };
  const deps = operationDeps(parts);
  return {
    ...readPackage(),
    config,
    log,
    shutdown,
    deps,
    // A failure shows in the first call that needs the store.
    openStore: () => store().then(ignore, ignore),
    followResearch: async () => {
      const { runner } = await deps.research();
      runner.start();
      return runner;
    },
  };
}

interface Parts extends ResearchComposition {
  redact: (text: string) => string;
}

function operationDeps(parts: Parts): OperationDeps {
  const { config, log, shutdown, store } = parts;
  const { settings } = config;
  const backend = once(() => createBackend(parts));
  return {
    ...researchDeps(parts),
    clock: systemClock,
    log,
    database: async () => (await store()).db,
    recorder: async () => {
      const { db, processId } = await store();
      return {
        db,
        processId,
        clock: systemClock,
        log,
        leaving: shutdown.leaving,
        costOf: pricedBy(await parts.prices()),
      };
    },
    search: async (runLog) => {
      const { createPrompts } = await import("./search/prompts.ts");
      const { createInvalidOutputs } = await import("./store/invalid-outputs.ts");
      const { db, processId } = await store();
      return {
        backend: await backend(),
        prompts: createPrompts({
          packaged: PROMPTS_DIR,
          own: settings.GEMINI_SEARCH_PROMPTS_DIR,
          now: systemClock.now,
          log: runLog,
        }),
        invalidOutputs: createInvalidOutputs({
          directory: parts.stateDir,
          db,
          processId,
          clock: systemClock,
          log: runLog,
        }),
        clock: systemClock,
        log: runLog,
        model: settings.GEMINI_MODEL,
        correctionModel: settings.GEMINI_CORRECTION_MODEL,
        maxCycles: settings.JSON_MAX_RETRIES,
      };
    },
    settings: {
      maxRounds: settings.DEEP_SEARCH_MAX_ITERATIONS,
      legacyPrompt: settings.GEMINI_SYSTEM_PROMPT,
      syncWindowMs: settings.RESEARCH_SYNC_WINDOW_MS,
      reportsDir: settings.RESEARCH_REPORTS_DIR,
      confirmAboveUsd: settings.RESEARCH_CONFIRM_ABOVE_USD,
    },
  };
}

async function createBackend(parts: Parts): Promise<Backend> {
  const { config, log } = parts;
  const { settings, vertex } = config;
  const { createApiBackend } = await import("./gemini/api.ts");
  const api = createApiBackend({
    apiKey: settings.GEMINI_API_KEY,
    vertex,
    baseUrl: settings.GOOGLE_GEMINI_BASE_URL,
    defaultModel: DEFAULT_API_MODEL,
    timeoutMs: settings.GEMINI_SEARCH_TIMEOUT,
    progressLogIntervalMs: settings.PROGRESS_LOG_INTERVAL,
    log,
  });
  if (settings.SEARCH_BACKEND === "api") return api;
  const cli = await createCli(parts);
  if (settings.SEARCH_BACKEND === "cli") return cli;
  const { createAutoBackend } = await import("./gemini/choose.ts");
  return createAutoBackend({ cli, api, apiReady: vertex || settings.GEMINI_API_KEY !== undefined, log });
}

async function createCli({ config, log, redact, shutdown, stateDir, store }: Parts) {
  const { settings, vertex, environment } = config;
  const { createCliBackend } = await import("./gemini/cli.ts");
  const { stopAllChildren } = await import("./platform/child.ts");
  const { createSlotPool } = await import("./store/slots.ts");
  const { db, processId } = await store();
  // Also a child whose call was cancelled or timed out before: it had been promised more time than is left now.
  shutdown.signal.addEventListener("abort", () => void stopAllChildren(SHUTDOWN_GRACE_MS));
  return createCliBackend({
    environment,
    home: join(stateDir, "gemini-cli"),
    systemPromptFile: join(PROMPTS_DIR, "cli-system-prompt.md"),
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
      pool: "gemini-cli",
      size: settings.GEMINI_CLI_MAX_CHILDREN,
    }),
    shutdownGrace: () => (shutdown.leaving() ? SHUTDOWN_GRACE_MS : undefined),
  });
}

/** Of the 1.5 s a client waits before it kills us, children get the most. */
const SHUTDOWN_GRACE_MS = 1_000;

/** What dead processes left is given back before anybody reads the store. */
async function tidyUp({ db }: Store, { log, stateDir }: { log: Log; stateDir: string }): Promise<void> {
  try {
    const { recoverInterruptedRuns } = await import("./runs/recover.ts");
    const { cleanupOrphanedTempFiles } = await import("./store/invalid-outputs.ts");
    const { forgetDeadProcesses } = await import("./store/processes.ts");
    await recoverInterruptedRuns(db, log, systemClock.now());
    await cleanupOrphanedTempFiles({ directory: stateDir, db, log });
    await forgetDeadProcesses(db);
  } catch (error) {
    log.warn(`Tidying up after earlier processes failed: ${error instanceof Error ? error.message : "unknown"}`);
  }
}

function privateTempDir(shutdown: Shutdown): string {
  const directory = mkdtempSync(join(tmpdir(), "gemini-search-mcp-"));
  shutdown.finally(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Name and version of the package: nowhere else written down. */
export function readPackage(): { name: string; version: string } {
  return z.object({ name: z.string(), version: z.string() }).parse(JSON.parse(readFileSync(PACKAGE_FILE, "utf8")));
}

const ignore = (): void => {};
