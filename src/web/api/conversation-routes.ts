/** Routes of a conversation: the runs that a run continues and that continue it, and what a follow-up would cost. */

import type { Hono } from "hono";
import type { App } from "../../app.ts";
import type { CallerEnv } from "../../caller.ts";
import { earlierTurns, laterTurns } from "../../operations/followup/conversation.ts";
import { type FollowupTerms, followupTerms, tableTerms } from "../../operations/followup/prepare.ts";
import { isTableRun } from "../../operations/parts/table.ts";
import { reportPresence } from "../../runs/result-store.ts";
import { isFinished, type Run } from "../../runs/run.ts";
import { consentQuestion } from "../consent.ts";
import type { ConversationView, Turn } from "../wire.ts";
import { jsonResponse } from "./json-response.ts";
import { requestedRun } from "./requested-run.ts";
import { headOf } from "../../operations/view/read-view.ts";

export function serveConversations(web: Hono<CallerEnv>, { deps }: App): void {
  const turnOf = async (run: Run): Promise<Turn> => ({
    ...headOf(run, deps.clock.now()),
    has_report: await hasReport(run),
  });
  const hasReport = async ({ status, taskId }: Run): Promise<boolean> =>
    isFinished(status) && (await reportPresence(await deps.database(), taskId)) !== undefined;
  const tableOffer = async (owner: string, taskId: string): Promise<NonNullable<ConversationView["table"]>> => {
    return offerOf(await tableTerms(deps, { owner, taskId }));
  };
  web.get("/api/runs/:id/conversation", async (context) => {
    const { owner } = context.get("caller");
    const run = await requestedRun(deps, context);
    const db = await deps.database();
    const later = await Promise.all((await laterTurns(db, run)).map(turnOf));
    const isReadable = await hasReport(run);
    // The next question continues the last answer.
    const last = later.findLast(({ has_report }) => has_report)?.task_id ?? (isReadable ? run.taskId : undefined);
    const terms = last === undefined ? undefined : await followupTerms(deps, { owner, taskId: last });
    const view: ConversationView = {
      earlier: await Promise.all((await earlierTurns(db, run)).map(turnOf)),
      later,
      next: last === undefined || terms === undefined ? undefined : { task_id: last, ...offerOf(terms) },
      table: isReadable && !isTableRun(run) ? await tableOffer(owner, run.taskId) : undefined,
    };
    return jsonResponse(view);
  });
}

const offerOf = ({ likelyUsd, question }: FollowupTerms) => ({
  likely_usd: likelyUsd,
  question: consentQuestion(question),
});
