/** The Gemini CLI's home under our config directory: one settings file that lasts, one room per call that does not. */

import { createHash, randomBytes } from "node:crypto";
import { link, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Log } from "../../platform/log.ts";
import { liveness, thisProcess, type ProcessIdentity } from "../../platform/process-identity.ts";
import { mergeSettings, parseSettings, settingsForCall, type ManagedSettings, type Settings } from "./settings.ts";
import type { SignIn } from "./sign-in.ts";
import { killStragglers } from "./stragglers.ts";

/** Where one call lives. A room of its own means: no lock, no history and no leftovers shared with other calls. */
export interface CallRoom {
  /** The child's GEMINI_CLI_HOME. */
  cliHome: string;
  workingDirectory: string;
  temporary: string;
  /** Never throws. */
  close(): Promise<void>;
}

export interface RoomRequest {
  purpose: "research" | "correction";
  signIn: SignIn;
  managed: ManagedSettings;
}

export interface CliHome {
  openRoom(request: RoomRequest): Promise<CallRoom>;
  /** Removes the rooms of servers that died in a call, and ends what still runs in them. */
  sweep(): Promise<void>;
  /** A folder for compiled code of this very program; those of earlier versions are removed. */
  compileCache(programFile: string): Promise<string>;
}

/** A room whose owner cannot be asked is abandoned after this time, longer than any call lasts. */
const ABANDONED_AFTER_MS = 2 * 3_600_000;

export function createCliHome({ home, log }: { home: string; log: Log }): CliHome {
  const rooms = join(home, "calls");
  return {
    openRoom: async (request) => {
      const settings = await updateSettingsFile(join(home, ".gemini"), request.managed, log);
      const room = join(rooms, randomBytes(8).toString("hex"));
      try {
        return await furnish(room, settingsForCall(settings, { purpose: request.purpose }), request.signIn, log);
      } catch (error) {
        await removeRoom(room, log);
        throw error;
      }
    },
    sweep: () => sweepRooms(rooms, log),
    compileCache: (programFile) => compileCacheFor(join(home, "compile-cache"), programFile),
  };
}

async function furnish(room: string, settings: Settings, signIn: SignIn, log: Log): Promise<CallRoom> {
  const folder = join(room, ".gemini");
  const workingDirectory = join(room, "work");
  const temporary = join(room, "tmp");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(room, OWNER_FILE), JSON.stringify(thisProcess()), { mode: 0o600 });
  await mkdir(workingDirectory, { mode: 0o700 });
  await mkdir(temporary, { mode: 0o700 });
  await writeFile(join(folder, "settings.json"), JSON.stringify(settings), { mode: 0o600 });
  // The CLI looks for an .env file from its directory upwards and takes the first: it must not be a stranger's.
  await writeFile(join(folder, ".env"), "", { mode: 0o600 });
  for (const file of signIn.credentialFiles) await linkFile(file, join(folder, basename(file)), log);
  return { cliHome: room, workingDirectory, temporary, close: () => removeRoom(room, log) };
}

/** Linked, not copied: a token that the CLI renews must reach the user's own file. */
async function linkFile(from: string, to: string, log: Log): Promise<void> {
  try {
    await symlink(from, to, "file");
  } catch {
    // Windows allows symbolic links to administrators only.
    await link(from, to).catch(() => log.warn(`The sign-in file ${from} of the Gemini CLI could not be linked.`));
  }
}

/** B8: our entries as of now, missing defaults added, everything else as the user left it. */
async function updateSettingsFile(folder: string, managed: ManagedSettings, log: Log): Promise<Settings> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, "settings.json");
  const text = await readFile(file, "utf8").catch(() => undefined);
  const existing = text === undefined ? {} : parseSettings(text);
  if (existing === undefined) await setAside(file, log);
  const settings = mergeSettings(existing ?? {}, managed);
  const changed = existing === undefined || JSON.stringify(settings) !== JSON.stringify(existing);
  if (text === undefined || changed) await writeAtomically(file, `${JSON.stringify(settings, null, 2)}\n`);
  return settings;
}

async function setAside(file: string, log: Log): Promise<void> {
  const kept = `${file}.broken-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
  try {
    await rename(file, kept);
    log.warn(`${file} is not valid JSON. It was kept as ${kept} and written anew.`);
  } catch {
    // Another process has just done the same.
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

const OWNER_FILE = "owner.json";

async function sweepRooms(rooms: string, log: Log): Promise<void> {
  for (const name of await readdir(rooms).catch(() => [])) {
    const room = join(rooms, name);
    if (await isAbandoned(room)) await removeRoom(room, log);
  }
}

async function isAbandoned(room: string): Promise<boolean> {
  try {
    const owner: ProcessIdentity = JSON.parse(await readFile(join(room, OWNER_FILE), "utf8"));
    const state = liveness(owner);
    if (state !== "unknown") return state === "dead";
  } catch {
    // Just being made, or half removed: its age decides.
  }
  const age = Date.now() - ((await stat(room).catch(() => undefined)) ?? { mtimeMs: Date.now() }).mtimeMs;
  return age > ABANDONED_AFTER_MS;
}

async function removeRoom(room: string, log: Log): Promise<void> {
  await killStragglers(room);
  try {
    await rm(room, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  } catch (error) {
    log.warn(
      `The folder ${room} of a finished Gemini CLI call could not be removed: ${error instanceof Error ? error.message : "unknown"}`,
    );
  }
}

async function compileCacheFor(folder: string, programFile: string): Promise<string> {
  const version = await stat(programFile).catch(() => undefined);
  const name = createHash("sha256")
    .update(`${programFile}\n${version?.mtimeMs}\n${version?.size}`)
    .digest("hex")
    .slice(0, 16);
  for (const other of await readdir(folder).catch(() => [])) {
    if (other !== name) await rm(join(folder, other), { recursive: true, force: true }).catch(() => undefined);
  }
  const own = join(folder, name);
  await mkdir(own, { recursive: true, mode: 0o700 });
  return own;
}
