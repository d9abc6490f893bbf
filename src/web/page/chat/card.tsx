/**
 * The card: a run in progress with its timeline, then its report. None of its buttons can start or approve anything
 * that is paid for.
 */

import { useState } from "preact/hooks";
import type { CardPlan } from "../../wire.ts";
import type { RunLive, TimelineEntry } from "../../../operations/view/run-view.ts";
import { actionText } from "../run/actions-text.ts";
import { plainPlan } from "../run/plan-steps.ts";
import { TimelineList } from "../run/timeline.tsx";
import { Report, useReport } from "../report/section.tsx";
import { RunHead } from "../run/head.tsx";
import { exactTime, money } from "../ui/format.ts";
import { ANNOUNCEMENTS, Problem } from "../ui/parts.tsx";
import { ResultButton } from "../ui/buttons.tsx";
import { requestMode } from "./embedding.ts";
import type { Host, HostContext } from "./host.ts";

export interface CardState {
  run?: RunLive;
  entries: TimelineEntry[];
  plan?: CardPlan | undefined;
  /** Known before the run is. */
  question?: string;
  problem?: unknown;
  isCancelled?: boolean;
}

export interface CardParts {
  host: Host | undefined;
  context: HostContext;
  setContext: (change: HostContext) => void;
}

export function Card({ state, ...parts }: CardParts & { state: CardState }) {
  const { run } = state;
  return (
    <>
      <div class="unseen" role="status" id={ANNOUNCEMENTS} />
      <main class="card-main stack">
        {run === undefined ? (
          <Waiting state={state} host={parts.host} />
        ) : (
          <RunCard run={run} state={state} {...parts} />
        )}
      </main>
    </>
  );
}

/** Before the run is known. */
function Waiting({ state, host }: { state: CardState; host: Host | undefined }) {
  const { question, problem, isCancelled } = state;
  const canRead = host === undefined || host.capabilities.serverTools !== undefined;
  return (
    <>
      <h1 dir="auto">{question ?? "Research"}</h1>
      <Problem error={problem} />
      {isCancelled === true ? <p class="quiet">The call was cancelled.</p> : null}
      {canRead ? null : <p class="notice">This chat does not let the card read the run. Ask for its status instead.</p>}
      {problem === undefined && isCancelled !== true && canRead ? (
        <p class="quiet" role="status">
          Loading the run…
        </p>
      ) : null}
    </>
  );
}

/** What only the user can decide costs money, so that it is decided in the chat, where the server asks. */
const DECISIONS: Partial<Record<RunLive["status"], string>> = {
  awaiting_approval: "The plan waits for your approval. Approve or change it in the chat.",
  start_unknown: "It isn't known whether Google started this run. Decide in the chat whether to start it again.",
};

const Plan = ({ plan: { text, estimated_cost: cost, expires_at: expiry } }: { plan: CardPlan }) => (
  <section class="stack plan" aria-labelledby="plan-title">
    <h2 id="plan-title">Plan</h2>
    {cost === undefined ? null : (
      <p>
        The research will cost about {money(cost.likely_usd)}, at most {money(cost.max_usd)}.
      </p>
    )}
    {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- without it, a keyboard could not scroll the plan */}
    <div class="plan-window plan-text" dir="auto" tabIndex={0} role="region" aria-label="Plan text">
      {plainPlan(text)}
    </div>
    {expiry === undefined ? null : <p class="quiet small">You can approve the plan until {exactTime(expiry)}.</p>}
  </section>
);

function RunCard({ run, state, host, context, setContext }: CardParts & { run: RunLive; state: CardState }) {
  const decision = DECISIONS[run.status];
  const isOver = run.completed_at !== undefined;
  const isFullscreen = context.displayMode === "fullscreen";
  // In full screen there is room for it, unless there is a report to read.
  const isTimelineOpen = !isOver || (isFullscreen && !run.has_report);
  return (
    <article class={run.has_report ? "run stack has-report" : "run stack"}>
      <RunHead run={run} />
      {decision === undefined ? null : <p class="notice">{decision}</p>}
      <Problem error={state.problem} />
      {host === undefined ? null : (
        <div class="row actions">
          {run.actions.includes("cancel") ? <CancelButton run={run} host={host} /> : null}
          <AgainButton run={run} host={host} />
          {run.has_report ? <ReportButtons taskId={run.task_id} host={host} /> : null}
          <ModeButton host={host} context={context} setContext={setContext} />
        </div>
      )}
      {state.plan === undefined ? null : <Plan plan={state.plan} />}
      {run.has_report ? (
        <CardReport key={`${run.task_id} ${run.status}`} taskId={run.task_id} isScrolling={!isFullscreen} />
      ) : null}
      <TimelineList
        key={String(isTimelineOpen)}
        entries={state.entries}
        run={run}
        section={{ current: null }}
        isFolded={!isTimelineOpen}
      />
    </article>
  );
}

/** `isScrolling`: in the chat the report has a limited height. */
function CardReport({ taskId, isScrolling }: { taskId: string; isScrolling: boolean }) {
  const { report, waiting } = useReport(taskId);
  if (report === undefined) return waiting;
  if (!isScrolling) return <Report report={report} />;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- without it, a keyboard could not scroll the report
    <div class="report-window" tabIndex={0} role="region" aria-label="Text of the report">
      <Report report={report} />
    </div>
  );
}

/** Above the report, so that they do not scroll away with it. */
function ReportButtons({ taskId, host }: { taskId: string; host: Host }) {
  const { capabilities } = host;
  const use = async (): Promise<void> => {
    const { summary } = await host.viewReport(taskId, "summary");
    await host.request("ui/update-model-context", { content: [{ type: "text", text: summary }] });
  };
  const download = async (): Promise<void> => {
    const { document: text, file_name: name } = await host.viewReport(taskId, "markdown");
    const resource = { uri: `file:///${name}`, mimeType: "text/markdown", text };
    const { isError } = await host.request("ui/download-file", { contents: [{ type: "resource", resource }] });
    if (isError === true) throw new Error("The client did not save it.");
  };
  return (
    <>
      {capabilities.updateModelContext === undefined ? null : (
        <ResultButton label="Use in chat" done="Added to the chat ✓" act={use} />
      )}
      {capabilities.downloadFile === undefined ? null : (
        <ResultButton label="Download .md" done="Downloaded ✓" act={download} />
      )}
    </>
  );
}

/** What helps after a failure may be charged, so the chat is asked for it, where the server asks its user. */
function AgainButton({ run, host }: { run: RunLive; host: Host }) {
  if (run.status !== "failed" || host.capabilities.message === undefined) return null;
  const mayBeReady = run.actions.includes("poll_again");
  const text = mayBeReady
    ? `Check whether Google has the report of the research ${run.task_id} by now.`
    : `Ask this again: ${run.query}`;
  const send = async (): Promise<void> => {
    const message = { role: "user", content: [{ type: "text", text }] };
    if ((await host.request("ui/message", message))["isError"] === true) throw new Error("The client did not send it.");
  };
  return <ResultButton label={mayBeReady ? "Check again" : "Ask again"} done="Sent to the chat ✓" act={send} />;
}

/** Asks once more, because a cancelled run cannot be continued. */
function CancelButton({ run, host }: { run: RunLive; host: Host }) {
  const [step, setStep] = useState<"idle" | "asked" | "sent" | "failed">("idle");
  if (step === "sent" || run.cancel_requested_at !== undefined) return <span class="quiet">Cancelling…</span>;
  if (step === "idle") {
    return (
      <button type="button" class="button small" onClick={() => setStep("asked")}>
        Cancel run…
      </button>
    );
  }
  const cancel = (): void => {
    setStep("sent");
    host.cancel(run.task_id).catch(() => setStep("failed"));
  };
  return (
    <div class="row" role="group" aria-label="Cancel the run">
      <span>{step === "failed" ? "It could not be cancelled. Try again?" : actionText("cancel", run).explanation}</span>
      <button type="button" class="button small danger" onClick={cancel}>
        Cancel run
      </button>
      <button type="button" class="button small" onClick={() => setStep("idle")}>
        Keep running
      </button>
    </div>
  );
}

function ModeButton({ host, context, setContext }: Omit<CardParts, "host"> & { host: Host }) {
  const { displayMode = "inline", availableDisplayModes: modes = [] } = context;
  const next = displayMode === "fullscreen" ? "inline" : "fullscreen";
  if (!modes.includes(next)) return null;
  const change = (): void => {
    requestMode(host, next).then(
      (mode) => setContext({ displayMode: mode }),
      () => undefined,
    );
  };
  return (
    <button type="button" class="button small" onClick={change}>
      {next === "fullscreen" ? "Full screen" : "Back to the chat"}
    </button>
  );
}
