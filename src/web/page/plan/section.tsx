/** The plan of a run: read and edited as text while it waits for approval, with the probable cost of the research. */

import { useState } from "preact/hooks";
import type { Acted, PlanView, RunDetail } from "../../wire.ts";
import { fetchJson, postJson } from "../app/request.ts";
import { exactTime } from "../ui/ages.ts";
import { money } from "../ui/amounts.ts";
import { Consent, useConsent } from "../ui/consent.tsx";
import { announce, Problem, useLoad } from "../ui/parts.tsx";
import { useSending } from "../ui/sending.ts";

interface PlanProps {
  run: RunDetail;
  /** Called after the plan was sent. */
  done: () => void;
}

export function PlanSection({ run, done }: PlanProps) {
  const path = `/api/runs/${run.task_id}/plan`;
  const { value, error } = useLoad(`${path} ${run.plan_turn}`, (signal) => fetchJson<PlanView>(path, { signal }));
  if (error !== undefined) return <Problem error={error} />;
  if (value === undefined) return <p class="quiet soon">Loading the plan…</p>;
  if (run.status === "awaiting_approval") return <WaitingPlan plan={value} done={done} />;
  return (
    <details class="plan" open={!run.has_report && run.status !== "running_async"}>
      <summary>Plan</summary>
      <p class="plan-text" dir="auto">
        {value.text}
      </p>
      <Changes plan={value} />
    </details>
  );
}

function WaitingPlan({ plan, done }: { plan: PlanView; done: () => void }) {
  const [text, setText] = useState(plan.text);
  const { pending, error, send } = useSending<"approve" | "plan">();
  const isChanged = text.trim() !== plan.text.trim();
  const consent = useConsent(isChanged ? plan.edit_question : plan.question);
  const { agreed, isGiven: isAgreed } = consent;
  const decide = (route: "approve" | "plan", body: Record<string, unknown>): Promise<boolean> =>
    send(route, async () => {
      await postJson<Acted>(`/api/runs/${plan.task_id}/${route}`, { ...body, turn: plan.turn });
      announce(route === "approve" ? "The research was started." : "The plan is being changed.");
      done();
    });
  return (
    <section class="card stack plan" aria-labelledby="plan-title">
      <h2 id="plan-title">Plan</h2>
      <p>
        Google proposes this plan. Edit it if you like, then start the research
        <CostText plan={plan} />
      </p>
      <textarea
        aria-labelledby="plan-title"
        rows={14}
        dir="auto"
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <Changes plan={plan} />
      <Consent {...consent} />
      {error === undefined ? null : <Problem error={error} />}
      <div class="row">
        <button
          type="button"
          class="button primary"
          disabled={pending !== undefined || isChanged || !isAgreed}
          onClick={() => void decide("approve", { agreed })}
        >
          {pending === "approve" ? "Starting…" : "Start research"}
        </button>
        <button
          type="button"
          class="button"
          disabled={pending !== undefined || !isChanged || !isAgreed || text.trim() === ""}
          onClick={() => void decide("plan", { text, agreed })}
        >
          {pending === "plan" ? "Sending…" : "Change the plan"}
        </button>
        <span class="quiet small" role="status">
          {isChanged ? "Send your changes first; Google then returns the new plan, for cents." : ""}
        </span>
      </div>
      {plan.expires_at === undefined ? null : (
        <p class="quiet small">The plan waits until {exactTime(plan.expires_at)}.</p>
      )}
    </section>
  );
}

const CostText = ({ plan: { estimated_cost: cost } }: { plan: PlanView }) =>
  cost === undefined ? (
    <>.</>
  ) : (
    <>
      : <strong>about {money(cost.likely_usd)}</strong>, at most {money(cost.max_usd)}.
    </>
  );

const Changes = ({ plan: { changes } }: { plan: PlanView }) =>
  changes.length === 0 ? null : (
    <details class="small">
      <summary>{changes.length === 1 ? "1 change" : `${changes.length} changes`} so far</summary>
      <ol>
        {changes.map((change, index) => (
          <li key={index} class="plan-text" dir="auto">
            {change}
          </li>
        ))}
      </ol>
    </details>
  );
