/**
 * Provides operating system programs that tests need: installed under CI, and by `npm run test:setup`; elsewhere tests
 * that need them are skipped.
 */

import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { runChild } from "../src/platform/child.ts";

/** For all packages together: a mirror that hangs must not block the checks. */
const MAX_TOTAL_MS = 300_000;

/** Packages that `npm test` needs, with a command of each. Fonts have none: they are installed with the browser. */
const TEST_PACKAGES = {
  chromium: "chromium",
  "fonts-dejavu-core": undefined,
  tmux: "tmux",
  zsh: "zsh",
  fish: "fish",
  xvfb: "Xvfb",
  dbus: "dbus-daemon",
  "libnotify-bin": "notify-send",
  dunst: "dunst",
  postgresql: "pg_ctlcluster",
  "libreoffice-writer-nogui": "soffice",
};

export interface Machine {
  environment: Record<string, string | undefined>;
  userId: number | undefined;
  /** Whether packages may be installed, which takes root, too. */
  mayInstall: boolean;
  print: (line: string) => void;
}

export const thisMachine: Machine = {
  environment: process.env,
  userId: process.getuid?.(),
  mayInstall: process.env["CI"] !== undefined,
  print: (line) => void process.stderr.write(`${line}\n`),
};

export const ensureTestPackages = (machine?: Machine): Promise<"ready" | "missing"> =>
  ensureSystemPackages(Object.keys(TEST_PACKAGES), { commands: testCommands(), machine });

/** The commands that tests need and this machine does not have. */
export const missingTestCommands = (): string[] =>
  testCommands().filter((command) => !isInstalled(command, thisMachine));

const testCommands = (): string[] => Object.values(TEST_PACKAGES).filter((command) => command !== undefined);

/**
 * `ready` if all commands exist, or could be installed. Tests skip themselves on `missing`, which the test reporter
 * explains, and treats as a failure under CI.
 */
export async function ensureSystemPackages(
  packages: readonly string[],
  { commands, machine = thisMachine }: { commands: readonly string[]; machine?: Machine | undefined },
): Promise<"ready" | "missing"> {
  const absent = (): string => commands.filter((command) => !isInstalled(command, machine)).join(", ");
  if (absent() === "") return "ready";
  const { mayInstall, userId, print } = machine;
  const aptGet = pathOf("apt-get", machine);
  if (!mayInstall || userId !== 0 || aptGet === undefined) return "missing";
  print(`Installing ${packages.join(" ")} with apt-get (missing: ${absent()}).`);
  await install(aptGet, packages, machine);
  if (absent() === "") return "ready";
  print(`Still missing: ${absent()}.`);
  return "missing";
}

const isInstalled = (command: string, machine: Machine): boolean => pathOf(command, machine) !== undefined;

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
  print(`apt-get ${command[1]} did not succeed (${outcome.ended}): ${lastLine ?? ""}`);
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

if (import.meta.main && (await ensureTestPackages({ ...thisMachine, mayInstall: true })) === "missing") {
  thisMachine.print(`To install what tests need, run as root on Debian or Ubuntu: npm run test:setup`);
  thisMachine.print(`On other systems install: ${missingTestCommands().join(", ")}.`);
  process.exitCode = 1;
}
