/** Directories that lead out of the owner's directory by name, by link, or by a link created meanwhile (T10, T11). */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import path, { posix, win32 } from "node:path";
import { AppError } from "../../src/errors.ts";
import { insideRoot, isInside } from "../../src/reports/files/allowed-root.ts";
import { saveMarkdown } from "../../src/reports/files/save-markdown.ts";
import { temporaryDirectory } from "../kit/server/server.ts";
import type { Stage, Verdict } from "./trial.ts";

/** Relative paths are resolved below the root. */
const PATHS_OUT: readonly string[] = Object.values({
  up: [
    "..",
    "../",
    "../..",
    "../x",
    "a/../..",
    "a/../../x",
    "./..",
    "a/b/../../..",
    "../root-evil",
    "../root/../x",
    "....//",
    ".../x",
  ],
  absolute: ["/", "/tmp", "/etc", "/root-evil", "//tmp/x", "/proc/self/cwd", "/proc/self/root/tmp", "/dev/shm/x"],
  siblings: ["../root-evil/x", "../roo", "../root2", "../root.", "../ROOT", "../root ", "../root\u200B"],
  home: ["~", "~/x", "~root/x", "$HOME/x", "${HOME}/x", "%USERPROFILE%\\x"],
  encoded: ["%2e%2e/x", "..%2fx", "%2e%2e%2fx", "..%5cx", "%252e%252e%252fx", "..%c0%afx", "&#46;&#46;/x"],
  lookalike: ["\uFF0E\uFF0E/x", "\u2025/x", "..\u2215x", "..\u2044x", "..\uFF0Fx"],
  windows: [
    "..\\",
    "..\\..\\x",
    "C:\\x",
    "C:x",
    "c:/x",
    "\\\\host\\share",
    "\\\\?\\C:\\x",
    "\\\\.\\pipe\\x",
    "a:b",
    "x::$DATA",
    "CON",
    "NUL",
    "COM1",
    "a.",
    "a ",
    "AUX.txt",
  ],
  strange: [
    ".",
    "",
    "a/./b",
    "a//b",
    "-rf",
    "--help",
    "a\nb",
    "a\u202Eb",
    "e\u0301",
    "x".repeat(250),
    "a/".repeat(40),
    "x".repeat(300),
  ],
  links: [
    "link",
    "link/x",
    "dangling",
    "dangling/x",
    "loop",
    "loop/x",
    "deep/link/../../..",
    "deep/link/x",
    "inside/../link/x",
    "up/x",
  ],
}).flat();

const TASK = "3f2b8c1e-9a4d-4f6b-8e2a-1c5d7e9f0a2b";
const NOW = Date.parse("2026-11-05T04:03:02.999Z");

interface Directories {
  folder: string;
  root: string;
  outside: string;
}

function createDirectories({ onTestFinished }: Stage): Directories {
  const folder = temporaryDirectory();
  const inside = (name: string): string => path.join(folder, name);
  for (const name of ["root", "root/deep", "root/inside", "outside", "root-evil"]) mkdirSync(inside(name));
  const links: [string, string][] = [
    ["outside", "root/link"],
    ["outside", "root/deep/link"],
    ["missing", "root/dangling"],
    ["root/loop", "root/loop"],
    ["", "root/up"],
  ];
  for (const [target, link] of links) symlinkSync(inside(target), inside(link));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return { folder, root: inside("root"), outside: inside("outside") };
}

/** Files below the folder but not below the root. */
const filesOutside = ({ folder }: Directories): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => !/^root(?:$|\/)/.test(file))
    .toSorted();

/** Uses a new second each time, because existing names would be numbered. */
const save = (directory: string, root: string, second = 0) =>
  saveMarkdown({
    directory,
    named: { prefix: "research", taskId: TASK },
    text: "A report",
    now: NOW + second * 1_000,
    assertAllowed: insideRoot(root),
  });

export async function tryWaysOut(stage: Stage): Promise<Verdict> {
  const directories = createDirectories(stage);
  const before = filesOutside(directories);
  const broken: string[] = [];
  for (const requested of PATHS_OUT) {
    const outcome = await save(path.resolve(directories.root, requested), directories.root).then(
      ({ path: file }) => file,
      (error: unknown) => error,
    );
    if (outcome instanceof Error && !(outcome instanceof AppError)) broken.push(`${requested}: ${outcome.message}`);
    if (typeof outcome === "string" && !outcome.startsWith(`${directories.root}/`))
      broken.push(`${requested}: ${outcome}`);
  }
  if (JSON.stringify(filesOutside(directories)) !== JSON.stringify(before))
    broken.push(`outside: ${filesOutside(directories).join()}`);
  broken.push(...namesOnly());
  return { tried: PATHS_OUT.length * 3, broken };
}

/** Checks names only, on POSIX and Windows, against the path module. */
function namesOnly(): string[] {
  const systems = [[posix, "/srv/root"] as const, [win32, "C:\\srv\\root"] as const];
  return systems.flatMap(([system, root]) =>
    PATHS_OUT.flatMap((requested) => {
      const target = system.resolve(root, requested);
      const fold = (text: string): string => (system === win32 ? text.toLowerCase() : text);
      const below = fold(target) === fold(root) || fold(target).startsWith(fold(root + system.sep));
      return isInside(root, target, system) === below
        ? []
        : [`${requested} on ${system === win32 ? "win32" : "posix"}`];
    }),
  );
}

/** Replaces a directory in the root by a link to the outside and back, as fast as possible. */
const SWAPPING = `const { renameSync, symlinkSync, mkdirSync, rmSync } = require("node:fs");
  const [name, outside, inside, kind] = process.argv.slice(1);
  const quietly = (action) => { try { action(); } catch {} };
  for (let n = 0; ; n += 1) {
    quietly(() => symlinkSync(outside, name + ".link"));
    if (kind === "directory") quietly(() => renameSync(name, name + ".kept")); else quietly(() => rmSync(name));
    quietly(() => renameSync(name + ".link", name));
    quietly(() => rmSync(name));
    if (kind === "directory") quietly(() => renameSync(name + ".kept", name)); else quietly(() => symlinkSync(inside, name));
    if (n % 100 === 0) process.stdout.write(".");
  }`;

export async function trySwappedLinks(stage: Stage, saves: number): Promise<Verdict> {
  const broken: string[] = [];
  for (const kind of ["link", "directory"]) {
    const directories = createDirectories(stage);
    const name = path.join(directories.root, "2026-11");
    const inside = path.join(directories.root, "inside");
    if (kind === "directory") mkdirSync(name);
    else symlinkSync(inside, name);
    const swapper = spawn(process.execPath, ["-e", SWAPPING, name, directories.outside, inside, kind]);
    stage.onTestFinished(() => void swapper.kill("SIGKILL"));
    await once(swapper.stdout, "data");
    for (let number = 0; number < saves; number += 1) {
      await save(directories.root, directories.root, number).catch((error: unknown) => {
        if (!(error instanceof AppError)) broken.push(`${kind}: ${String(error)}`);
      });
    }
    swapper.kill("SIGKILL");
    await once(swapper, "close");
    for (const file of readdirSync(directories.outside)) broken.push(`${kind}: ${file} outside`);
  }
  return { tried: saves * 2, broken };
}
