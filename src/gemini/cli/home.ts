/**
 * The Gemini CLI's home in our config directory: one permanent settings file, with only what web research needs and the
 * user's own edits, and one temporary directory per call.
 */

import { hash, randomBytes } from "node:crypto";
import { link, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { AppError } from "../../errors.ts";
import type { Log } from "../../platform/log.ts";
import { liveness, type ProcessIdentity, thisProcess } from "../../platform/process-identity.ts";
import { isDiskFull } from "../../platform/error-code.ts";
import { parseJson, withoutComments } from "../../platform/parse-json.ts";
import { replaceFile } from "../../platform/replace-file.ts";

/** The directory of one call. Calls share no lock, no history and no leftover files. */
export interface CallDirectory {
  /** The child's GEMINI_CLI_HOME. */
  cliHome: string;
  workingDirectory: string;
  temporary: string;
  /** Never throws. */
  remove(): Promise<void>;
}

export interface CallDirectoryRequest {
  purpose: "research" | "correction";
  /** Of the user's own CLI, to be linked. */
  credentialFiles: readonly string[];
  managed: ManagedSettings;
}

export interface CliHome {
  /** Throws AppError if the disk is full or the config directory is not writable. */
  createCallDirectory(request: CallDirectoryRequest): Promise<CallDirectory>;
  /** Removes directories of servers that died during a call, and kills processes still running in them. */
  sweep(): Promise<void>;
  /** The compile cache of this program file; caches of other versions are removed. */
  compileCache(programFile: string): Promise<string>;
}

/** Age at which a directory whose owner cannot be checked counts as abandoned; longer than any call. */
const ABANDONED_AFTER_MS = 2 * 3_600_000;

export function createCliHome({ home, log }: { home: string; log: Log }): CliHome {
  const calls = join(home, "calls");
  return {
    createCallDirectory: async (request) => {
      const directory = join(calls, randomBytes(8).toString("hex"));
      try {
        const settings = await updateSettingsFile(join(home, ".gemini"), request.managed, log);
        await populate(directory, settingsForCall(settings, request));
        for (const file of request.credentialFiles)
          await linkFile(file, join(directory, ".gemini", basename(file)), log);
        return {
          cliHome: directory,
          workingDirectory: join(directory, WORKING_DIRECTORY),
          temporary: join(directory, TEMPORARY_DIRECTORY),
          remove: () => removeCallDirectory(directory, log),
        };
      } catch (error) {
        await removeCallDirectory(directory, log);
        throw notPrepared(error);
      }
    },
    sweep: () => removeAbandonedDirectories(calls, log),
    compileCache: (programFile) => compileCacheFor(join(home, "compile-cache"), programFile),
  };
}

function notPrepared(cause: unknown): AppError {
  const isFull = isDiskFull(cause);
  return new AppError({
    code: isFull ? "DISK_FULL" : "PERMISSION_DENIED",
    message: `${isFull ? "The disk is full: the" : "The"} Gemini CLI's folder in the config directory could not be prepared.`,
    suggestion: isFull
      ? "Free some disk space."
      : "Make the config directory writable, or set GEMINI_SEARCH_CONFIG_DIR.",
    reason: "config",
    cause,
  });
}

const OWNER_FILE = "owner.json";
const WORKING_DIRECTORY = "work";
const TEMPORARY_DIRECTORY = "tmp";

async function populate(directory: string, settings: Settings): Promise<void> {
  const folder = join(directory, ".gemini");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(directory, OWNER_FILE), JSON.stringify(thisProcess()), { mode: 0o600 });
  await mkdir(join(directory, WORKING_DIRECTORY), { mode: 0o700 });
  await mkdir(join(directory, TEMPORARY_DIRECTORY), { mode: 0o700 });
  await writeFile(join(folder, "settings.json"), JSON.stringify(settings), { mode: 0o600 });
  // The CLI loads the first .env file that it finds from its directory upwards; this empty one comes first.
  await writeFile(join(folder, ".env"), "", { mode: 0o600 });
}

/** Links the file, so that a token renewed by the CLI is written to the user's own file. */
async function linkFile(from: string, to: string, log: Log): Promise<void> {
  try {
    await symlink(from, to, "file");
  } catch {
    // Windows only lets administrators create symbolic links.
    await link(from, to).catch(() => log.warn(`The sign-in file ${from} of the Gemini CLI could not be linked.`));
  }
}

/** Updates our own entries, adds missing defaults and keeps everything else as the user left it (B8). */
async function updateSettingsFile(folder: string, managed: ManagedSettings, log: Log): Promise<Settings> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, "settings.json");
  const text = await readFile(file, "utf8").catch(() => undefined);
  const existing = text === undefined ? {} : parseSettings(text);
  if (existing === undefined) await keepBrokenFile(file, log);
  const settings = mergeSettings(existing ?? {}, managed);
  const changed = existing === undefined || JSON.stringify(settings) !== JSON.stringify(existing);
  if (text === undefined || changed) await replaceFile(file, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
  return settings;
}

async function keepBrokenFile(file: string, log: Log): Promise<void> {
  const kept = `${file}.broken-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
  try {
    await rename(file, kept);
    log.warn(`${file} is not valid JSON. It was renamed to ${kept} and replaced.`);
  } catch {
    // Another process has already renamed it.
  }
}

async function removeAbandonedDirectories(calls: string, log: Log): Promise<void> {
  for (const name of await readdir(calls).catch(() => [])) {
    const directory = join(calls, name);
    if (await isAbandoned(directory)) await removeCallDirectory(directory, log);
  }
}

async function isAbandoned(directory: string): Promise<boolean> {
  try {
    const owner: ProcessIdentity = JSON.parse(await readFile(join(directory, OWNER_FILE), "utf8"));
    const state = liveness(owner);
    if (state !== "unknown") return state === "dead";
  } catch {
    // The directory is being created or removed, so its age decides.
  }
  const age = Date.now() - ((await stat(directory).catch(() => undefined)) ?? { mtimeMs: Date.now() }).mtimeMs;
  return age > ABANDONED_AFTER_MS;
}

async function removeCallDirectory(directory: string, log: Log): Promise<void> {
  await killStragglers(directory);
  try {
    await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  } catch (error) {
    log.warn(
      `The folder ${directory} of a finished Gemini CLI call could not be removed: ${error instanceof Error ? error.message : "unknown"}`,
    );
  }
}

async function compileCacheFor(folder: string, programFile: string): Promise<string> {
  const version = await stat(programFile).catch(() => undefined);
  const name = hash("sha256", `${programFile}\n${version?.mtimeMs}\n${version?.size}`).slice(0, 16);
  for (const other of await readdir(folder).catch(() => [])) {
    if (other !== name) await rm(join(folder, other), { recursive: true, force: true }).catch(() => undefined);
  }
  const own = join(folder, name);
  await mkdir(own, { recursive: true, mode: 0o700 });
  return own;
}

type Json = null | boolean | number | string | Json[] | Settings;
export interface Settings {
  [name: string]: Json;
}

interface ManagedSettings {
  signInType: string | undefined;
  firecrawl: Firecrawl;
}

export interface Firecrawl {
  apiKey?: string | undefined;
  apiUrl?: string | undefined;
}

const SEARCH_TOOLS = ["google_web_search", "web_fetch"];
const FIRECRAWL_TOOLS = "mcp_firecrawl_*";
/** Limit for Firecrawl's start and for each tool call. A Firecrawl server that hangs delays a search, but never fails it. */
const FIRECRAWL_TIMEOUT_MS = 30_000;

/** Added if missing; the user may change each of them. */
const LEAN_DEFAULTS: Settings = {
  general: {
    plan: { enabled: false },
    topicUpdateNarration: false,
    enableAutoUpdate: false,
    enableAutoUpdateNotification: false,
    // We retry ourselves, and the CLI's default of ten attempts takes over three minutes.
    maxAttempts: 3,
  },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  // The working directory is ours and empty; with folder trust enabled the CLI exits with code 55.
  security: { folderTrust: { enabled: false } },
  // In a sandbox the CLI would move the prompt into a command line.
  tools: { core: SEARCH_TOOLS, sandbox: false },
  // Also excludes servers from a machine-wide settings file.
  mcp: { allowed: ["firecrawl"] },
  context: { includeDirectoryTree: false, memoryBoundaryMarkers: [] },
  advanced: { ignoreLocalEnv: true },
  experimental: { enableAgents: false },
  skills: { enabled: false },
  hooksConfig: { enabled: false },
};

/** The settings file of our home: the user's edits, missing defaults, and our current entries. */
export function mergeSettings(existing: Settings, managed: ManagedSettings): Settings {
  const settings = structuredClone(existing);
  addMissing(settings, LEAN_DEFAULTS);
  const auth = objectIn(objectIn(settings, "security"), "auth");
  if (managed.signInType === undefined) delete auth["selectedType"];
  else auth["selectedType"] = managed.signInType;
  manageFirecrawl(settings, managed.firecrawl);
  return settings;
}

export function settingsForCall(settings: Settings, { purpose }: Pick<CallDirectoryRequest, "purpose">): Settings {
  const own = structuredClone(settings);
  if (purpose !== "research") {
    delete own["mcpServers"];
    // With an empty list the CLI would send a tool without functions, which the API rejects with 400.
    objectIn(own, "tools")["core"] = ["google_web_search"];
  }
  return own;
}

function manageFirecrawl(settings: Settings, firecrawl: Firecrawl): void {
  const configured = firecrawl.apiKey !== undefined || firecrawl.apiUrl !== undefined;
  const servers = objectIn(settings, "mcpServers");
  const tools = objectIn(settings, "tools");
  const listed = Array.isArray(tools["core"]) ? tools["core"] : SEARCH_TOOLS;
  const core = listed.filter((tool) => tool !== FIRECRAWL_TOOLS);
  if (configured) {
    servers["firecrawl"] = firecrawlServer(firecrawl);
    tools["core"] = [...core, FIRECRAWL_TOOLS];
  } else {
    delete servers["firecrawl"];
    tools["core"] = core;
  }
  if (Object.keys(servers).length === 0) delete settings["mcpServers"];
}

/** The values are only in the child's environment; the CLI substitutes `$NAME` when it reads the file. */
function firecrawlServer(firecrawl: Firecrawl): Settings {
  const env: Settings = {};
  // An unset variable would be passed on as the text `$NAME`.
  if (firecrawl.apiKey !== undefined) env["FIRECRAWL_API_KEY"] = "$FIRECRAWL_API_KEY";
  if (firecrawl.apiUrl !== undefined) env["FIRECRAWL_API_URL"] = "$FIRECRAWL_API_URL";
  return {
    command: "npx",
    args: ["-y", "firecrawl-mcp"],
    env,
    // Without trust, a non-interactive CLI silently omits the server's tools.
    trust: true,
    includeTools: ["firecrawl_scrape", "firecrawl_search"],
    timeout: FIRECRAWL_TIMEOUT_MS,
  };
}

function addMissing(settings: Settings, defaults: Settings): void {
  for (const [name, value] of Object.entries(defaults)) {
    const present = settings[name];
    if (present === undefined) settings[name] = structuredClone(value);
    else if (isObject(present) && isObject(value)) addMissing(present, value);
  }
}

/** The object of that name, created if missing. */
function objectIn(settings: Settings, name: string): Settings {
  const present = settings[name];
  if (isObject(present)) return present;
  const made: Settings = {};
  settings[name] = made;
  return made;
}

const isObject = (value: unknown): value is Settings =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An object of JSON with comments, which the CLI reads, too. Undefined for anything else. */
export function parseSettings(text: string): Settings | undefined {
  const value = parseJson(withoutComments(text.replace(/^\uFEFF/, "")));
  return isObject(value) ? value : undefined;
}

/** A process may fork while the list is read. */
const MAX_PASSES = 3;

/** Finds them by the call's home in their environment, which is readable on Linux only; does nothing elsewhere. */
async function killStragglers(cliHome: string): Promise<void> {
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const pids = await processesOf(cliHome);
    if (pids.length === 0) return;
    for (const pid of pids) kill(pid);
  }
}

async function processesOf(cliHome: string): Promise<number[]> {
  const entry = `\0GEMINI_CLI_HOME=${cliHome}\0`;
  const names = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    names.map(async (name) => {
      // Unreadable if the process belongs to another user or has exited.
      const environment = await readFile(`/proc/${name}/environ`, "utf8").catch(() => "");
      return `\0${environment}`.includes(entry) ? [Number(name)] : [];
    }),
  );
  return found.flat();
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has already exited.
  }
}
