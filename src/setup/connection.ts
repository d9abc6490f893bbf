/** Finds the entries of this server in the clients' files, and whether the programs that they start exist. */

import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { AppError } from "../errors.ts";
import { isRecord } from "../platform/is-record.ts";
import { type Client, installedClients, type Paths, programOnPath, type Scope } from "./clients.ts";
import { readConfigFile } from "./config-file.ts";
import type { Entry } from "./entry-format.ts";
import { formatOf, isOurs } from "./plan.ts";

/** An installed client, and our entries in its files for the user and for the project. */
export interface Connection {
  client: Client;
  entries: {
    file: string;
    name: string;
    /** The program that it starts and that does not exist. */ missing?: string;
  }[];
  /** Files that cannot be read. */
  errors: AppError[];
}

export const findConnections = (paths: Paths): Promise<Connection[]> =>
  Promise.all(installedClients(paths).map((client) => connectionOf(client, paths))).then((connections) =>
    // `init` cannot connect the others for all projects, so a missing entry is nothing to report.
    connections.filter(({ client, entries }) => entries.length > 0 || client.file(paths, "user") !== undefined),
  );

const SCOPES: readonly Scope[] = ["user", "project"];

async function connectionOf(client: Client, paths: Paths): Promise<Connection> {
  const files = new Set(SCOPES.flatMap((scope) => client.file(paths, scope) ?? []));
  const found = await Promise.all([...files].map((file) => entriesOf(client, file, paths)));
  return {
    client,
    entries: found.flatMap(({ entries }) => entries),
    errors: found.flatMap(({ error }) => error ?? []),
  };
}

interface FileEntries {
  entries: Connection["entries"];
  error?: AppError;
}

async function entriesOf(client: Client, file: string, paths: Paths): Promise<FileEntries> {
  try {
    const format = await formatOf(client);
    const config = await readConfigFile(file, 0o600);
    const projects = client.projects === undefined ? {} : format.readAll(config, client.projects);
    const project = projects[paths.project];
    const servers = [
      format.readAll(config, client.container),
      isRecord(project) ? project[client.container] : undefined,
    ];
    const entries = servers
      .flatMap((table) => Object.entries(isRecord(table) ? table : {}))
      .flatMap(([name, entry]) => {
        // Other servers have loopback URLs, too: by its URL alone an entry is not known to be ours.
        if (!isOurs(entry) || (entry["command"] === undefined && !name.includes("gemini-search"))) return [];
        const missing = missingProgram(entry, paths);
        return [{ file, name, ...(missing === undefined ? {} : { missing }) }];
      });
    return { entries };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { entries: [], error };
  }
}

/** A server at a URL need not be running now, so it counts as present. */
function missingProgram(entry: Entry, paths: Paths): string | undefined {
  // OpenCode has the arguments in the same list.
  const [command, ...args]: unknown[] = Array.isArray(entry["command"])
    ? entry["command"]
    : [entry["command"], ...(Array.isArray(entry["args"]) ? entry["args"] : [])];
  if (typeof command !== "string") return undefined;
  const isThere = isAbsolute(command) ? existsSync(command) : programOnPath(command, paths) !== undefined;
  if (!isThere) return command;
  const [script] = args;
  return typeof script === "string" && isAbsolute(script) && !existsSync(script) ? script : undefined;
}
