/** Dependencies for an operation that uses none of them, with its log and background work. */

import { NO_COST } from "../../../src/costs/actual.ts";
import type { OperationDeps } from "../../../src/operations/operation.ts";
import type { StoredRun } from "../../../src/runs/history/read.ts";
import { createTestLog } from "../log.ts";

export function openApp(): { deps: OperationDeps; lines: string[]; background: Promise<unknown>[]; stored: StoredRun } {
  const lines: string[] = [];
  const background: Promise<unknown>[] = [];
  const missing = (): never => {
    throw new Error("This operation was to reach for nothing.");
  };
  const deps: OperationDeps = {
    clock: { now: () => 1_234, monotonic: () => 1_234, sleep: missing },
    log: createTestLog((line) => lines.push(line)),
    database: missing,
    notifications: missing,
    recorder: missing,
    searchObstacle: missing,
    search: missing,
    research: missing,
    agent: missing,
    verification: missing,
    findRun: missing,
    estimate: missing,
    estimateFollowup: missing,
    estimatePlan: missing,
    priceNotices: missing,
    mcpServer: missing,
    backupOf: missing,
    removeBackups: missing,
    canNotify: missing,
    inBackground: (work) => void background.push(work),
    leaving: new AbortController().signal,
    settings: {
      maxRounds: 1,
      legacyPrompt: undefined,
      syncWindowMs: 0,
      reportsDir: undefined,
      templatesDir: undefined,
      searchModel: undefined,
      confirmAboveUsd: 0,
      budgets: {},
      judgeMaxUsd: undefined,
      maxRps: 5,
      publicUrl: "https://research.example.com",
      files: { workingDirectory: "/", roots: [], privatePaths: [] },
    },
  };
  return { deps, lines, background, stored: STORED };
}

const STORED: StoredRun = {
  result: undefined,
  run: {
    taskId: "t-1",
    owner: "local",
    kind: "search",
    query: "How deep is the lake?",
    title: undefined,
    tags: [],
    starred: false,
    archived: false,
    status: "completed",
    progress: 100,
    currentAction: undefined,
    obstacle: undefined,
    hasWarning: false,
    mode: undefined,
    backend: undefined,
    model: undefined,
    client: undefined,
    createdAt: 1,
    updatedAt: 1,
    startedAt: undefined,
    completedAt: undefined,
    deadlineAt: undefined,
    lastEventAt: undefined,
    interactionId: undefined,
    parentTaskId: undefined,
    followupContext: undefined,
    cancelRequestedAt: undefined,
    cancelConfirmed: undefined,
    enableNotifications: false,
    estimate: {},
    options: {},
    tokens: { input: 0, output: 0 },
    cost: NO_COST,
    usageFinal: false,
    part: "question",
    carriesOn: undefined,
    error: undefined,
  },
};
