/**
 * Makes chosen writes of this process fail as on a full disk: database statements and file operations, counted from 1.
 */

import fs from "node:fs";
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";

export interface Faults {
  /** The first write that fails, counted from now, and the number of consecutive failures. */
  from: number;
  count: number;
  /** Whether SQLite has rolled the transaction back itself when it reports a full disk; both happen. */
  rolledBack: boolean;
}

export interface FailingWrites {
  arm(faults: Faults): void;
  /** Lets all writes succeed again. */
  disarm(): void;
  /** The number of writes that failed since `arm`. */
  refused(): number;
  restore(): void;
}

const READS = /^\s*(?:select|with|pragma|begin|rollback|savepoint|release|vacuum)/i;

/** Counts only writes below `directory`, because the test runner writes as well. */
export function failWritesIn(directory: string): FailingWrites {
  let faults: Faults = { from: 0, count: 0, rolledBack: false };
  let writes = 0;
  let refused = 0;
  const isRefused = (): boolean => {
    writes += 1;
    if (writes < faults.from || writes >= faults.from + faults.count) return false;
    refused += 1;
    return true;
  };
  const restores = [
    patchDatabase(isRefused, () => faults.rolledBack),
    patchFiles(directory, () => {
      if (isRefused()) throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    }),
  ];
  return {
    arm: (given) => {
      faults = given;
      writes = 0;
      refused = 0;
    },
    disarm: () => void (faults = { ...faults, count: 0 }),
    refused: () => refused,
    restore: () => {
      for (const restore of restores) restore();
    },
  };
}

function patchDatabase(isRefused: () => boolean, rollsBack: () => boolean): () => void {
  const { prototype } = DatabaseSync;
  // oxlint-disable-next-line typescript/unbound-method -- called with its own handle below
  const { prepare } = prototype;
  const SQLITE_FULL = 13;
  prototype.prepare = function (this: DatabaseSync, sql: string): StatementSync {
    const statement = prepare.call(this, sql);
    // In-memory databases do not need the disk.
    if (READS.test(sql) || this.location() === null) return statement;
    const guard = (): void => {
      if (!isRefused()) return;
      if (rollsBack() && this.isTransaction) this.exec("rollback");
      throw Object.assign(new Error("database or disk is full"), { code: "ERR_SQLITE_ERROR", errcode: SQLITE_FULL });
    };
    const { run, all } = statement;
    const guarded =
      <Result>(method: (...values: SQLInputValue[]) => Result) =>
      (...values: SQLInputValue[]): Result => {
        guard();
        return method.apply(statement, values);
      };
    Object.assign(statement, { run: guarded(run), all: guarded(all) });
    return statement;
  };
  return () => void (prototype.prepare = prepare);
}

function patchFiles(directory: string, guard: () => void): () => void {
  const { openSync, writeSync, fsyncSync, renameSync } = fs;
  const { open, link, mkdir, rename } = promises;
  const ours = new Set<number>();
  const guardPath = (path: unknown): void => {
    if (String(path).startsWith(directory)) guard();
  };
  const guardFile = (file: number): void => {
    if (ours.has(file)) guard();
  };
  Object.assign(fs, {
    openSync: (...args: Parameters<typeof openSync>) => {
      const writes = args[1] !== undefined && args[1] !== "r";
      if (writes) guardPath(args[0]);
      const file = openSync(...args);
      if (writes && String(args[0]).startsWith(directory)) ours.add(file);
      else ours.delete(file);
      return file;
    },
    writeSync: (...args: Parameters<typeof writeSync>) => (guardFile(args[0]), writeSync(...args)),
    fsyncSync: (file: number) => (guardFile(file), fsyncSync(file)),
    renameSync: (...args: Parameters<typeof renameSync>) => (guardPath(args[0]), renameSync(...args)),
  });
  Object.assign(promises, {
    link: async (...args: Parameters<typeof link>) => (guardPath(args[0]), link(...args)),
    rename: async (...args: Parameters<typeof rename>) => (guardPath(args[0]), rename(...args)),
    mkdir: async (...args: Parameters<typeof mkdir>) => (guardPath(args[0]), mkdir(...args)),
    open: async (...args: Parameters<typeof open>) => {
      if (args[1] === "r" || !String(args[0]).startsWith(directory)) return open(...args);
      guard();
      const file = await open(...args);
      const { writeFile, sync } = file;
      file.writeFile = async (...content) => (guard(), writeFile.apply(file, content));
      file.sync = async () => (guard(), sync.call(file));
      return file;
    },
  });
  syncBuiltinESMExports();
  return () => {
    Object.assign(fs, { openSync, writeSync, fsyncSync, renameSync });
    Object.assign(promises, { open, link, mkdir, rename });
    syncBuiltinESMExports();
  };
}
