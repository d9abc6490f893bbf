/** Interaction ids in files: written whole or not at all, and imported whoever wrote them. */

import fs, { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { attemptRow, openDatabase } from "../../test/support/store-rows.ts";
import { intended, NOW } from "../../test/support/stored-start.ts";
import { createLog } from "../platform/log.ts";
import type { Database } from "../store/database.ts";
import { importOrphans, keepOrphan } from "./orphans.ts";

const log = createLog({ from: "ERROR", format: "text", redact: (text) => text, write: () => {} });
let directory: string;

beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), "gemini-search-orphans-"))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** The disk takes so many bytes more in this directory, and then none. */
function leaveRoomFor(bytes: number): void {
  const { openSync, writeSync } = fs;
  const limited = new Set<number>();
  let left = bytes;
  Object.assign(fs, {
    openSync: (...args: Parameters<typeof openSync>) => {
      const handle = openSync(...args);
      if (String(args[0]).startsWith(directory)) limited.add(handle);
      else limited.delete(handle);
      return handle;
    },
    writeSync: (handle: number, data: Buffer | string, offset = 0) => {
      const rest = Buffer.from(data).subarray(offset);
      if (!limited.has(handle)) return writeSync(handle, rest);
      if (left === 0) throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
      const part = rest.subarray(0, left);
      left -= part.length;
      return writeSync(handle, part);
    },
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fs, { openSync, writeSync });
    syncBuiltinESMExports();
  });
}

const imported = async (db: Database, attemptId: string): Promise<string | null | undefined> => {
  await importOrphans(db, { directory, log, now: NOW });
  return (await attemptRow(db, attemptId))?.interaction_id;
};

test("an id of which the disk took only a part is written whole to another directory, and imported (P5 I8)", async () => {
  const db = await openDatabase();
  const { attemptId } = await intended(db);
  leaveRoomFor(20);
  const path = keepOrphan(directory, { attemptId, interactionId: "v1_torn" });
  onTestFinished(() => rmSync(dirname(path), { recursive: true, force: true }));
  expect(path.startsWith(directory)).toBe(false);
  expect(readFileSync(path, "utf8")).toContain(`"interaction_id":"v1_torn"}\n`);
  expect(await imported(db, attemptId)).toBe("v1_torn");
  expect(readdirSync(dirname(path))).toEqual([]);
});

test("an id that the disk takes in several parts is whole (P5)", async () => {
  const db = await openDatabase();
  const { attemptId } = await intended(db);
  const { writeSync } = fs;
  Object.assign(fs, {
    writeSync: (handle: number, data: Buffer, offset = 0) => writeSync(handle, data.subarray(offset, offset + 7)),
  });
  syncBuiltinESMExports();
  try {
    expect(keepOrphan(directory, { attemptId, interactionId: "v1_parts" })).toBe(join(directory, "orphans.jsonl"));
  } finally {
    Object.assign(fs, { writeSync });
    syncBuiltinESMExports();
  }
  expect(await imported(db, attemptId)).toBe("v1_parts");
});

for (const [what, name] of [
  ["another start mark", `orphans.jsonl.${process.ppid}.0a1b_42.5d3e`],
  [
    "no start mark, as an earlier version wrote it",
    `orphans.jsonl.${process.ppid}.5d3e8a1c-0000-4000-8000-000000000000`,
  ],
  ["this process's pid and another start mark", `orphans.jsonl.${process.pid}.0a1b_42.5d3e`],
] as const) {
  test(`a file of a dead process whose pid is alive again is imported: ${what} (I8 P2)`, async () => {
    const db = await openDatabase();
    const { attemptId } = await intended(db);
    const line = JSON.stringify({ attempt_id: attemptId, interaction_id: "v1_kept" });
    writeFileSync(join(directory, name), `\n${line}\n`);
    expect(await imported(db, attemptId)).toBe("v1_kept");
    expect(readdirSync(directory)).toEqual([]);
  });
}

test("a file that a live process holds is left to it (P2)", async () => {
  const db = await openDatabase();
  const { attemptId } = await intended(db);
  const { startMarkOf } = await import("../platform/process-identity.ts");
  const mark = String(startMarkOf(process.ppid)).replaceAll(/[^\w-]/g, "_");
  const name = `orphans.jsonl.${process.ppid}.${mark}.5d3e`;
  writeFileSync(join(directory, name), JSON.stringify({ attempt_id: attemptId, interaction_id: "v1_held" }));
  expect(await imported(db, attemptId)).toBeNull();
  expect(readdirSync(directory)).toEqual([name]);
});
