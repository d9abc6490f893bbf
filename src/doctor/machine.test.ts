import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { checkDiskKind, checkNode, checkSqlite, isSupportedNode } from "./doctor.ts";

test.each([
  ["22.22.2", false],
  ["22.22.3", true],
  ["23.11.0", false],
  ["24.14.1", false],
  ["24.15.0", true],
  ["25.9.0", false],
  ["26.0.0", true],
])("Node %s is supported: %s", (version, supported) => {
  expect(isSupportedNode(version)).toBe(supported);
  expect(checkNode(version, isSupportedNode).status).toBe(supported ? "ok" : "fail");
});

test("SQLite with the WAL-reset bug is a failure", () => {
  expect(["3.51.2", "3.51.3", "3.53.0"].map((version) => checkSqlite(version).status)).toEqual(["fail", "ok", "ok"]);
});

test.runIf(process.platform === "linux")(
  "a config directory on a network disk is a warning that names the file system (T31)",
  () => {
    expect(checkDiskKind(tmpdir())).toEqual([]);
    expect(checkDiskKind("/share", 0x6969)).toMatchObject([
      { status: "warn", message: expect.stringContaining("NFS") },
    ]);
  },
);
