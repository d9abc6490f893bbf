/**
 * Runs all checks of an installation, in the order a person would check: this machine, the stored state, prices and tools,
 * Gemini, and the assistants that have this server in their configuration.
 */

import { statfsSync } from "node:fs";
import type { Config } from "../config/config.ts";
import { toolSet } from "../config/tool-sets.ts";
import { parseBudgets } from "../costs/budget.ts";
import { PRICE_FILE, readPrices } from "../costs/price-file.ts";
import { configuredModels, priceNotices } from "../costs/price-notices.ts";
import { desktopObstacle } from "../notifications/desktop.ts";
import { countOf } from "../platform/count.ts";
import { type Connection, findConnections } from "../setup/connection.ts";
import { isSafeSqlite, sqliteVersion } from "../store/sqlite/sqlite.ts";
import { type CheckResult, fail, ok, warn } from "./check.ts";
import { checkCli, checkKeyOffline, checkReach } from "./gemini.ts";
import { checkDatabase, checkDirectory, checkModes } from "./state.ts";

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
  // First, because opening the database makes files beside it that have its mode.
  const modes = configDirWritable ? checkModes(config) : [];
  const database = await checkDatabase(config, { now: now(), budgets: parseBudgets(config.settings) });
  return [
    checkNode(process.versions.node, isSupportedNode),
    checkSqlite(await sqliteVersion()),
    ...warnings.map((message) => warn("settings", message, "Correct it in the environment or in config.json.")),
    checkDirectory(config),
    ...(configDirWritable ? [...modes, checkSpace(configDir), ...checkDiskKind(configDir)] : []),
    ...database.checks,
    ...checkPrices(config, { models: database.models, now: now() }),
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

export function checkPrices(
  { configDir, settings }: Config,
  { models, now }: { models: readonly string[]; now: number },
): CheckResult[] {
  const { prices, fault } = readPrices(configDir);
  const notices = [
    ...(fault === undefined ? [] : [{ message: fault, isKnown: false }]),
    ...priceNotices(prices, { models: [...configuredModels(settings), ...models], now }),
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

export function checkNode(version: string, supported: (version: string) => boolean): CheckResult {
  return supported(version)
    ? ok("node", `Node ${version}`)
    : fail("node", `Node ${version} is too old.`, "Install Node 22.22.3, 24.15 or a later version.");
}

/** The ranges of `engines` in package.json: older versions contain SQLite's WAL-reset bug. */
export function isSupportedNode(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  if (major === 22) return minor > 22 || (minor === 22 && patch >= 3);
  if (major === 24) return minor >= 15;
  return major >= 26;
}

export function checkSqlite(version: string): CheckResult {
  return isSafeSqlite(version)
    ? ok("sqlite", `SQLite ${version}`)
    : fail(
        "sqlite",
        `SQLite ${version} can damage a database that several processes write.`,
        "Use an official Node 22.22.3, 24.15 or later; a distribution may link an older SQLite.",
      );
}

const MIN_FREE_BYTES = 50 * 2 ** 20;

function checkSpace(directory: string): CheckResult {
  const { bavail, bsize } = statfsSync(directory);
  const free = bavail * bsize;
  const message = `${Math.round(free / 2 ** 20).toLocaleString("en")} MB free`;
  return free > MIN_FREE_BYTES
    ? ok("disk", message)
    : fail("disk", message, "Free some space on the disk with the config directory, where paid reports are stored.");
}

/** File system magic numbers of Linux (statfs(2)) on which SQLite's locks do not work, or not between machines. */
const SHARED_DISKS = new Map([
  [0x6969, "NFS"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB"],
  [0x01021997, "9p"],
  [0x65735546, "FUSE"],
]);

export function checkDiskKind(directory: string, kind = statfsSync(directory).type): CheckResult[] {
  const name = process.platform === "linux" ? SHARED_DISKS.get(kind) : undefined;
  if (name === undefined) return [];
  const remedy = "Set GEMINI_SEARCH_CONFIG_DIR to a directory on a disk of this machine.";
  return [warn("disk kind", `${directory} is on ${name}, where SQLite's locks may not hold.`, remedy)];
}

function checkNotifier(environment: Record<string, string | undefined>): CheckResult {
  const obstacle = desktopObstacle(process.platform, environment);
  return obstacle === undefined
    ? ok("notifications", "Desktop notifications are available.")
    : warn("notifications", `Unavailable: ${obstacle}.`, "Research works without them.");
}
