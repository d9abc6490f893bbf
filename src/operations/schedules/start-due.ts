/** Starts the runs of schedules that are due, by the operations that people call, and announces how their runs ended. */

import type { z } from "zod";
import { networkCaller } from "../../caller.ts";
import { AppError } from "../../errors.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { isBeforeEnd, nextOccurrence } from "../../runs/schedules/calendar.ts";
import {
  type Occurrence,
  OccurrenceRefused,
  type Schedule,
  type ScheduledOperation,
  type ScheduleProblem,
} from "../../runs/schedules/schedule.ts";
import { announceUnstarted, untoldRuns } from "../../runs/schedules/announcement-store.ts";
import { bringNear, dueSchedules, hasUnfinishedRun, noteUnstarted } from "../../runs/schedules/schedule-store.ts";
import type { Scheduler } from "../../runs/scheduling/runner.ts";
import { type Call, hashOfInput, type Operation, type OperationDeps } from "../operation.ts";
import { parseInput, refused } from "../perform.ts";
import { announceEnded } from "./announce-ended.ts";
import { PROBLEMS } from "./schedule-view.ts";

/** Loaded when one is due: every server looks for schedules, and few have any. */
const OPERATIONS: Record<ScheduledOperation, () => Promise<Operation>> = {
  search: async () => (await import("../search.ts")).search,
  deep_search: async () => (await import("../deep-search.ts")).deepSearchOperation,
  start_deep_research: async () => (await import("../start-deep-research.ts")).startDeepResearch,
};

/** `owner`: the schedules of others are left to a server or worker. */
export function createScheduler(deps: OperationDeps, { owner }: { owner?: string | undefined } = {}): Scheduler {
  const working = new Set<Promise<unknown>>();
  /** Schedules and runs whose error is in the log. */
  const reported = new Set<string>();
  const inBackground = (work: Promise<unknown>): void => {
    working.add(work);
    deps.inBackground(work.finally(() => working.delete(work)));
  };
  return {
    isBusy: async () =>
      working.size > 0 || (await untoldRuns(await deps.database())).some(({ taskId }) => !reported.has(taskId)),
    sweep: async () => {
      const { due, now } = await dueSchedules(await deps.database(), deps.clock.now());
      for (const schedule of due) {
        if (deps.leaving.aborted) return;
        if (owner !== undefined && schedule.owner !== owner) continue;
        try {
          await handleDue(deps, { schedule, now, inBackground });
        } catch (error) {
          // The others are due all the same.
          if (!reported.has(schedule.scheduleId)) refused(error, deps);
          reported.add(schedule.scheduleId);
        }
      }
      await announceEnded(deps, reported);
    },
  };
}

interface Due {
  schedule: Schedule;
  /** By the clock of the database. */
  now: number;
  inBackground: (work: Promise<unknown>) => void;
}

async function handleDue(deps: OperationDeps, { schedule, now, inBackground }: Due): Promise<void> {
  const { scheduleId, rule, nextAt: dueAt = 0 } = schedule;
  const db = await deps.database();
  if (dueAt > now) return bringNear(db, schedule, now);
  if (!isBeforeEnd(rule, now)) {
    const ended = { problem: undefined, passOver: { nextAt: undefined } };
    return void (await noteUnstarted(db, { scheduleId, dueAt, ...ended, now }));
  }
  // Of several that were missed, this one is started, late.
  const occurrence = { scheduleId, dueAt, nextAt: nextOccurrence(rule, now) };
  const problem = (await hasUnfinishedRun(db, scheduleId))
    ? "unfinished"
    : (await isUnavailable(deps, schedule))
      ? "unavailable"
      : await startRun(deps, { schedule, occurrence, inBackground });
  if (problem === undefined) return;
  const isWaiting = WAITING.has(problem);
  const isNews = problem !== schedule.problem;
  // The transaction would wait for the write lock every few seconds.
  if (isWaiting && !isNews) return;
  const passOver = isWaiting ? {} : { passOver: { nextAt: occurrence.nextAt } };
  await db.transaction().execute(async (transaction) => {
    const isNoted = await noteUnstarted(transaction, { scheduleId, dueAt, problem, ...passOver, now });
    // Another process may have what this one lacks.
    if (!isNoted || !isNews || problem === "unavailable") return;
    await announceUnstarted(transaction, { schedule, problem, why: PROBLEMS[problem], now: deps.clock.now() });
  });
}

/** The occurrence stays due until the reason is gone. */
const WAITING: ReadonlySet<ScheduleProblem> = new Set(["unfinished", "unavailable"]);

/** This process has no key, or the database cannot be written: another process may start it, or this one later. */
async function isUnavailable(deps: OperationDeps, { operation }: Schedule): Promise<boolean> {
  if (operation !== "start_deep_research") return (await deps.searchObstacle()) !== undefined;
  return (await deps.agent()) === undefined || (await (await deps.research()).obstacle()) !== undefined;
}

interface Starting extends Pick<Due, "schedule" | "inBackground"> {
  occurrence: Occurrence;
}

/** Resolves when the run is stored, with the problem if none was. The rest of the run is work in the background. */
async function startRun(
  deps: OperationDeps,
  { schedule, occurrence, inBackground }: Starting,
): Promise<ScheduleProblem | undefined> {
  const stored = Promise.withResolvers<undefined>();
  let isStored = false;
  const work = async (): Promise<ScheduleProblem | undefined> => {
    try {
      failpoint("before-occurrence");
      const operation = await OPERATIONS[schedule.operation]();
      const input = inputOf(operation, schedule);
      await operation.run(deps, input, {
        ...networkCaller(schedule.owner),
        client: "schedule",
        signal: deps.leaving,
        progress: () => {},
        // Nobody waits for the answer: the end of the run is announced.
        returnWhen: AbortSignal.abort(),
        // The user agreed to the schedule and its budget, which the claim of the occurrence keeps.
        agreed: { operation: operation.name, input: hashOfInput(input), max_usd: schedule.budgetUsd },
        occurrence,
        onRunCreated: () => {
          isStored = true;
          stored.resolve(undefined);
        },
      } satisfies Call);
      return undefined;
    } catch (error) {
      // The run has the error.
      return isStored ? undefined : problemOf(error, deps);
    }
  };
  const worked = work();
  inBackground(worked);
  return Promise.race([stored.promise, worked]);
}

function inputOf({ name, input }: Operation, schedule: Schedule): z.output<Operation["input"]> {
  // Joining the run of an earlier occurrence would start none.
  const always = name === "start_deep_research" ? { force_new: true } : {};
  return parseInput(input, { ...schedule.input, ...always });
}

function problemOf(error: unknown, deps: OperationDeps): ScheduleProblem | undefined {
  if (error instanceof OccurrenceRefused) return error.reason === "taken" ? undefined : error.reason;
  if (error instanceof AppError) {
    if (error.code === "BUDGET_EXCEEDED") return "limit";
    if (error.retryable || NOT_NOW.has(error.code)) return "unavailable";
  }
  refused(error, deps);
  return "failed";
}

const NOT_NOW: ReadonlySet<string> = new Set(["BUSY", "CANCELLED", "DISK_FULL", "INTERRUPTED", "SQLITE_ERROR"]);
