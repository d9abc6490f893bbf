/** Runs all checks of an installation, in the order a person would check. */

import type { Config } from "../config/config.ts";
import { sqliteVersion } from "../store/sqlite/sqlite.ts";
import { checkAssistants } from "./assistants.ts";
import { type CheckResult, warn } from "./check.ts";
import { checkCli, checkKeyOffline, checkReach } from "./gemini.ts";
import { checkDiskKind, checkNode, checkNotifier, checkSpace, checkSqlite, isSupportedNode } from "./machine.ts";
import { checkSourceLinks } from "./source-links.ts";
import { checkPrices } from "./prices.ts";
import { checkTools } from "./tools.ts";
import { checkDatabase, checkDirectory, checkModes } from "./state.ts";

export interface DoctorOptions {
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
