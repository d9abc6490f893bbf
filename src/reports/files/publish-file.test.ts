import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { retryWhileFileBusy } from "../../platform/replace-file.ts";
import { isTemporary, publishFile, claimByLink, claimByRename } from "./publish-file.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "gemini-search-publish-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe("a new file", () => {
  test.each([
    ["link", claimByLink],
    ["rename, where a file system has no second names", claimByRename],
  ])(
    "by %s: of twenty created at once each gets its own name, and nothing is overwritten (N2)",
    async (_how, claimName) => {
      const name = (number: number): string => `r_${number}.md`;
      const many = Array.from({ length: 20 }, (_, index) =>
        publishFile({ directory, content: Buffer.from(String(index)), name, claimName }),
      );
      const names = await Promise.all(many);
      expect(new Set(names).size).toBe(20);
      for (const [index, taken] of names.entries())
        expect(readFileSync(join(directory, taken), "utf8")).toBe(String(index));
      expect(readdirSync(directory).filter(isTemporary)).toEqual([]);
    },
  );

  test.each([
    ["link", claimByLink],
    ["rename", claimByRename],
  ])("by %s: an existing file, directory or dangling link is a taken name (N2)", async (_how, take) => {
    const temporary = join(directory, "temporary");
    writeFileSync(temporary, "new");
    writeFileSync(join(directory, "file"), "old");
    mkdirSync(join(directory, "folder"));
    symlinkSync(join(directory, "missing"), join(directory, "dangling"));
    for (const name of ["file", "folder", "dangling"]) expect(await take(temporary, join(directory, name))).toBe(false);
    expect(readFileSync(join(directory, "file"), "utf8")).toBe("old");
    expect(existsSync(join(directory, "missing"))).toBe(false);
  });

  test.each([
    ["link", claimByLink],
    ["rename", claimByRename],
  ])("by %s: a missing file or directory is an error, not a taken name (N2)", async (_how, take) => {
    await expect(take(join(directory, "gone"), join(directory, "a"))).rejects.toMatchObject({ code: "ENOENT" });
    const temporary = join(directory, "temporary");
    writeFileSync(temporary, "new");
    await expect(take(temporary, join(directory, "none/a"))).rejects.toMatchObject({ code: "ENOENT" });
    expect(readdirSync(directory)).toEqual(["temporary"]);
  });

  test.runIf(process.platform === "linux")("is renamed where hard links are not supported (N2)", async () => {
    // Linking a directory is not permitted, which simulates a file system without links, such as FAT.
    const temporary = join(directory, "temporary");
    mkdirSync(temporary);
    expect(await claimByLink(temporary, join(directory, "named"))).toBe(true);
    expect(readdirSync(directory)).toEqual(["named"]);
  });

  test("gets another name if a process has claimed the name (N2)", async () => {
    const temporary = join(directory, "temporary");
    writeFileSync(temporary, "new");
    writeFileSync(join(directory, ".gemini-search-mcp-a.md.tmp"), "");
    expect(await claimByRename(temporary, join(directory, "a.md"))).toBe(false);
    expect(readdirSync(directory)).toEqual([".gemini-search-mcp-a.md.tmp", "temporary"]);
  });

  test("is refused if a symbolic link is in its place, and leaves nothing behind (N2)", async () => {
    symlinkSync(join(directory, "missing"), join(directory, "r.md"));
    const publish = publishFile({ directory, content: Buffer.from("new"), name: () => "r.md" });
    await expect(publish).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
      message: "The path of the report is a symbolic link; nothing was saved.",
      suggestion: "Remove the link or choose another directory.",
      details: { path: join(directory, "r.md") },
    });
    expect(readdirSync(directory)).toEqual(["r.md"]);
  });

  test("gets numbers from 1, and ten thousand are enough (N2)", async () => {
    const tried: number[] = [];
    const name = (number: number): string => `r_${tried.push(number)}.md`;
    const publish = publishFile({ directory, content: Buffer.from("new"), name, claimName: async () => false });
    await expect(publish).rejects.toMatchObject({
      code: "EXECUTION_ERROR",
      message: "Too many reports of this run were saved within this second.",
      suggestion: "Try again in a second.",
    });
    expect([tried.length, tried[0], tried.at(-1)]).toEqual([10_000, 1, 10_000]);
    expect(readdirSync(directory)).toEqual([]);
  });

  test.runIf(existsSync("/proc/self/fd"))("leaves no file descriptor open (N2)", async () => {
    await publishFile({ directory, content: Buffer.from("new"), name: () => "r.md" });
    expect(openFiles().filter((file) => file.startsWith(directory))).toEqual([]);
  });
});

const openFiles = (): string[] =>
  readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)];
    } catch {
      // The one that read the list.
      return [];
    }
  });

test.each([
  [".gemini-search-mcp-1.tmp", true],
  [".gemini-search-mcp-.tmp", false],
  ["my.gemini-search-mcp-1.tmp", false],
  [".gemini-search-mcp-1.tmp.md", false],
  ["report.md", false],
])("`%s` is a leftover of ours: %s (T12)", (name, ours) => {
  expect(isTemporary(name)).toBe(ours);
});

describe("Windows", () => {
  const busy = (times: number, code = "EBUSY") => {
    let calls = 0;
    return {
      action: async () => {
        calls += 1;
        if (calls <= times) throw Object.assign(new Error("busy"), { code });
        return calls;
      },
      calls: () => calls,
    };
  };

  test("a busy file is tried ten times on Windows, elsewhere once (N2)", async () => {
    const there = { platform: "win32", delayMs: 0 } as const;
    for (const code of ["EPERM", "EBUSY", "EACCES"])
      expect(await retryWhileFileBusy(busy(9, code).action, there)).toBe(10);
    const never = busy(99);
    await expect(retryWhileFileBusy(never.action, there)).rejects.toThrow("busy");
    expect(never.calls()).toBe(10);
    const other = busy(1, "ENOSPC");
    await expect(retryWhileFileBusy(other.action, there)).rejects.toThrow("busy");
    const posix = busy(1);
    await expect(retryWhileFileBusy(posix.action, { platform: "linux" })).rejects.toThrow("busy");
    expect([other.calls(), posix.calls()]).toEqual([1, 1]);
  });
});
