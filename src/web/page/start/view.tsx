/** The form of the first view, which asks a question: a search at once, deep research after its likely cost was shown. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Acted, EstimateView } from "../../wire.ts";
import { RefusedError, postJson } from "../app/request.ts";
import { type Agreed, Consent, useConsent, useSending } from "../ui/forms.tsx";
import { announce, Problem } from "../ui/parts.tsx";
import { money } from "../ui/format.ts";
import { go, runPath } from "../app/router.ts";
import {
  AttachmentField,
  attachmentProblem,
  DepthField,
  OptionFields,
  PlanField,
  QuestionField,
  uploadsOf,
} from "./fields.tsx";
import { askSearch, type Draft, draftProblem, estimateKey, isSearch, useDraft } from "./draft.ts";
import { BudgetLine } from "./budget.tsx";
import { EstimateLine, useEstimate } from "./estimate.tsx";

/** `focused`: the cursor is in the question, unless that would open the keyboard of a phone. */
export function StartForm({ focused, isKeyMissing }: { focused: boolean; isKeyMissing: boolean }) {
  const { draft, change, forget } = useDraft();
  const [files, setFiles] = useState<readonly File[]>([]);
  const estimateAgain = useRef(() => {});
  const { isPending, error, joined, start } = useStarting(
    { draft, files },
    { forget, estimateAgain: () => estimateAgain.current() },
  );
  const estimating = useEstimate(draft, { files, forceNew: joined !== undefined });
  const { estimate } = estimating;
  estimateAgain.current = estimating.retry;
  const consent = useConsent(estimate?.question);
  const { agreed, isGiven } = consent;
  useEffect(() => {
    const isElsewhere = document.querySelector("#content")?.contains(document.activeElement) === true;
    if (focused && !isElsewhere && matchMedia("(pointer: fine)").matches)
      document.querySelector<HTMLElement>("#question")?.focus({ preventScroll: true });
  }, []);
  const problem =
    (isKeyMissing ? "Add your API key first." : undefined) ??
    (isSearch(draft) ? undefined : attachmentProblem(files)) ??
    problemOf(draft, estimate, isGiven);
  return (
    <form
      class="start card stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (problem === undefined) start({ agreed });
      }}
    >
      <QuestionField draft={draft} change={change} />
      <DepthField draft={draft} change={change} />
      {estimate?.is_vague === true ? <Clarification /> : null}
      <Answered by={estimate?.question?.answered_by} />
      <Consent {...consent} />
      {joined === undefined ? null : (
        <Joined
          joined={joined}
          estimate={problem === undefined ? estimate : undefined}
          onAgain={() => start({ agreed, force_new: true })}
        />
      )}
      {error === undefined ? null : <Refusal error={error} />}
      <div class="row apart submit">
        {isSearch(draft) ? null : <EstimateLine {...estimating} />}
        <BudgetLine />
        <p class="quiet small">{problem ?? "Or press Ctrl + Enter."}</p>
        <button type="submit" class="button primary" disabled={problem !== undefined || isPending}>
          {isPending ? "Starting…" : buttonText(draft, estimate)}
        </button>
      </div>
      {isSearch(draft) ? null : (
        <>
          <AttachmentField files={files} onChange={setFiles} />
          <PlanField draft={draft} change={change} />
        </>
      )}
      <OptionFields draft={draft} change={change} />
    </form>
  );
}

/** The question that is asked tells how old the report is and what it cost. */
const Answered = ({ by: taskId }: { by: string | undefined }) =>
  taskId === undefined ? null : (
    <p>
      <a class="button" href={runPath(taskId)}>
        Open the report that answers it
      </a>
    </p>
  );

const Clarification = () => (
  <p class="notice" role="status">
    This question is short. What should this research focus on: which aspect, place, time or purpose? Add it to the
    question, or start it as it is.
  </p>
);

interface StartOptions {
  forget: () => void;
  estimateAgain: () => void;
}

interface Start {
  draft: Draft;
  files: readonly File[];
}

function useStarting({ draft, files }: Start, { forget, estimateAgain }: StartOptions) {
  const { pending, error, send } = useSending<"start">();
  /** The same question was started minutes ago; shown only while the draft is unchanged. */
  const [joined, setJoined] = useState<{ acted: Acted; key: string }>();
  const request = async (more: { agreed: Agreed; force_new?: boolean }): Promise<void> => {
    setJoined(undefined);
    const acted = await (isSearch(draft)
      ? askSearch(draft)
      : postJson<Acted>("/api/research", { ...fieldsOf(draft), ...(await uploadsOf(files)), ...more }));
    if (acted.joined === true && more.force_new !== true) {
      setJoined({ acted, key: estimateKey(draft, files) });
      return;
    }
    forget();
    announce("Started.");
    go(runPath(acted.task_id));
  };
  useEffect(() => {
    // The question to the user has changed since it was shown.
    if (error instanceof RefusedError && error.code === "CONFIRMATION_NEEDED") estimateAgain();
  }, [error]);
  return {
    isPending: pending !== undefined,
    error,
    joined: joined?.key === estimateKey(draft, files) ? joined.acted : undefined,
    start: (more: Parameters<typeof request>[0]) => void send("start", () => request(more)),
  };
}

const fieldsOf = ({ query, depth, hours, notify, plan, charts, wishes }: Draft) => ({
  ...wishes,
  query: query.trim(),
  model: depth,
  max_wait_hours: hours,
  enable_notifications: notify,
  plan,
  visualization: charts ? "auto" : "off",
});

function problemOf(draft: Draft, estimate: EstimateView | undefined, isAgreed: boolean): string | undefined {
  const missing = draftProblem(draft);
  if (missing !== undefined || isSearch(draft)) return missing;
  if (estimate === undefined) return "Waiting for the estimate.";
  return isAgreed ? undefined : "Confirm the cost to continue.";
}

function buttonText(draft: Draft, estimate: EstimateView | undefined): string {
  if (isSearch(draft)) return "Ask";
  if (draft.plan)
    return `Show the plan${estimate?.plan_usd === undefined ? "" : ` · about ${money(estimate.plan_usd)}`}`;
  return estimate === undefined ? "Start" : `Start · about ${money(estimate.estimated_cost.likely_usd)}`;
}

interface JoinedProps {
  joined: Acted;
  estimate: EstimateView | undefined;
  onAgain: () => void;
}

const Joined = ({ joined, estimate, onAgain }: JoinedProps) => (
  <div class="notice stack tight" role="status">
    <p>The same research was started a few minutes ago, so nothing new was started or charged.</p>
    <div class="row">
      <a class="button" href={runPath(joined.task_id)}>
        Open it
      </a>
      <button type="button" class="button danger" disabled={estimate === undefined} onClick={onAgain}>
        Start a new one anyway
        {estimate === undefined ? "" : `, about ${money(estimate.estimated_cost.likely_usd)}`}
      </button>
    </div>
  </div>
);

function Refusal({ error }: { error: unknown }) {
  const container = useRef<HTMLDivElement>(null);
  useEffect(() => container.current?.scrollIntoView({ block: "nearest" }), [error]);
  const refused = error instanceof RefusedError ? error : undefined;
  return (
    <div ref={container}>
      <Problem error={error}>
        {refused?.taskId === undefined ? null : (
          <p>
            <a class="button" href={runPath(refused.taskId)}>
              {refused.code === "START_UNKNOWN" ? "See what you can do" : "Open it"}
            </a>
          </p>
        )}
      </Problem>
    </div>
  );
}
