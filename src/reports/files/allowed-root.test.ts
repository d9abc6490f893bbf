/** Whether a path is inside the directory that remote callers may write to, on a real disk. */

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { pinFolder, insideRoot } from "./allowed-root.ts";

let parent: string;
let root: string;
beforeEach(() => {
  parent = realpathSync(mkdtempSync(join(tmpdir(), "gemini-search-root-")));
  root = join(parent, "out");
  for (const name of ["out", "out-evil", "elsewhere"]) mkdirSync(join(parent, name));
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const REFUSAL = {
  code: "PERMISSION_DENIED",
  message: "Reports can only be saved inside the directory that the server's operator chose.",
  suggestion: "Name no directory, or one below RESEARCH_REPORTS_DIR.",
};

test("the root and what is below it are allowed, existing or not (N2, T10)", async () => {
  mkdirSync(join(root, "there"));
  symlinkSync(join(root, "there"), join(root, "link"));
  for (const way of ["", "there", "missing", "missing/deeper/still", "there/../other", "link", "link/new", "..x"]) {
    await expect(insideRoot(root)(join(root, way)), way).resolves.toBeUndefined();
  }
});

test("a root that does not exist yet, or is a link to a directory, is valid (N2, T10)", async () => {
  await expect(insideRoot(join(parent, "new"))(join(parent, "new/2026-11"))).resolves.toBeUndefined();
  symlinkSync(root, join(parent, "alias"));
  await expect(insideRoot(join(parent, "alias"))(join(root, "x"))).resolves.toBeUndefined();
  await expect(insideRoot(root)(join(parent, "alias/x"))).resolves.toBeUndefined();
});

test("what is not below the root is refused, by name or by link, existing or not (N2, T10)", async () => {
  symlinkSync(join(parent, "elsewhere"), join(root, "out-of-here"));
  symlinkSync(join(parent, "nowhere"), join(root, "dangling"));
  symlinkSync(join(root, "round"), join(root, "round"));
  writeFileSync(join(root, "file"), "");
  for (const way of [
    "..",
    "../missing",
    "../out-evil",
    "../out-evil/missing",
    "../elsewhere",
    "out-of-here",
    "out-of-here/missing/deeper",
    "dangling",
    "dangling/missing",
    "round",
    "round/missing",
    "file/missing",
  ]) {
    await expect(insideRoot(root)(join(root, way)), way).rejects.toMatchObject(REFUSAL);
  }
});

test("a root that is a dangling link allows nothing (N2, T10)", async () => {
  symlinkSync(join(parent, "nowhere"), join(parent, "dangling"));
  await expect(insideRoot(join(parent, "dangling"))(join(root, "x"))).rejects.toMatchObject(REFUSAL);
});

test.runIf(process.platform === "linux")(
  "an open folder stays the one that was checked, even when its name is replaced by a link (N2, T10, T11)",
  async () => {
    const [month, elsewhere] = [join(root, "2026-11"), join(parent, "elsewhere")];
    mkdirSync(month);
    const pinned = await pinFolder(month, insideRoot(root));
    renameSync(month, `${month}.moved`);
    symlinkSync(elsewhere, month);
    writeFileSync(join(pinned.path, "report.md"), "");
    await pinned.close();
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(readdirSync(`${month}.moved`)).toEqual(["report.md"]);
  },
);

test("a folder that is not below the root cannot be opened, on any system (N2, T10)", async () => {
  symlinkSync(join(parent, "elsewhere"), join(root, "out-of-here"));
  for (const platform of ["linux", "darwin"] as const)
    await expect(pinFolder(join(root, "out-of-here"), insideRoot(root), platform)).rejects.toMatchObject(REFUSAL);
});
