import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isTemporary, patiently, publishFile, takeByLink, takeByRename } from "./publish-file.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "gemini-search-publish-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe("a new file", () => {
  test.each([
    ["link", takeByLink],
    ["rename, where a file system has no second names", takeByRename],
  ])("N2: by %s, twenty at once get a name each and overwrite nothing", async (_how, takeName) => {
    const name = (number: number): string => `r_${number}.md`;
    const many = Array.from({ length: 20 }, (_, index) =>
      publishFile({ directory, content: Buffer.from(String(index)), name, takeName }),
    );
    const names = await Promise.all(many);
    expect(new Set(names).size).toBe(20);
    for (const [index, taken] of names.entries())
      expect(readFileSync(join(directory, taken), "utf8")).toBe(String(index));
    expect(readdirSync(directory).filter(isTemporary)).toEqual([]);
  });

  test.each([
    ["link", takeByLink],
    ["rename", takeByRename],
  ])("N2: by %s, an existing file, directory or dangling link is taken", async (_how, take) => {
    const temporary = join(directory, "temporary");
    writeFileSync(temporary, "new");
    writeFileSync(join(directory, "file"), "old");
    mkdirSync(join(directory, "folder"));
    symlinkSync(join(directory, "missing"), join(directory, "dangling"));
    for (const name of ["file", "folder", "dangling"]) expect(await take(temporary, join(directory, name))).toBe(false);
    expect(readFileSync(join(directory, "file"), "utf8")).toBe("old");
    expect(existsSync(join(directory, "missing"))).toBe(false);
  });
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

  test("3.11: a busy file is tried ten times there, elsewhere once", async () => {
    const there = { platform: "win32", waitMs: 0 } as const;
    expect(await patiently(busy(9, "EPERM").action, there)).toBe(10);
    const never = busy(99);
    await expect(patiently(never.action, there)).rejects.toThrow("busy");
    expect(never.calls()).toBe(10);
    const other = busy(1, "ENOSPC");
    await expect(patiently(other.action, there)).rejects.toThrow("busy");
    const posix = busy(1);
    await expect(patiently(posix.action, { platform: "linux" })).rejects.toThrow("busy");
    expect([other.calls(), posix.calls()]).toEqual([1, 1]);
  });
});
