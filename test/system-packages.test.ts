import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ensureSystemPackages, type Machine } from "../scripts/system-packages.ts";

let folder: string;
let printed: string[];

beforeEach(() => {
  printed = [];
  folder = mkdtempSync(join(tmpdir(), "gemini-search-packages-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const program = (name: string, script = ""): void =>
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });

/** Records how it was called, then runs the script. */
const aptGet = (script: string): void =>
  program("apt-get", `echo "$DEBIAN_FRONTEND apt-get $*" >> ${folder}/calls; ${script}`);

const calls = (): string[] => {
  const file = join(folder, "calls");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
};

const INSTALL = "noninteractive apt-get install --yes --quiet --quiet --no-install-recommends some-package";
const UPDATE = "noninteractive apt-get update --quiet --quiet";
const commandAppears = (): string => `: > ${folder}/some-command; /bin/chmod +x ${folder}/some-command`;

const ensure = ({ mayInstall = true, userId = 0 }: { mayInstall?: boolean; userId?: number } = {}) => {
  const machine: Machine = {
    environment: { PATH: `${folder}:/usr/bin:/bin` },
    userId,
    mayInstall,
    print: (line) => printed.push(line),
  };
  return ensureSystemPackages(["some-package"], { commands: ["some-command"], machine });
};

test("if the commands are installed, nothing is done and nothing printed", async () => {
  program("some-command");
  aptGet("exit 1");
  expect(await ensure()).toBe("ready");
  expect([calls(), printed]).toEqual([[], []]);
});

test.each([
  ["outside CI", { mayInstall: false }],
  ["under CI, but not as root", { userId: 1000 }],
])("%s nothing is installed", async (_, circumstances) => {
  aptGet(commandAppears());
  expect(await ensure(circumstances)).toBe("missing");
  expect([calls(), printed]).toEqual([[], []]);
});

test("under CI as root packages are installed, which is printed", async () => {
  aptGet(commandAppears());
  expect(await ensure()).toBe("ready");
  expect(calls()).toEqual([INSTALL]);
  expect(printed).toEqual(["Installing some-package with apt-get (missing: some-command)."]);
});

test("stale package lists are fetched, once", async () => {
  aptGet(`case "$1" in update) : > ${folder}/lists;; install) [ -e ${folder}/lists ] && ${commandAppears()};; esac`);
  expect(await ensure()).toBe("ready");
  expect(calls()).toEqual([INSTALL, UPDATE, INSTALL]);
});

test("an unreachable mirror is reported, and is not taken for success", async () => {
  aptGet('echo "E: Unable to fetch some archives" >&2; exit 100');
  expect(await ensure()).toBe("missing");
  expect(calls()).toEqual([INSTALL, UPDATE]);
  expect(printed.slice(1)).toEqual([
    "apt-get install did not succeed (exit): E: Unable to fetch some archives",
    "apt-get update did not succeed (exit): E: Unable to fetch some archives",
    "Still missing: some-command.",
  ]);
});
