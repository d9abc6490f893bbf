/** The plan of a run: read and edited step by step while it waits for approval, with the probable cost of the research. */

import { useState } from "preact/hooks";
import type { RunLive } from "../../../operations/view/run-view.ts";
import type { Acted, PlanView } from "../../wire.ts";
import { fetchJson, postJson } from "../app/request.ts";
import { exactTime, money } from "../ui/format.ts";
import { plainPlan, planSteps, planText, withoutEmptySteps } from "./plan-steps.ts";
import { Consent, useConsent, useSending } from "../ui/forms.tsx";
import { announce, Problem, useLoad } from "../ui/parts.tsx";

interface PlanProps {
  run: RunLive;
  /** Called after the plan was sent. */
  done: () => void;
}

/** What the user has written and not sent, and from which turn of the plan. */
interface Edited {
  text: string;
  turn: number;
}

export function PlanSection({ run, done }: PlanProps) {
  const path = `/api/runs/${run.task_id}/plan`;
  // The last one is shown until the next one is loaded, so that nothing is taken from under the user's hands.
  const { last: plan, error } = useLoad(`${path} ${run.plan_turn} ${run.status}`, (signal) =>
    fetchJson<PlanView>(path, { signal }),
  );
  const [edited, setEdited] = useState<Edited | undefined>(undefined);
  if (error !== undefined) return <Problem error={error} />;
  if (plan === undefined) return <p class="quiet soon">Loading the plan…</p>;
  if (run.status === "awaiting_approval") {
    return <WaitingPlan plan={plan} edited={edited} edit={setEdited} done={done} />;
  }
  return (
    <>
      <details class="plan" open={!run.has_report && run.status !== "running_async"}>
        <summary>Plan</summary>
        <PlanText text={plan.text} />
        <Changes plan={plan} />
      </details>
      {edited === undefined ? null : (
        <details class="notice plan" open>
          <summary>Your changes to the plan, which were not sent</summary>
          <p class="plan-text" dir="auto">
            {edited.text}
          </p>
        </details>
      )}
    </>
  );
}

interface WaitingPlanProps {
  plan: PlanView;
  edited: Edited | undefined;
  edit: (edited: Edited | undefined) => void;
  done: () => void;
}

function WaitingPlan({ plan, edited, edit, done }: WaitingPlanProps) {
  const text = edited?.text ?? plan.text;
  const isOutdated = edited !== undefined && edited.turn !== plan.turn;
  return (
    <section class="card stack plan" aria-labelledby="plan-title">
      <h2 id="plan-title">Plan</h2>
      <p>
        Google proposes this plan. Edit it if you like, then start the research
        <CostText plan={plan} />
      </p>
      <PlanEditor
        text={text}
        write={(value) => edit(value === plan.text ? undefined : { text: value, turn: edited?.turn ?? plan.turn })}
      />
      {isOutdated ? <NewerPlan plan={plan} use={() => edit(undefined)} /> : null}
      <Changes plan={plan} />
      {/* A yes is to the plan that was shown, so another turn asks again. */}
      <Decision key={plan.turn} plan={plan} text={text} sent={() => (edit(undefined), done())} />
      {plan.expires_at === undefined ? null : (
        <p class="quiet small">The plan waits until {exactTime(plan.expires_at)}.</p>
      )}
    </section>
  );
}

const PlanText = ({ text }: { text: string }) =>
  text === "" ? null : (
    <p class="plan-text" dir="auto">
      {plainPlan(text)}
    </p>
  );

/** Its steps one by one, or all of its text. */
function PlanEditor({ text, write }: { text: string; write: (text: string) => void }) {
  const [isText, setText] = useState(false);
  const plan = isText ? undefined : planSteps(text);
  if (plan === undefined) {
    return (
      <textarea
        aria-labelledby="plan-title"
        rows={14}
        dir="auto"
        value={text}
        onInput={({ currentTarget }) => write(currentTarget.value)}
      />
    );
  }
  const { before, steps, after } = plan;
  const change = (changed: string[]): void => write(planText({ ...plan, steps: changed }));
  return (
    <>
      <PlanText text={before} />
      <ol class="plan-steps">
        {steps.map((step, index) => (
          <li key={index}>
            <textarea
              rows={1}
              dir="auto"
              aria-label={`Step ${index + 1}`}
              value={step}
              onInput={({ currentTarget }) => change(steps.with(index, currentTarget.value))}
            />
            <button
              type="button"
              class="button plain small"
              aria-label={`Remove step ${index + 1}`}
              onClick={() => change(steps.toSpliced(index, 1))}
            >
              Remove
            </button>
          </li>
        ))}
      </ol>
      <PlanText text={after} />
      <div class="row">
        <button type="button" class="button small" onClick={() => change([...steps, ""])}>
          Add a step
        </button>
        <button type="button" class="button plain small" onClick={() => setText(true)}>
          Edit as text
        </button>
      </div>
    </>
  );
}

const NewerPlan = ({ plan, use }: { plan: PlanView; use: () => void }) => (
  <div class="notice warn stack tight" role="status">
    <p>The plan was changed elsewhere while you edited it. Your text is kept above; this is the plan now:</p>
    <PlanText text={plan.text} />
    <div class="row">
      <button type="button" class="button" onClick={use}>
        Discard my text, use this plan
      </button>
    </div>
  </div>
);

interface DecisionProps {
  plan: PlanView;
  text: string;
  sent: () => void;
}

function Decision({ plan, text, sent }: DecisionProps) {
  const { pending, error, send } = useSending<"approve" | "plan">();
  const isChanged = text.trim() !== plan.text.trim();
  const consent = useConsent(isChanged ? plan.edit_question : plan.question);
  const { agreed, isGiven: isAgreed } = consent;
  const decide = (route: "approve" | "plan", body: Record<string, unknown>): Promise<boolean> =>
    send(route, async () => {
      await postJson<Acted>(`/api/runs/${plan.task_id}/${route}`, { ...body, turn: plan.turn });
      announce(route === "approve" ? "The research was started." : "The plan is being changed.");
      sent();
    });
  return (
    <>
      <Consent {...consent} />
      <Problem error={error} />
      <div class="row">
        <button
          type="button"
          class="button primary"
          disabled={pending !== undefined || isChanged || !isAgreed}
          onClick={() => void decide("approve", { agreed })}
        >
          {pending === "approve" ? "Starting…" : "Start research"}
          {plan.estimated_cost === undefined ? "" : ` · about ${money(plan.estimated_cost.likely_usd)}`}
        </button>
        <button
          type="button"
          class="button"
          disabled={pending !== undefined || !isChanged || !isAgreed || text.trim() === ""}
          onClick={() => void decide("plan", { text: withoutEmptySteps(text), agreed })}
        >
          {pending === "plan" ? "Sending…" : "Change the plan"}
        </button>
        <span class="quiet small" role="status">
          {isChanged ? "Send your changes first; Google then returns the new plan, for cents." : ""}
        </span>
      </div>
    </>
  );
}

const CostText = ({ plan: { estimated_cost: cost } }: { plan: PlanView }) =>
  cost === undefined ? (
    <>.</>
  ) : (
    <>
      : <strong>about {money(cost.likely_usd)}</strong>, up to {money(cost.max_usd)}.
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
