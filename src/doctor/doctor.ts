/**
 * Runs all checks of an installation, in the order a person would check: this machine, the stored state, prices and tools,
 * Gemini, and the assistants that have this server in their configuration.
 */

import type { Config } from "../config/config.ts";
import { sqliteVersion } from "../store/sqlite/sqlite.ts";
import { type CheckResult, countOf, fail, ok, warn } from "./check.ts";
import { checkCli, checkKeyOffline, checkReach } from "./gemini.ts";
import { checkDiskKind, checkNode, checkNotifier, checkSpace, checkSqlite, isSupportedNode } from "./machine.ts";
import { checkDatabase, checkDirectory, checkModes } from "./state.ts";
import { type Connection, findConnections } from "../setup/connection.ts";
import { loadPrices, PRICE_FILE, priceNotices } from "../costs/price-file.ts";
import { createLog } from "../platform/log.ts";
import { toolSet } from "../config/tool-sets.ts";

interface DoctorOptions {
  config: Config;
  now: () => number;
  /** False skips the checks that need the network. */
  online: boolean;
}

/** Where a search needs a key, too, the advice to get one is given once. */
function withoutRepeatedAdvice(checks: CheckResult[]): CheckResult[] {
  const isAdvised = checks.some(({ name, status }) => name.startsWith("gemini cli") && status === "fail");
  return checks.map(({ remedy, ...check }) =>
    isAdvised && check.name === "key" && check.status === "warn" ? check : { ...check, remedy },
  );
}

export async function examine({ config, now, online }: DoctorOptions): Promise<CheckResult[]> {
  const { configDir, configDirWritable, environment, warnings } = config;
  return [
    checkNode(process.versions.node, isSupportedNode),
    checkSqlite(await sqliteVersion()),
    ...warnings.map((message) => warn("settings", message, "Correct it in the environment or in config.json.")),
    checkDirectory(config),
    ...(configDirWritable ? [...checkModes(config), checkSpace(configDir), ...checkDiskKind(configDir)] : []),
    ...(await checkDatabase(config)),
    ...checkPrices(config, now()),
    checkSourceLinks(config),
    checkTools(config),
    ...withoutRepeatedAdvice([
      ...checkCli(config),
      ...(online ? await checkReach(config, now) : checkKeyOffline(config)),
    ]),
    ...(await checkAssistants(config)),
    checkNotifier(environment),
  ];
}

const ASSISTANTS = "assistants";
const CONNECT = "gemini-search-mcp init";

async function checkAssistants({ home, environment }: Config): Promise<CheckResult[]> {
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
  if (connections.length === 0) return ok(ASSISTANTS, "No AI assistant was found on this machine.");
  if (connected.length === 0) return warn(ASSISTANTS, `Not connected yet: ${titles(others)}.`, CONNECT);
  const rest = others.length === 0 ? "" : ` Not connected: ${titles(others)}; to connect: ${CONNECT}`;
  return ok(ASSISTANTS, `Connected: ${titles(connected)}.${rest}`);
}

const titles = (connections: Connection[]): string => connections.map(({ client }) => client.title).join(", ");

const problemsOf = ({ client, entries, errors }: Connection): CheckResult[] => [
  ...entries.flatMap(({ missing, file }) =>
    missing === undefined
      ? []
      : [
          fail(
            ASSISTANTS,
            `${client.title} starts ${missing}, which does not exist (${file}).`,
            `${CONNECT} ${client.name}`,
          ),
        ],
  ),
  ...errors.map(({ message }) => warn(ASSISTANTS, `${client.title}: ${message}`, "Correct the file.")),
];

export function checkPrices({ configDir }: Config, now: number): CheckResult[] {
  const faults: string[] = [];
  const log = createLog({ from: "WARN", format: "text", redact: (text) => text, write: (line) => faults.push(line) });
  const prices = loadPrices(configDir, log);
  const notices = [
    ...faults.map((line) => ({ message: line.replace(/^\[WARN\] /, "").trim(), isKnown: false })),
    ...priceNotices(prices, now),
  ];
  if (notices.length === 0) return [ok("prices", `as of ${prices.asOf}`)];
  return notices.map(({ message, isKnown }) =>
    isKnown
      ? ok("prices", message)
      : warn(
          "prices",
          message,
          `Update gemini-search-mcp, or put current prices into ${PRICE_FILE} in the config directory.`,
        ),
  );
}

const checkSourceLinks = ({ settings }: Config): CheckResult =>
  ok(
    "source links",
    settings.RESOLVE_SOURCE_LINKS
      ? "Google's redirect links are resolved once, when a run ends (RESOLVE_SOURCE_LINKS=true)."
      : "Google's redirect links are not resolved; RESOLVE_SOURCE_LINKS=true resolves them (docs/google-terms.md).",
  );

function checkTools({ settings }: Config): CheckResult {
  const { name, listed } = toolSet(settings.GEMINI_SEARCH_TOOLS);
  return ok("tools", `Assistants are offered ${countOf(listed.length, "tool")} (GEMINI_SEARCH_TOOLS=${name}).`);
}
