/**
 * A client under test: a pinned package, a configuration in its own home directory, and a command that ends with an
 * answer.
 */

import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import type { ModelApi } from "./model-api.ts";

/** How the client reaches our server. */
export type ServerConnection =
  | { transport: "stdio"; command: string; args: string[]; env: Record<string, string> }
  | { transport: "http"; url: string; token: string };

export interface ClientContext {
  /** HOME of the client, initially empty. */
  home: string;
  /** Its working directory, initially empty. */
  work: string;
  connection: ServerConnection;
  /** Base URL of the scripted model. */
  modelUrl: string;
  prompt: string;
}

interface Launch {
  args: string[];
  env: Record<string, string>;
}

export interface TerminalLaunch extends Launch {
  /** What the screen shows once a question can be typed. */
  ready: RegExp;
  /** The dialog before the first call of a tool, and the keys that allow it for the session; if the client asks. */
  approval?: { shows: RegExp; keys: string[] };
  /** The keys that interrupt a call. */
  interrupt: string[];
  /** What the user types to see the server, its prompts and its resources, if the client shows them. */
  menus: { server: string; prompts?: string; resources?: string };
  /** The key that shows the results of tools in full, if they are not shown anyway. */
  detailsKey?: string;
}

export interface Client {
  name: string;
  package: string;
  version: string;
  /** Inside `node_modules/.bin`. */
  bin: string;
  api: ModelApi;
  /** Writes its configuration and returns how it is started. */
  prepare(context: ClientContext): Launch;
  /** The same for a person at a terminal. */
  interactive(context: ClientContext): TerminalLaunch;
}

/** The name of our server in every client's configuration, as `init` writes it. */
export const SERVER_NAME = "gemini-search";
/** For clients that require a key; the scripted model ignores it. */
export const MODEL_KEY = "lab-key-never-real";

const ROOT = resolve(import.meta.dirname, "../..");
const CLIENTS = join(ROOT, "lab/.clients");

const run = promisify(execFile);

export function writeSettings(folder: string, name: string, content: string | object): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content, undefined, 2));
  return file;
}

/** A command of an npm package. */
export type Installable = Pick<Client, "name" | "package" | "version" | "bin">;

const installed = (folder: string, client: Installable): boolean => {
  const manifest = join(folder, "node_modules", client.package, "package.json");
  if (!existsSync(manifest) || !existsSync(join(folder, "node_modules/.bin", client.bin))) return false;
  return (
    z.looseObject({ version: z.string() }).parse(JSON.parse(readFileSync(manifest, "utf8"))).version === client.version
  );
};

/** The path of its command; undefined if this version is not installed. */
export function installedClient(client: Installable): string | undefined {
  const folder = [ROOT, join(CLIENTS, client.name)].find((candidate) => installed(candidate, client));
  return folder === undefined ? undefined : join(folder, "node_modules/.bin", client.bin);
}

/** Returns the path of its command, after installing this version if necessary. */
export async function install(client: Installable): Promise<string> {
  const known = installedClient(client);
  if (known !== undefined) return known;
  const own = join(CLIENTS, client.name);
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, "package.json"), JSON.stringify({ private: true }));
  const args = ["install", "--no-audit", "--no-fund", "--save-exact", `${client.package}@${client.version}`];
  await run("npm", args, { cwd: own });
  const found = installedClient(client);
  if (found === undefined) throw new Error(`npm installed no ${client.bin} of ${client.package}@${client.version}`);
  return found;
}
