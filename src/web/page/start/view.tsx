/** Starting a research: the question, what it will probably cost, and only then the start. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Acted, EstimateView } from "../../wire.ts";
import { RefusedError, tell } from "../app/request.ts";
import { announce, money, Problem } from "../ui/parts.tsx";
import { go, runPath } from "../app/router.ts";
import { type Draft, estimateKey, objection, useDraft } from "./draft.ts";
import { EstimateCard, useEstimate } from "./estimate.tsx";
import { AroundFields, DepthField, QuestionField } from "./fields.tsx";

export function StartView() {
  const { draft, change, forget } = useDraft();
  const estimateAgain = useRef(() => {});
  const { starting, start } = useStarting(draft, { forget, estimateAgain: () => estimateAgain.current() });
  const joined = starting.joined?.key === estimateKey(draft) ? starting.joined.acted : undefined;
  const estimating = useEstimate(draft, { forceNew: joined !== undefined });
  const { estimate } = estimating;
  estimateAgain.current = estimating.again;
  // Agreed is what was read: another sum is another question.
  const [agreedTo, setAgreedTo] = useState<string>();
  const agreed = estimate?.question !== undefined && estimate.question === agreedTo;
  const hindrance = hindranceOf(draft, estimate, agreed);
  return (
    <form
      class="start"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (hindrance === undefined) void start({ agreed });
      }}
    >
      <div class="stack fields">
        <h1>Start research</h1>
        <p class="quiet">
          Google’s Deep Research agent works on it in the background and is paid with your key. It goes on when this
          page is closed.
        </p>
        <QuestionField draft={draft} change={change} />
        <DepthField draft={draft} change={change} />
        <AroundFields draft={draft} change={change} />
      </div>
      <div class="stack beside">
        <EstimateCard {...estimating} />
        {estimate?.question === undefined ? null : (
          <label class="check notice warn">
            <input
              type="checkbox"
              checked={agreed}
              onChange={({ currentTarget }) => setAgreedTo(currentTarget.checked ? estimate.question : undefined)}
            />
            <span>
              {estimate.question} <strong>I agree to that.</strong>
            </span>
          </label>
        )}
        {joined === undefined ? null : (
          <Joined
            joined={joined}
            estimate={hindrance === undefined ? estimate : undefined}
            onAgain={() => void start({ agreed, force_new: true })}
          />
        )}
        {starting.error === undefined ? null : <Refusal error={starting.error} />}
        <button type="submit" class="button primary" disabled={hindrance !== undefined || starting.pending}>
          {buttonText(estimate, starting.pending)}
        </button>
        <p class="quiet small hindrance">{hindrance ?? "Ctrl + Enter starts it as well."}</p>
      </div>
    </form>
  );
}

interface Starting {
  pending: boolean;
  error?: unknown;
  /** The same was started minutes ago; said only while it is still the same. */
  joined?: { acted: Acted; key: string };
}

interface Around {
  forget: () => void;
  estimateAgain: () => void;
}

function useStarting(draft: Draft, { forget, estimateAgain }: Around) {
  const [starting, setStarting] = useState<Starting>({ pending: false });
  // A second click can come before the first one has drawn the button anew.
  const sending = useRef(false);
  const start = async (more: { agreed: boolean; force_new?: boolean }): Promise<void> => {
    if (sending.current) return;
    sending.current = true;
    setStarting({ pending: true });
    try {
      const acted = await tell<Acted>("/api/research", { ...fieldsOf(draft), ...more });
      if (acted.joined === true && more.force_new !== true) {
        setStarting({ pending: false, joined: { acted, key: estimateKey(draft) } });
        return;
      }
      forget();
      announce("Research started.");
      go(runPath(acted.task_id));
    } catch (error) {
      setStarting({ pending: false, error });
      // What is asked has changed since it was shown.
      if (error instanceof RefusedError && error.code === "CONFIRMATION_NEEDED") estimateAgain();
    } finally {
      sending.current = false;
    }
  };
  return { starting, start };
}

const fieldsOf = ({ query, model, hours, notify }: Draft) => ({
  query: query.trim(),
  model,
  max_wait_hours: hours,
  enable_notifications: notify,
});

function hindranceOf(draft: Draft, estimate: EstimateView | undefined, agreed: boolean): string | undefined {
  const missing = objection(draft);
  if (missing !== undefined) return missing;
  if (estimate === undefined) return "Waiting for the estimate.";
  return estimate.question === undefined || agreed ? undefined : "Agree to the cost first.";
}

function buttonText(estimate: EstimateView | undefined, pending: boolean): string {
  if (pending) return "Starting…";
  return estimate === undefined ? "Start" : `Start, about ${money(estimate.estimated_cost.likely_usd)}`;
}

interface JoinedProps {
  joined: Acted;
  estimate: EstimateView | undefined;
  onAgain: () => void;
}

const Joined = ({ joined, estimate, onAgain }: JoinedProps) => (
  <div class="notice stack tight" role="status">
    <p>The same research was started a few minutes ago, so nothing new was started and nothing is paid twice.</p>
    <div class="row">
      <a class="button" href={runPath(joined.task_id)}>
        Open that run
      </a>
      <button type="button" class="button danger" disabled={estimate === undefined} onClick={onAgain}>
        Start another and pay again
        {estimate === undefined ? "" : `, about ${money(estimate.estimated_cost.likely_usd)}`}
      </button>
    </div>
  </div>
);

function Refusal({ error }: { error: unknown }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.scrollIntoView({ block: "nearest" }), [error]);
  const refused = error instanceof RefusedError ? error : undefined;
  return (
    <div ref={place}>
      <Problem error={error}>
        {refused?.taskId === undefined ? null : (
          <p>
            <a href={runPath(refused.taskId)}>
              {refused.code === "START_UNKNOWN" ? "Open the run to take it over or to start it again" : "Open the run"}
            </a>
          </p>
        )}
      </Problem>
    </div>
  );
}
