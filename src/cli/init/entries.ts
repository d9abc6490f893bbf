/** Prepares the entries that `init` writes: launch command, URL and token. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import { AppError } from "../../errors.ts";
import { urlHost } from "../../http/host-guard.ts";
import { type Client, CONFIG_VARIABLE, type Paths, type Scope } from "../../setup/clients.ts";
import { isRecord } from "../../platform/is-record.ts";
import type { Entry } from "../../setup/entry-format.ts";
import { type Launches, launchesOf } from "../../setup/launch.ts";
import { planChange, type Plan } from "../../setup/plan.ts";

export interface InitOptions {
  /** Empty: all clients that are installed. */
  clients: string[];
  yes?: boolean;
  dryRun?: boolean;
  /** Show the entries that are written. */
  diff?: boolean;
  json?: boolean;
  remove?: boolean;
  http?: boolean;
  url?: string | undefined;
  writeToken?: boolean;
  /** Save the key of the environment in our config.json. */
  saveKey?: boolean;
  scope: Scope;
  name: string;
}

export interface Setup {
  options: InitOptions;
  place: Paths;
  launches: Launches;
  /** URL of the running server. */
  url: string;
  token: string | undefined;
  /** The config directory that the user chose; a server that a client starts needs it, too. */
  configDir: string | undefined;
}

export function prepareSetup(options: InitOptions, config: Config): Setup {
  const { environment, home, settings, configDir } = config;
  if (options.writeToken === true && options.scope === "project") {
    throw invalid(
      "--write-token cannot be used with project files, because they are shared.",
      "Use only one of the two.",
    );
  }
  const installation = {
    environment,
    node: process.execPath,
    script: process.argv[1] ?? "",
    platform: process.platform,
  };
  const host = ["0.0.0.0", "::"].includes(settings.MCP_SERVER_HOST) ? "127.0.0.1" : settings.MCP_SERVER_HOST;
  return {
    options,
    place: { platform: process.platform, home, project: process.cwd(), environment },
    launches: launchesOf(installation),
    url: options.url ?? `http://${urlHost(host)}:${settings.MCP_SERVER_PORT}/mcp`,
    token: options.writeToken === true ? readToken(config) : undefined,
    configDir: environment[CONFIG_VARIABLE]?.trim() ? configDir : undefined,
  };
}

function readToken({ settings, configDir }: Config): string {
  const file = join(configDir, "token");
  if (settings.MCP_AUTH_TOKEN !== undefined) return settings.MCP_AUTH_TOKEN;
  if (existsSync(file)) return readFileSync(file, "utf8").trim();
  throw invalid("There is no token yet.", "Start gemini-search-mcp serve once, or set MCP_AUTH_TOKEN.");
}

/** The change of one client's file. */
export async function planFor(client: Client, setup: Setup): Promise<Plan> {
  const { place, url, options } = setup;
  const file = client.file(place, options.scope);
  if (file === undefined) throw noFile(client, options.scope);
  const entry = options.remove === true ? undefined : entryFor(client, setup);
  const newMode = options.scope === "user" ? 0o600 : 0o644;
  return planChange({ client, file, newMode, name: options.name, entry, url, renewToken: options.writeToken === true });
}

function entryFor(client: Client, { launches, options, url, token, configDir }: Setup): Entry {
  const launch = client.withoutShell === true ? launches.byPath : launches.byName;
  if (!options.http && launch !== undefined)
    return withConfigDir(client, client.stdio(launch), shared(options) ? undefined : configDir);
  if (!options.http) {
    throw invalid(
      `${client.title} does not use your PATH, so it needs an installed program, and npx installs it only temporarily.`,
      "Run npm install -g gemini-search-mcp, then gemini-search-mcp init.",
    );
  }
  if (client.http !== undefined) return client.http({ url, token });
  throw invalid(`${client.title} accepts only commands from init, not URLs.`, "Leave out --http for it.");
}

/** The file of a project is shared, and a directory of this machine is of no use to others. */
const shared = ({ scope }: InitOptions): boolean => scope === "project";

function withConfigDir({ variables = "env" }: Client, entry: Entry, configDir: string | undefined): Entry {
  if (configDir === undefined) return entry;
  const others = entry[variables];
  return { ...entry, [variables]: { ...(isRecord(others) ? others : {}), [CONFIG_VARIABLE]: configDir } };
}

const noFile = ({ title }: Client, scope: Scope): AppError =>
  scope === "project"
    ? invalid(`${title} has no project files.`, "Use --scope user for it.")
    : invalid(`The file of ${title} is not known on this system.`, "Add the server in its settings.");

export const invalid = (message: string, suggestion: string): AppError =>
  new AppError({ code: "INVALID_INPUT", message, suggestion });
