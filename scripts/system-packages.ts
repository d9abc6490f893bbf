/** Programs of the operating system that a test needs: installed where the machine is there for that, asked for elsewhere. */

import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { runChild } from "../src/platform/child.ts";

/** For everything together: a mirror that hangs must not hold up the checks. */
const LIMIT_MS = 300_000;

export interface Machine {
  environment: Record<string, string | undefined>;
  userId: number | undefined;
  say: (line: string) => void;
}

const thisMachine: Machine = {
  environment: process.env,
  userId: process.getuid?.(),
  say: (line) => void process.stderr.write(`${line}\n`),
};

/**
 * `ready` when all the commands are there. If not, root under CI installs the packages and says so; anybody else
 * reads how to. Whoever gets `missing` skips by name, which the test reporter makes a failure under CI.
 */
export async function ensureSystemPackages(
  packages: readonly string[],
  { commands, machine = thisMachine }: { commands: readonly string[]; machine?: Machine },
): Promise<"ready" | "missing"> {
  const absent = (): string[] => commands.filter((command) => pathOf(command, machine) === undefined);
  if (absent().length === 0) return "ready";
  const { environment, userId, say } = machine;
  const aptGet = pathOf("apt-get", machine);
  if (environment["CI"] === undefined || userId !== 0 || aptGet === undefined) {
    say(`${absent().join(", ")}: not installed. To run the tests that need it:`);
    say(`  sudo apt-get install --no-install-recommends ${packages.join(" ")}`);
    return "missing";
  }
  say(`CI: installing ${packages.join(" ")} with apt-get, because ${absent().join(", ")} is not there.`);
  await install(aptGet, packages, machine);
  if (absent().length === 0) return "ready";
  say(`CI: ${absent().join(", ")} is still not there.`);
  return "missing";
}

/** The package lists are fetched only if they do not serve: they are missing, or name files that have gone. */
async function install(aptGet: string, packages: readonly string[], machine: Machine): Promise<void> {
  const until = performance.now() + LIMIT_MS;
  const run = (...args: string[]): Promise<boolean> => runApt([aptGet, ...args], until, machine);
  const installAll = (): Promise<boolean> =>
    run("install", "--yes", "--quiet", "--quiet", "--no-install-recommends", ...packages);
  if (await installAll()) return;
  if (await run("update", "--quiet", "--quiet")) await installAll();
}

async function runApt(command: string[], until: number, { environment, say }: Machine): Promise<boolean> {
  const outcome = await runChild({
    command: "/usr/bin/flock",
    // Test files run side by side, and apt-get does not wait for its own locks.
    args: ["/var/lib/apt", ...command],
    cwd: "/",
    env: { ...defined(environment), DEBIAN_FRONTEND: "noninteractive" },
    stdin: "",
    timeoutMs: Math.max(1, until - performance.now()),
    signal: new AbortController().signal,
    // Killed at once, it would leave packages half configured.
    grace: () => 10_000,
    onOutput: () => undefined,
  });
  if (outcome.ended === "exit" && outcome.exitCode === 0) return true;
  const lastLine = outcome.ended === "not_started" ? outcome.errorCode : outcome.stderr.trim().split("\n").at(-1);
  say(`CI: apt-get ${command[1]} did not succeed (${outcome.ended}): ${lastLine ?? ""}`);
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
