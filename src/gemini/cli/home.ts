/** The Gemini CLI's home in our config directory: one permanent settings file, and one temporary directory per call. */

import { hash, randomBytes } from "node:crypto";
import { link, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { AppError } from "../../errors.ts";
import type { Log } from "../../platform/log.ts";
import { liveness, thisProcess, type ProcessIdentity } from "../../platform/process-identity.ts";
import { mergeSettings, parseSettings, settingsForCall, type ManagedSettings, type Settings } from "./settings.ts";
import type { SignIn } from "./sign-in.ts";
import { killStragglers } from "./stragglers.ts";
import { errorCodeOf } from "../../platform/error-code.ts";

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
  purpose: "research" | "correction" | "judgement";
  signIn: SignIn;
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
        const files = { settings: settingsForCall(settings, { purpose: request.purpose }), signIn: request.signIn };
        await populate(directory, files, log);
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

function notPrepared(error: unknown): AppError {
  const isFull = ["ENOSPC", "EDQUOT"].includes(errorCodeOf(error));
  return new AppError({
    code: isFull ? "DISK_FULL" : "PERMISSION_DENIED",
    message: isFull
      ? "The disk is full: the Gemini CLI's folder in the config directory could not be prepared."
      : "The Gemini CLI's folder in the config directory could not be prepared.",
    suggestion: isFull
      ? "Free some disk space."
      : "Make the config directory writable, or set GEMINI_SEARCH_CONFIG_DIR.",
    reason: "config",
    cause: error,
  });
}

const OWNER_FILE = "owner.json";
const WORKING_DIRECTORY = "work";
const TEMPORARY_DIRECTORY = "tmp";

async function populate(
  directory: string,
  { settings, signIn }: { settings: Settings; signIn: SignIn },
  log: Log,
): Promise<void> {
  const folder = join(directory, ".gemini");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(directory, OWNER_FILE), JSON.stringify(thisProcess()), { mode: 0o600 });
  await mkdir(join(directory, WORKING_DIRECTORY), { mode: 0o700 });
  await mkdir(join(directory, TEMPORARY_DIRECTORY), { mode: 0o700 });
  await writeFile(join(folder, "settings.json"), JSON.stringify(settings), { mode: 0o600 });
  // The CLI loads the first .env file that it finds from its directory upwards; this empty one comes first.
  await writeFile(join(folder, ".env"), "", { mode: 0o600 });
  for (const file of signIn.credentialFiles) await linkFile(file, join(folder, basename(file)), log);
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
  if (text === undefined || changed) await writeAtomically(file, `${JSON.stringify(settings, null, 2)}\n`);
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

async function writeAtomically(file: string, content: string): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    await writeFile(draft, content, { mode: 0o600, flag: "wx" });
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
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
