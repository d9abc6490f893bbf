/** A run in its conversation: what it continues, the follow-ups on it, and the forms that ask the next one. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RunLive } from "../../../operations/view/run-view.ts";
import type { ConversationView, ReportSource, Turn } from "../../wire.ts";
import { fetchJson } from "../app/request.ts";
import { runPath } from "../app/router.ts";
import { isUnfinished } from "../ui/run-state.ts";
import { nameOf } from "../library/organize.ts";
import { useLive } from "../live/live.ts";
import { ReportHtml, SearchSuggestions } from "../report/html.tsx";
import { useReport } from "../report/section.tsx";
import { SourceLink } from "../report/sources.tsx";
import { TableDownloads } from "../report/download.tsx";
import { Problem, Progress, Status, useLoad } from "../ui/parts.tsx";
import { AskForm, TableForm } from "./followup-forms.tsx";

const load = (taskId: string) => (signal: AbortSignal) =>
  fetchJson<ConversationView>(`/api/runs/${taskId}/conversation`, { signal });

/** Above a follow-up: the questions and answers that it continues, folded. */
export function Earlier({ run }: { run: RunLive }) {
  const { value, error } = useLoad(run.task_id, load(run.task_id));
  if (error !== undefined) return <Problem error={error} />;
  const { earlier = [] } = value ?? {};
  return (
    <section class="turns stack tight" aria-label="What this continues">
      {earlier.map((turn) => (
        <FoldedTurn key={turn.task_id} turn={turn} />
      ))}
      {run.followup_context === "stored_report" && !isUnfinished(run.status) ? (
        <p class="quiet small">
          {run.is_table === true
            ? "Made from the stored report."
            : "Google could not continue this conversation, so the stored report was sent with the question."}
        </p>
      ) : null}
    </section>
  );
}

function FoldedTurn({ turn }: { turn: Turn }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="turn" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary dir="auto">Follow-up to: {nameOf(turn)}</summary>
      <p>
        <a href={runPath(turn.task_id)}>Open this run</a>
      </p>
      {isOpen && turn.has_report ? <Answer turn={turn} /> : null}
    </details>
  );
}

/** Below a report: its follow-ups, and the next question. */
export function Later({ run }: { run: RunLive }) {
  const { value, error, reload } = useLoad(run.task_id, load(run.task_id));
  const known = value?.later ?? [];
  useLive({
    // A follow-up may be asked elsewhere, too.
    runs: ({ runs }) => {
      if (runs.some((changed) => changed.followup_context !== undefined && !isKnownEnd(known, changed.task_id)))
        reload();
    },
  });
  if (value === undefined) return error === undefined ? null : <Problem error={error} />;
  return (
    <section class="turns stack" aria-labelledby="follow-ups">
      <h2 id="follow-ups">Follow-ups</h2>
      {known.map((turn) => (
        <OpenTurn key={turn.task_id} turn={turn} />
      ))}
      {value.next === undefined ? null : <AskForm taskId={run.task_id} next={value.next} asked={reload} />}
      {value.table === undefined ? null : <TableForm taskId={run.task_id} terms={value.table} asked={reload} />}
    </section>
  );
}

const isKnownEnd = (turns: readonly Turn[], taskId: string): boolean =>
  turns.some(({ task_id, status }) => task_id === taskId && !isUnfinished(status));

const OpenTurn = ({ turn }: { turn: Turn }) => (
  <article class="turn stack tight" aria-label={nameOf(turn)}>
    <h3 dir="auto">
      <a href={runPath(turn.task_id)}>{nameOf(turn)}</a>
    </h3>
    {turn.status === "completed" ? null : <Status status={turn.status} />}
    <Progress run={turn} />
    {turn.has_report ? <Answer turn={turn} /> : null}
  </article>
);

/** A report within the page of another one. */
function Answer({ turn: { task_id: taskId } }: { turn: Turn }) {
  const { report, waiting } = useReport(taskId);
  const body = useRef<HTMLDivElement>(null);
  const prefix = `turn-${taskId.slice(0, 8)}-`;
  const rename = (): void => renameAnchors(body.current, prefix);
  useLayoutEffect(rename, [report]);
  if (report === undefined) return waiting;
  return (
    <div class="report-body" ref={body}>
      {report.has_table === true ? (
        <div class="row report-tools">
          <TableDownloads taskId={taskId} />
        </div>
      ) : null}
      <ReportHtml report={report} onComplete={rename} />
      <Sources sources={report.sources} prefix={prefix} />
      <SearchSuggestions suggestions={report.suggestions} id={`${prefix}suggestions`} />
    </div>
  );
}

/** Every report numbers its headings, citations and sources: only with a prefix are they unique in the page. */
function renameAnchors(body: HTMLElement | null, prefix: string): void {
  for (const part of body?.querySelectorAll<HTMLElement>(".report-text [id]") ?? []) {
    if (!part.id.startsWith(prefix)) part.id = prefix + part.id;
  }
  for (const link of body?.querySelectorAll<HTMLAnchorElement>(".report-text a[href^='#']") ?? []) {
    const target = link.hash.slice(1);
    if (!target.startsWith(prefix)) link.setAttribute("href", `#${prefix}${target}`);
  }
}

function Sources({ sources, prefix }: { sources: ReportSource[]; prefix: string }) {
  if (sources.length === 0) return null;
  return (
    <ol class="turn-sources small">
      {sources.map((source) => (
        <li key={source.n} id={`${prefix}source-${source.n}`} value={source.n} tabIndex={-1}>
          <SourceLink source={source} />
        </li>
      ))}
    </ol>
  );
}
