/** Dependencies of an operation that all throw one known error. */

import { AppError } from "../../src/errors.ts";
import type { Call, OperationDeps } from "../../src/operations/operation.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { silentLog } from "../kit/log.ts";

export const CLOSED = "The store is closed for this trial.";

const closed = (): Promise<never> => Promise.reject(new AppError({ code: "SQLITE_ERROR", message: CLOSED }));

export const closedDeps: OperationDeps = {
  clock: systemClock,
  log: silentLog,
  database: closed,
  notifications: closed,
  verification: closed,
  recorder: closed,
  search: closed,
  searchObstacle: async () => undefined,
  research: closed,
  agent: closed,
  findRun: closed,
  estimate: closed,
  estimateFollowup: closed,
  estimatePlan: closed,
  priceNotices: closed,
  mcpServer: () => {
    throw new Error("closed");
  },
  backupOf: () => undefined,
  removeBackups: async () => {},
  canNotify: async () => false,
  inBackground: (work) => void work.catch(() => {}),
  leaving: new AbortController().signal,
  settings: {
    maxRounds: 2,
    legacyPrompt: undefined,
    syncWindowMs: 0,
    reportsDir: undefined,
    templatesDir: undefined,
    searchModel: undefined,
    confirmAboveUsd: 5,
    budgets: {},
    judgeMaxUsd: undefined,
    maxRps: 5,
    publicUrl: "https://research.example.com",
    files: { workingDirectory: "/", roots: [], privatePaths: [] },
  },
};

export const call: Call = {
  owner: "local",
  client: undefined,
  from: "here",
  signal: new AbortController().signal,
  progress: () => {},
};
