/** Finds the owner's report that answers a question already, so that nobody pays for it a second time unawares. */

import type { ErrorRun } from "../../errors.ts";
import { dollars } from "../../costs/dollars.ts";
import { countOf } from "../../platform/count.ts";
import { agoText, durationText } from "../../platform/duration.ts";
import { readStored } from "../../runs/history/read.ts";
import { aboutRun, type Run, type RunKind, type RunPart, type RunStatus } from "../../runs/run.ts";
import { listRuns } from "../../runs/run-store.ts";
import { materialOf } from "../../runs/start/start-options.ts";
import type { Wishes } from "../../search/wishes.ts";
import type { OperationDeps } from "../operation.ts";
import { isSameQuestion } from "./same-question.ts";
import { wishesIn } from "./wishes.ts";

/** An older answer is out of date. */
const DAY_MS = 86_400_000;
const MAX_AGE_MS = 180 * DAY_MS;
/** The newest reports that are compared. */
const MAX_COMPARED = 300;

export interface AnsweredBefore {
  /** In our own words. */
  text: string;
  run: ErrorRun;
  instead: "read" | "wait";
  details: Record<string, unknown>;
}

interface Asked {
  owner: string;
  query: string;
  /** Only runs that were created before. */
  until: number;
  kind: RunKind | undefined;
}

/** The newest run that asks the same, by its words. */
export async function findSameRun(
  deps: Pick<OperationDeps, "database">,
  asked: Asked,
  isWanted: (run: Run) => boolean,
): Promise<Run | undefined> {
  return (await comparedRuns(deps, asked)).find(sameRun(asked, isWanted));
}

/** The earlier reports of the same question, newest first. */
export async function earlierReports(deps: Pick<OperationDeps, "database">, run: Run): Promise<Run[]> {
  const asked = { owner: run.owner, query: run.query, until: run.createdAt, kind: undefined };
  return (await comparedRuns(deps, asked)).filter(sameRun(asked, ({ status }) => status === "completed"));
}

const sameRun =
  ({ query }: Asked, isWanted: (run: Run) => boolean) =>
  (run: Run): boolean =>
    IS_REPORT[run.part] && isWanted(run) && isSameQuestion(run.query, query);

async function comparedRuns(
  { database }: Pick<OperationDeps, "database">,
  { owner, until, kind }: Asked,
): Promise<Run[]> {
  const filter = { owner, status: undefined, kind, archived: false, limit: MAX_COMPARED } as const;
  return listRuns(await database(), { ...filter, before: { createdAt: until, taskId: "" } });
}

const IS_REPORT: Record<RunPart, boolean> = {
  question: true,
  research: true,
  plan: false,
  followup: false,
  table: false,
};

export async function findAnswer(
  deps: Pick<OperationDeps, "database" | "clock">,
  { wishes, agent, ...asked }: Pick<Asked, "owner" | "query"> & { wishes: Wishes | undefined; agent: string },
): Promise<AnsweredBefore | undefined> {
  const now = deps.clock.now();
  const wanted = JSON.stringify(wishes);
  const isWanted = ({ status, model, createdAt, options }: Run): boolean =>
    createdAt > now - MAX_AGE_MS &&
    (status === "completed" || (isInProgress(status) && model === agent)) &&
    materialOf(options) === undefined &&
    JSON.stringify(wishesIn(options)) === wanted;
  const found = await findSameRun(deps, { ...asked, until: now + 1, kind: "agent" }, isWanted);
  if (found === undefined) return undefined;
  const name = `Run ${found.taskId.slice(0, 8)}`;
  const about = { run: aboutRun(found), details: { task_id: found.taskId } };
  if (isInProgress(found.status)) {
    const text = `${name} has been researching this question for ${durationText(now - found.createdAt)}.`;
    return { ...about, text, instead: "wait" };
  }
  const { run, result } = await readStored(await deps.database(), asked.owner, found.taskId);
  const sources = result?.sources.length ?? 0;
  const age = now - (run.completedAt ?? run.createdAt);
  const { usd } = run.cost;
  const facts = [
    ...(sources === 0 ? [] : [`with ${countOf(sources, "source")}`]),
    ...(usd === undefined ? [] : [`for ${dollars(usd)}`]),
  ];
  return {
    run: about.run,
    text: `${name} answered this question ${[agoText(age), ...facts].join(", ")}; reading it is free.`,
    instead: "read",
    details: { ...about.details, days_ago: Math.floor(age / DAY_MS), sources, cost_usd: usd },
  };
}

const isInProgress = (status: RunStatus): boolean => status === "pending" || status === "running_async";
