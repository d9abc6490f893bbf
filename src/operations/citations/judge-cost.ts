/** Cost of the citation judge (`VERIFY_JUDGE`): announced first, confirmed above the user's limit, and recorded. */

import { roundUsd } from "../../costs/actual.ts";
import { findJudgeCost } from "../../runs/history/figures-store.ts";
import type { StoredResult } from "../../runs/run.ts";
import type { Database } from "../../store/database.ts";
import { findJudgeUsage } from "../../verification/claim-store.ts";
import { planVerification, type VerificationPlan } from "../../verification/verify.ts";
import { type Judge, type JudgePrice } from "../../verification/judge/judge-port.ts";
import { type Call, hashOfInput, type OperationDeps, type Question } from "../operation.ts";
import { dollars, requireConsent } from "../parts/cost-confirmation.ts";
import type { Subject } from "../question/subject.ts";
import { finishedReport } from "../parts/after-failure.ts";

interface CheckInput extends Record<string, unknown> {
  task_id: string;
}

type About = Omit<Subject, "max_usd">;

/** What a yes to a check agrees to, besides the price. */
export const aboutCheck = (input: CheckInput): About => ({
  operation: "verify_citations",
  input: hashOfInput(input),
  run: input.task_id,
});

interface Asked {
  about: About;
  task_id: string;
  numbers?: number[] | undefined;
  again: boolean;
  maxPages: number;
}

/** Undefined without a judge, or if it is cheap enough. What cannot be read is reported by the call itself. */
export const judgeQuestion = (deps: OperationDeps, asked: Asked, call: Call): Promise<Question | undefined> =>
  questionBefore(deps, asked, call).catch(() => undefined);

async function questionBefore(deps: OperationDeps, asked: Asked, call: Call): Promise<Question | undefined> {
  if (!deps.settings.hasJudge) return undefined;
  const verification = await deps.verification();
  if (verification.judge === undefined) return undefined;
  const { run, result } = await finishedReport(await deps.database(), call.owner, asked.task_id);
  const plan = await planVerification(verification, { ...asked, taskId: run.taskId, result });
  return questionAbout(deps, verification.judge, { ...plan, about: asked.about });
}

/** Throws if the cost needs the consent of the user, who has not given it. */
export function requireJudgeConsent(
  deps: OperationDeps,
  judge: Judge | undefined,
  { plan, about, call }: { plan: VerificationPlan; about: About; call: Pick<Call, "agreed"> },
): void {
  const question = judge === undefined ? undefined : questionAbout(deps, judge, { ...plan, about });
  if (question !== undefined) requireConsent(call, question);
}

function questionAbout(
  { settings }: Pick<OperationDeps, "settings">,
  judge: Judge,
  { pairs, about }: Pick<VerificationPlan, "pairs"> & { about: About },
): Question | undefined {
  const limit = settings.confirmAboveUsd;
  const price = judge.priceOf(pairs);
  // The maximum counts: the limit holds whatever the pages contain.
  if (pairs === 0 || (price !== undefined && limit > 0 && price.maxUsd <= limit)) return undefined;
  const cost = price === undefined ? "at an unknown price" : `for ${priceText(price)}`;
  const citations = pairs === 1 ? "1 citation" : `up to ${pairs} citations`;
  return {
    ask: `Let ${judge.model} judge ${citations} ${cost}?`,
    because: `The judge ${judge.model} is asked about ${citations} ${cost}.`,
    unasked: "unset VERIFY_JUDGE, or raise RESEARCH_CONFIRM_ABOVE_USD for this server",
    details: { estimated_cost_usd: price?.likelyUsd, max_cost_usd: price?.maxUsd, limit_usd: limit },
    subject: { ...about, max_usd: price?.maxUsd },
  };
}

const priceText = ({ likelyUsd, maxUsd }: JudgePrice): string =>
  `about ${likelyUsd < 0.01 ? "a cent" : dollars(likelyUsd)}, at most ${dollars(Math.ceil(maxUsd * 100) / 100)}`;

/** The cost, as the end of the first progress message. */
export function judgeNotice(judge: Judge | undefined, { pairs }: VerificationPlan): string {
  if (judge === undefined || pairs === 0) return "";
  const price = judge.priceOf(pairs);
  return `; ${judge.model} judges up to ${pairs} citations${price === undefined ? "" : ` for ${priceText(price)}`}`;
}

export async function usedByJudge(db: Database, taskId: string) {
  const used = await findJudgeUsage(db, taskId);
  if (used === undefined) return {};
  const { requests, input, output } = used;
  const { usd = 0, incomplete } = await findJudgeCost(db, taskId);
  const cost = { cost_usd: roundUsd(usd), ...(incomplete ? { cost_incomplete: true } : {}) };
  return { judge: { requests, input_tokens: input, output_tokens: output, ...cost } };
}

/** What judging may cost, before a person decides; undefined without a judge. */
export async function judgePrices(deps: OperationDeps, run: { taskId: string; result: StoredResult }) {
  if (!deps.settings.hasJudge) return undefined;
  const verification = await deps.verification();
  const { judge } = verification;
  if (judge === undefined) return undefined;
  const { pairs: due, claims } = await planVerification(verification, { ...run, again: false, maxPages: Infinity });
  const priceOf = (pairs: number) => {
    const price = judge.priceOf(pairs);
    const about = aboutCheck({ task_id: run.taskId });
    const question = questionAbout(deps, judge, { pairs, about });
    return { model: judge.model, pairs, likely_usd: price?.likelyUsd, max_usd: price?.maxUsd, question };
  };
  return {
    /** Of all citations that are due. */
    due: priceOf(due),
    /** Of one source whose page is fetched again. */
    ofSource: (n: number) => priceOf(claims.filter(({ sources }) => sources.includes(n)).length),
  };
}
