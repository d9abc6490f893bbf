/** Interaction ids in files: written completely or not at all, and imported by any process. */

import fs, { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { attemptRow, openDatabase } from "../../../test/kit/store/store-rows.ts";
import { intended, NOW } from "../../../test/kit/store/stored-start.ts";
import { createLog } from "../../platform/log.ts";
import type { Database } from "../../store/database.ts";
import { importOrphanedIds, keepOrphanedId } from "./orphaned-ids.ts";
import { silentLog as log } from "../../../test/kit/log.ts";

let directory: string;

beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), "gemini-search-orphans-"))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Simulates a disk with this many bytes left for the directory. */
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
  await importOrphanedIds(db, { directory, log, now: NOW });
  return (await attemptRow(db, attemptId))?.interaction_id;
};

test("an id that the disk took only in part is written whole to another directory, and imported (P5, I8)", async () => {
  const db = await openDatabase();
  const { attemptId } = await intended(db);
  leaveRoomFor(20);
  const path = keepOrphanedId(directory, { attemptId, interactionId: "v1_torn" });
  onTestFinished(() => rmSync(dirname(path), { recursive: true, force: true }));
  expect(path.startsWith(directory)).toBe(false);
  expect(readFileSync(path, "utf8")).toContain(`"interaction_id":"v1_torn"}\n`);
  expect(await imported(db, attemptId)).toBe("v1_torn");
  expect(readdirSync(dirname(path))).toEqual([]);
});

test("an id that the disk takes in several parts is written whole (P5)", async () => {
  const db = await openDatabase();
  const { attemptId } = await intended(db);
  const { writeSync } = fs;
  Object.assign(fs, {
    writeSync: (handle: number, data: Buffer, offset = 0) => writeSync(handle, data.subarray(offset, offset + 7)),
  });
  syncBuiltinESMExports();
  try {
    expect(keepOrphanedId(directory, { attemptId, interactionId: "v1_parts" })).toBe(join(directory, "orphans.jsonl"));
  } finally {
    Object.assign(fs, { writeSync });
    syncBuiltinESMExports();
  }
  expect(await imported(db, attemptId)).toBe("v1_parts");
});

test("a file that another process has taken is imported, whether that process is alive or not (I8, P2)", async () => {
  const db = await openDatabase();
  const { attemptId } = await intended(db);
  const line = JSON.stringify({ attempt_id: attemptId, interaction_id: "v1_kept" });
  writeFileSync(join(directory, `orphans.jsonl.${process.ppid}.0a1b_42.5d3e`), `\n${line}\n`);
  expect(await imported(db, attemptId)).toBe("v1_kept");
  expect(readdirSync(directory)).toEqual([]);
});

test("several processes import the same file at the same time (I8, P2)", async () => {
  const db = await openDatabase();
  const { attemptId } = await intended(db);
  keepOrphanedId(directory, { attemptId, interactionId: "v1_kept" });
  await Promise.all([1, 2, 3].map(() => importOrphanedIds(db, { directory, log, now: NOW })));
  expect((await attemptRow(db, attemptId))?.interaction_id).toBe("v1_kept");
  expect(readdirSync(directory)).toEqual([]);
});

/** A log that records its lines. */
function readableLog() {
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  return { lines, log: createLog({ from: "WARN", format: "text", redact: (text) => text, write }) };
}

test("an id of another database stays, and is logged once with its file (I8, P5)", async () => {
  const db = await openDatabase();
  keepOrphanedId(directory, { attemptId: "elsewhere", interactionId: "v1_elsewhere" });
  const { lines, log: readable } = readableLog();
  for (const now of [NOW, NOW + 1]) await importOrphanedIds(db, { directory, log: readable, now });
  const [name = ""] = readdirSync(directory);
  expect(readFileSync(join(directory, name), "utf8")).toContain("v1_elsewhere");
  expect(lines).toEqual([expect.stringContaining(`${join(directory, name)}: the paid research v1_elsewhere`)]);
});

test("a state directory or file that cannot be read stops nothing, and is logged once (P5)", async () => {
  const db = await openDatabase();
  const { attemptId } = await intended(db);
  const { lines, log: readable } = readableLog();
  const noDirectory = join(directory, "a-file");
  writeFileSync(noDirectory, "");
  for (const now of [NOW, NOW + 1]) await importOrphanedIds(db, { directory: noDirectory, log: readable, now });
  expect(lines).toEqual([expect.stringContaining(`${noDirectory} cannot be read or removed (ENOTDIR)`)]);
  mkdirSync(join(directory, "orphans.jsonl.1.gone"));
  keepOrphanedId(directory, { attemptId, interactionId: "v1_beside" });
  await importOrphanedIds(db, { directory, log: readable, now: NOW });
  expect((await attemptRow(db, attemptId))?.interaction_id).toBe("v1_beside");
  expect(lines.at(-1)).toContain("(EISDIR)");
  expect(readdirSync(directory)).toHaveLength(2);
});

test("an id whose file is removed while it is written is written again (I8, P5)", () => {
  const { fsyncSync } = fs;
  let removed = 0;
  Object.assign(fs, {
    fsyncSync: (handle: number) => {
      fsyncSync(handle);
      removed += 1;
      if (removed <= 2) rmSync(join(directory, "orphans.jsonl"));
    },
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fs, { fsyncSync });
    syncBuiltinESMExports();
  });
  const path = keepOrphanedId(directory, { attemptId: "a", interactionId: "v1_again" });
  expect(readFileSync(path, "utf8")).toContain("v1_again");
  expect(path).toBe(join(directory, "orphans.jsonl"));
});
