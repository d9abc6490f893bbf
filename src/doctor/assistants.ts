/** Checks which AI assistants of this machine have this server in their configuration, and whether they can start it. */

import type { Config } from "../config/config.ts";
import { type Connection, findConnections } from "../setup/connection.ts";
import { type CheckResult, fail, ok, warn } from "./check.ts";

const NAME = "assistants";
const CONNECT = "gemini-search-mcp init";

export async function checkAssistants({ home, environment }: Config): Promise<CheckResult[]> {
  const connections = await findConnections({
    platform: process.platform,
    home,
    project: process.cwd(),
    environment,
  });
  return [summary(connections), ...connections.flatMap(problemsOf)];
}

function summary(connections: Connection[]): CheckResult {
  const connected = connections.filter(({ entries }) => entries.length > 0);
  const others = connections.filter(({ entries }) => entries.length === 0);
  if (connections.length === 0) return ok(NAME, "No AI assistant was found on this machine.");
  if (connected.length === 0) return warn(NAME, `Not connected yet: ${titles(others)}.`, CONNECT);
  const rest = others.length === 0 ? "" : ` Not connected: ${titles(others)}; to connect: ${CONNECT}`;
  return ok(NAME, `Connected: ${titles(connected)}.${rest}`);
}

const titles = (connections: Connection[]): string => connections.map(({ client }) => client.title).join(", ");

const problemsOf = ({ client, entries, errors }: Connection): CheckResult[] => [
  ...entries.flatMap(({ missing, file }) =>
    missing === undefined
      ? []
      : [fail(NAME, `${client.title} starts ${missing}, which does not exist (${file}).`, `${CONNECT} ${client.name}`)],
  ),
  ...errors.map(({ message }) => warn(NAME, `${client.title}: ${message}`, "Correct the file.")),
];
