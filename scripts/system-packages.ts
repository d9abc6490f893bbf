/** Provides operating system programs that tests need: installs them under CI, asks for them elsewhere. */

import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { runChild } from "../src/platform/child.ts";

/** For all packages together: a mirror that hangs must not block the checks. */
const MAX_TOTAL_MS = 300_000;

export interface Machine {
  environment: Record<string, string | undefined>;
  userId: number | undefined;
  print: (line: string) => void;
}

const thisMachine: Machine = {
  environment: process.env,
  userId: process.getuid?.(),
  print: (line) => void process.stderr.write(`${line}\n`),
};

/**
 * `ready` if all commands exist. Otherwise root under CI installs the packages and logs it; elsewhere the instructions
 * are printed. Tests skip themselves on `missing`, which the test reporter treats as a failure under CI.
 */
export async function ensureSystemPackages(
  packages: readonly string[],
  { commands, machine = thisMachine }: { commands: readonly string[]; machine?: Machine },
): Promise<"ready" | "missing"> {
  const absent = (): string[] => commands.filter((command) => pathOf(command, machine) === undefined);
  if (absent().length === 0) return "ready";
  const { environment, userId, print } = machine;
  const aptGet = pathOf("apt-get", machine);
  if (environment["CI"] === undefined || userId !== 0 || aptGet === undefined) {
    print(`${absent().join(", ")}: not installed. To run the tests that need it:`);
    print(`  sudo apt-get install --no-install-recommends ${packages.join(" ")}`);
    return "missing";
  }
  print(`CI: installing ${packages.join(" ")} with apt-get, because ${absent().join(", ")} is not installed.`);
  await install(aptGet, packages, machine);
  if (absent().length === 0) return "ready";
  print(`CI: ${absent().join(", ")} is still not installed.`);
  return "missing";
}

/** The package lists are fetched only if installing fails, because they are missing or outdated. */
async function install(aptGet: string, packages: readonly string[], machine: Machine): Promise<void> {
  const until = performance.now() + MAX_TOTAL_MS;
  const run = (...args: string[]): Promise<boolean> => runApt([aptGet, ...args], until, machine);
  const installAll = (): Promise<boolean> =>
    run("install", "--yes", "--quiet", "--quiet", "--no-install-recommends", ...packages);
  if (await installAll()) return;
  if (await run("update", "--quiet", "--quiet")) await installAll();
}

async function runApt(command: string[], until: number, { environment, print }: Machine): Promise<boolean> {
  const outcome = await runChild({
    command: "/usr/bin/flock",
    // Test files run in parallel, and apt-get does not wait for its own locks.
    args: ["/var/lib/apt", ...command],
    cwd: "/",
    env: { ...defined(environment), DEBIAN_FRONTEND: "noninteractive" },
    stdin: "",
    timeoutMs: Math.max(1, until - performance.now()),
    signal: new AbortController().signal,
    // Killed immediately, it would leave packages half configured.
    grace: () => 10_000,
    onOutput: () => undefined,
  });
  if (outcome.ended === "exit" && outcome.exitCode === 0) return true;
  const lastLine = outcome.ended === "not_started" ? outcome.errorCode : outcome.stderr.trim().split("\n").at(-1);
  print(`CI: apt-get ${command[1]} did not succeed (${outcome.ended}): ${lastLine ?? ""}`);
  return false;
}

const defined = (environment: Machine["environment"]): Record<string, string> =>
  Object.fromEntries(Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined));

function pathOf(command: string, { environment }: Machine): string | undefined {
  return (environment["PATH"] ?? "")
    .split(delimiter)
    .filter((directory) => isAbsolute(directory))
    .map((directory) => join(directory, command))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
