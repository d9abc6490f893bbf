import { execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../errors.ts";
import { insideRoot } from "./allowed-root.ts";
import { fileError } from "./file-errors.ts";
import { isTemporary } from "./publish-file.ts";
import { outputDirectory, saveMarkdown, type SaveRequest, sweepTemporaryReports } from "./save-markdown.ts";

const TASK = "3f2b8c1e-9a4d-4f6b-8e2a-1c5d7e9f0a2b";
const NOW = Date.parse("2026-11-05T04:03:02.999Z");
const MODULE = resolve(import.meta.dirname, "save-markdown.ts");
const NAME = `research_${TASK}_20261105_040302`;
const HOUR = 3_600_000;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "gemini-search-save-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const save = (over: Partial<SaveRequest> = {}) =>
  saveMarkdown({ directory, named: { prefix: "research", taskId: TASK }, text: "# Report\n", now: NOW, ...over });

const failure = async (work: Promise<unknown>): Promise<AppError> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof AppError)) throw new Error("It did not fail as it should.", { cause: error });
  return error;
};

const files = (): string[] => readdirSync(join(directory, "2026-11")).toSorted();

describe("a saved report", () => {
  test("is in the folder of its month, which is created, under its name (N1, N2)", async () => {
    const deep = join(directory, "a", "b c");
    const saved = await save({ directory: deep, text: "# Größe\n" });
    expect(saved).toEqual({ path: join(deep, "2026-11", `${NAME}.md`), name: `${NAME}.md`, bytes: 10 });
    expect(readFileSync(saved.path, "utf8")).toBe("# Größe\n");
    expect(readdirSync(join(deep, "2026-11"))).toEqual([`${NAME}.md`]);
  });

  test("gets the next number if its name is taken, and nothing is overwritten (N1, N2)", async () => {
    mkdirSync(join(directory, "2026-11", `${NAME}_2.md`), { recursive: true });
    const names = [];
    for (const text of ["first", "second", "third"]) names.push((await save({ text })).name);
    expect(names).toEqual([`${NAME}.md`, `${NAME}_3.md`, `${NAME}_4.md`]);
    expect(readFileSync(join(directory, "2026-11", `${NAME}.md`), "utf8")).toBe("first");
  });

  test.skipIf(process.platform === "win32")("has the mode of a document, restricted by the umask (T11)", () => {
    const script = `process.umask(Number(process.argv[1]));
      const { saveMarkdown } = await import(process.argv[2]);
      await saveMarkdown({ directory: process.argv[3], named: { prefix: "u" + process.argv[1], taskId: "t" }, text: "x", now: 0 });`;
    for (const [umask, mode] of [
      [0, 0o644],
      [0o77, 0o600],
    ] as const) {
      execFileSync(process.execPath, ["--input-type=module", "-e", script, String(umask), MODULE, directory]);
      const name = `u${umask}_t_19700101_000000.md`;
      expect(statSync(join(directory, "1970-01", name)).mode & 0o777).toBe(mode);
    }
  });
});

describe("a report is not saved", () => {
  test.each(["a file", "nowhere"])(
    "through a symlink as the file, to %s, which is not followed (N2, T10)",
    async (to) => {
      const victim = join(directory, "victim.md");
      if (to === "a file") writeFileSync(victim, "precious");
      mkdirSync(join(directory, "2026-11"));
      symlinkSync(victim, join(directory, "2026-11", `${NAME}.md`));
      const error = await failure(save());
      expect(error.code).toBe("PERMISSION_DENIED");
      expect(error.message).toContain("symbolic link");
      expect(existsSync(victim) ? readFileSync(victim, "utf8") : "precious").toBe("precious");
      expect(files()).toEqual([`${NAME}.md`]);
    },
  );

  test.each(["EACCES", "EPERM", "EROFS", "ELOOP"])(
    "on %s of the system, which is PERMISSION_DENIED (N3)",
    async (code) => {
      const refused = { folder: "/x", name: "y.md", neededBytes: 1 };
      const error = await fileError(Object.assign(new Error("foreign text"), { code }), refused);
      expect(error).toMatchObject({ code: "PERMISSION_DENIED", details: { path: "/x" } });
      expect(JSON.stringify(error)).not.toContain("foreign text");
    },
  );

  test("below a file in place of the directory, which is named as wrong input (N3)", async () => {
    writeFileSync(join(directory, "file"), "");
    const error = await failure(save({ directory: join(directory, "file") }));
    expect(error).toMatchObject({ code: "INVALID_INPUT", details: { path: join(directory, "file", "2026-11") } });
  });
});

/** Saves a report of 200,000 bytes, then one of 20,000, and prints the outcomes. */
const SAVING_ON_DISK = `const { saveMarkdown } = await import(process.argv[1]);
  const [directory] = process.argv.slice(2);
  const save = (bytes) => saveMarkdown({ directory, named: { prefix: "r", taskId: "t" }, text: "x".repeat(bytes), now: ${NOW} })
    .catch(({ code, message, details }) => ({ code, message, details }));
  const { readdirSync } = await import("node:fs");
  const first = await save(200_000);
  let left = [];
  try { left = readdirSync(directory + "/2026-11"); } catch {}
  console.log(JSON.stringify([first, await save(20_000), left]));`;

/** Runs the command in a mount namespace, which ends with the process; without root it also needs a user namespace. */
function inNamespace(command: string[]): string {
  const unshare = ["unshare", process.getuid?.() === 0 ? "-m" : "-rm"];
  return execFileSync("env", [...unshare, ...command], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

function saveOnDisk(options: string): unknown {
  const disk = join(directory, "disk");
  mkdirSync(disk, { recursive: true });
  const mount = `mount -t tmpfs -o ${options} tmpfs "$0" && exec "$@"`;
  const script = ["--input-type=module", "-e", SAVING_ON_DISK, MODULE, disk];
  return JSON.parse(inNamespace(["sh", "-c", mount, disk, process.execPath, ...script]));
}

const canMount = ((): boolean => {
  try {
    inNamespace(["mount", "-t", "tmpfs", "tmpfs", tmpdir()]);
    return true;
  } catch {
    return false;
  }
})();

describe("on a disk that refuses writes (needs a mount namespace)", () => {
  test.skipIf(!canMount)("because it is full, a save is DISK_FULL with file, needed and available bytes (N3)", () => {
    const path = join(directory, "disk", "2026-11", "r_t_20261105_040302.md");
    expect(saveOnDisk("size=64k")).toEqual([
      {
        code: "DISK_FULL",
        message: `The disk is full: ${path} needs 200,000 bytes, and 65,536 bytes are available. Nothing was saved.`,
        details: { path, needed_bytes: 200_000, available_bytes: 65_536 },
      },
      expect.objectContaining({ bytes: 20_000 }),
      [],
    ]);
  });

  test.skipIf(!canMount)("because it is read-only, a save is PERMISSION_DENIED (N3)", () => {
    const path = join(directory, "disk", "2026-11");
    const refused = { code: "PERMISSION_DENIED", message: expect.any(String), details: { path } };
    expect(saveOnDisk("ro")).toEqual([refused, refused, []]);
  });
});

describe("with an allowed root", () => {
  let root: string;
  const outside = (target: string): Promise<AppError> =>
    failure(save({ directory: target, assertAllowed: insideRoot(root) }));
  beforeEach(() => {
    root = join(directory, "root");
    mkdirSync(root);
  });

  test("reports are saved in the root and below it, existing or not (N2)", async () => {
    for (const target of [root, join(root, "new", "deep")]) {
      const { path } = await save({ directory: target, assertAllowed: insideRoot(root) });
      expect(existsSync(path)).toBe(true);
    }
    rmSync(root, { recursive: true });
    await save({ directory: root, assertAllowed: insideRoot(root) });
  });

  test("nothing is saved or created beside, above or outside it (N2, T10)", async () => {
    for (const target of [directory, `${root}-evil`, join(root, "..", "x"), "/nowhere/at/all"]) {
      expect((await outside(target)).code).toBe("PERMISSION_DENIED");
    }
    expect(readdirSync(directory)).toEqual(["root"]);
  });

  test("nothing is saved through links, dangling or not (N2, T10)", async () => {
    const elsewhere = join(directory, "elsewhere");
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, join(root, "link"));
    symlinkSync(join(directory, "missing"), join(root, "dangling"));
    symlinkSync(elsewhere, join(root, "2026-11"));
    for (const target of [join(root, "link"), join(root, "link", "deeper"), join(root, "dangling"), root]) {
      expect((await outside(target)).code).toBe("PERMISSION_DENIED");
    }
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(existsSync(join(directory, "missing"))).toBe(false);
  });

  test("a root that is itself a link is its target (N2)", async () => {
    symlinkSync(root, join(directory, "by-link"));
    const { path } = await save({ directory: root, assertAllowed: insideRoot(join(directory, "by-link")) });
    expect(existsSync(path)).toBe(true);
  });
});

/**
 * Saves reports with the same name until it is stopped, each with this many characters between its first and last line.
 */
const SAVING = `const { saveMarkdown } = await import(process.argv[1]);
  const [directory, count, size] = process.argv.slice(2);
  for (let n = 0; n < Number(count); n += 1) {
    const text = "start\\n" + "x".repeat(Number(size)) + "\\nend";
    await saveMarkdown({ directory, named: { prefix: "research", taskId: "${TASK}" }, text, now: ${NOW} });
  }`;

const startSaving = (count: number, size: number) =>
  spawn(process.execPath, ["--input-type=module", "-e", SAVING, MODULE, directory, String(count), String(size)], {
    stdio: "inherit",
  });

const isWhole = (name: string, size: number): boolean => {
  const text = readFileSync(join(directory, "2026-11", name), "utf8");
  return text.length === size + 10 && text.startsWith("start\n") && text.endsWith("\nend");
};

/** Written in several steps, so that a kill can fall between them. */
const LARGE = 4_000_000;

describe("several processes", () => {
  test("that save the same name at once overwrite nothing (N2)", async () => {
    const both = [startSaving(25, 200_000), startSaving(25, 200_000)];
    const codes = await Promise.all(both.map(async (child) => (await once(child, "exit"))[0] as unknown));
    expect(codes).toEqual([0, 0]);
    expect(files()).toHaveLength(50);
    expect(files().every((name) => isWhole(name, 200_000))).toBe(true);
  });

  test("killed while saving leave whole reports, and temporary files that the next save deletes (N2, T12)", async () => {
    let saved = 0;
    for (let round = 0; round < 12; round += 1) {
      const child = startSaving(1_000, LARGE);
      const ended = once(child, "exit");
      const before = saved;
      while (saved <= before) {
        await new Promise((wait) => setTimeout(wait, 5 + Math.random() * 30));
        saved = existsSync(join(directory, "2026-11")) ? files().filter((name) => !isTemporary(name)).length : 0;
      }
      child.kill("SIGKILL");
      await ended;
      const reports = files().filter((name) => !isTemporary(name));
      expect(reports.filter((name) => !isWhole(name, LARGE))).toEqual([]);
      saved = reports.length;
    }
    await sweepTemporaryReports(directory, Date.now() + 2 * HOUR);
    expect(files().filter(isTemporary)).toEqual([]);
    expect(files()).toHaveLength(saved);
  });
});

test("old temporary files of ours, and no others, are deleted, in real month folders only (T12)", async () => {
  mkdirSync(join(directory, "2026-10"));
  mkdirSync(join(directory, "notes"));
  const [ours, theirs] = [".gemini-search-mcp-x.tmp", "other.tmp"];
  const put = (path: string, age: number): void => {
    writeFileSync(join(directory, path), "");
    const time = (NOW - age) / 1_000;
    utimesSync(join(directory, path), time, time);
  };
  put(`2026-10/${ours}`, 2 * HOUR);
  put(`2026-10/${theirs}`, 2 * HOUR);
  put("2026-10/.gemini-search-mcp-young.tmp", HOUR / 2);
  put(`notes/${ours}`, 2 * HOUR);
  linkSync(join(directory, "notes", ours), join(directory, "2026-10", "report.md"));
  await sweepTemporaryReports(directory, NOW);
  expect(readdirSync(join(directory, "2026-10")).toSorted()).toEqual([
    ".gemini-search-mcp-young.tmp",
    theirs,
    "report.md",
  ]);
  expect(readdirSync(join(directory, "notes"))).toEqual([ours]);
  await sweepTemporaryReports(join(directory, "missing"), NOW);
});

test("~ is the home directory, and nothing else is (N1)", () => {
  expect(outputDirectory("~/reports", "/home/$&x")).toBe("/home/$&x/reports");
  expect(outputDirectory("~", "/home/x")).toBe("/home/x");
  expect(outputDirectory("~x", "/home/x")).toBe(resolve("~x"));
  expect(outputDirectory("a/~/b", "/home/x")).toBe(resolve("a/~/b"));
});
