/** The citation judge (`VERIFY_JUDGE`) in answers: announced with its limit, then what it used and what it did not judge. */

import { JUDGE_MODEL } from "../../costs/prices.ts";
import { findJudgeCost } from "../../runs/ledger/ledger-store.ts";
import type { Database } from "../../store/database.ts";
import type { Judge } from "../../verification/judge/judge-port.ts";
import type { OperationDeps } from "../operation.ts";
import { dollars } from "../../costs/dollars.ts";

type Limit = Pick<OperationDeps["settings"], "judgeMaxUsd">;

/** The end of the first progress message. */
export const judgeNotice = ({ judgeMaxUsd: max }: Limit): string =>
  max === undefined ? "" : `; ${JUDGE_MODEL} judges what their text leaves open, for at most ${dollars(max)} a report`;

/** Claims that were not judged, by the reason. */
export type Unjudged = ReadonlyMap<string, number>;

/** A judge that also collects what it did not judge during one call, over all pages. */
export function collectUnjudged(judge: Judge | undefined): { judge: Judge | undefined; unjudged: Unjudged } {
  const unjudged = new Map<string, number>();
  return {
    unjudged,
    judge: judge && {
      ...judge,
      judge: async (request, limits) => {
        const judgements = await judge.judge(request, limits);
        for (const [why, claims] of judgements.unjudged) unjudged.set(why, (unjudged.get(why) ?? 0) + claims);
        return judgements;
      },
    },
  };
}

/** One sentence per reason; nothing if everything was judged. */
export function unjudgedField(unjudged: Unjudged): { not_judged?: string } {
  const sentences = [...unjudged].map(([why, claims]) =>
    claims === 1 ? `1 citation was not judged: ${why}` : `${claims} citations were not judged: ${why}`,
  );
  return sentences.length === 0 ? {} : { not_judged: sentences.join(" ") };
}

/** What the judge has cost for this report so far, over all checks; undefined if nothing. */
export async function readJudgeUse(db: Database, taskId: string, { judgeMaxUsd: max }: Limit) {
  const { usd = 0, incomplete } = await findJudgeCost(db, taskId);
  if (usd === 0 && !incomplete) return undefined;
  return {
    model: JUDGE_MODEL,
    // Not rounded: a page costs a tenth of a cent.
    cost_usd: usd,
    ...(incomplete ? { cost_incomplete: true } : {}),
    ...(max === undefined ? {} : { max_usd: max }),
  };
}
