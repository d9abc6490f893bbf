/** The plan of a run: read and edited as text while it waits for approval, with the probable cost of the research. */

import { useRef, useState } from "preact/hooks";
import type { Acted, PlanView, RunDetail } from "../../wire.ts";
import { fetchJson, postJson } from "../app/request.ts";
import { exactTime } from "../ui/ages.ts";
import { money } from "../ui/amounts.ts";
import { announce, Problem, useLoad } from "../ui/parts.tsx";

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
  const [agreedTo, setAgreedTo] = useState<string | undefined>(undefined);
  const { pending, error, send } = useSending(plan, done);
  const isChanged = text.trim() !== plan.text.trim();
  const question = isChanged ? plan.edit_question : plan.question;
  const agreed = question !== undefined && agreedTo === question;
  const isAgreed = question === undefined || agreed;
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
      <Consent question={question} agreed={agreed} onChange={setAgreedTo} />
      {error === undefined ? null : <Problem error={error} />}
      <div class="row">
        <button
          type="button"
          class="button primary"
          disabled={pending !== undefined || isChanged || !isAgreed}
          onClick={() => void send("approve", { agreed })}
        >
          {pending === "approve" ? "Starting…" : "Start research"}
        </button>
        <button
          type="button"
          class="button"
          disabled={pending !== undefined || !isChanged || !isAgreed || text.trim() === ""}
          onClick={() => void send("plan", { text, agreed })}
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

interface ConsentProps {
  /** Undefined if nothing needs to be confirmed. */
  question: string | undefined;
  agreed: boolean;
  onChange: (agreedTo: string | undefined) => void;
}

const Consent = ({ question, agreed, onChange }: ConsentProps) =>
  question === undefined ? null : (
    <label class="check notice warn">
      <input
        type="checkbox"
        checked={agreed}
        onChange={({ currentTarget }) => onChange(currentTarget.checked ? question : undefined)}
      />
      <span>
        {question} <strong>I agree.</strong>
      </span>
    </label>
  );

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

/** One request at a time; a second click can come before the button is rendered as disabled. */
function useSending({ task_id: taskId, turn }: PlanView, done: () => void) {
  const [pending, setPending] = useState<"approve" | "plan" | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const busy = useRef(false);
  const send = async (route: "approve" | "plan", body: Record<string, unknown>): Promise<void> => {
    if (busy.current) return;
    busy.current = true;
    setPending(route);
    setError(undefined);
    try {
      await postJson<Acted>(`/api/runs/${taskId}/${route}`, { ...body, turn });
      announce(route === "approve" ? "The research was started." : "The plan is being changed.");
      done();
    } catch (refusal) {
      setError(refusal);
    } finally {
      busy.current = false;
      setPending(undefined);
    }
  };
  return { pending, error, send };
}
