/** A run in its conversation: what it continues, the follow-ups on it, and the forms that ask for the next one or a table. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { RunLive } from "../../../operations/view/run-view.ts";
import type { Acted, ConversationView, ReportSource, Turn } from "../../wire.ts";
import { fetchJson, postJson } from "../app/request.ts";
import { alonePath, runPath, turnId } from "../app/router.ts";
import { isUnfinished, money, nameOf } from "../ui/format.ts";
import { useLive } from "../live/live.ts";
import { ReportHtml, SearchSuggestions } from "../report/html.tsx";
import { focusTarget, targetOf } from "../report/jumps.ts";
import { useReport } from "../report/section.tsx";
import { SourceLink } from "../report/sources.tsx";
import { TableDownloads } from "../ui/buttons.tsx";
import { announce, Problem, Progress, Status, useLoad } from "../ui/parts.tsx";
import { keep, readKept } from "../app/browser-storage.ts";
import { Consent, useConsent, useSending } from "../ui/forms.tsx";

const load = (taskId: string) => (signal: AbortSignal) =>
  fetchJson<ConversationView>(`/api/runs/${taskId}/conversation`, { signal });

/** The run whose page shows a follow-up with its answer. A table has a page of its own, and so has what needs a decision. */
export async function rootOf(
  { task_id: taskId, followup_context: context, is_table: isTable, ...run }: RunLive,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (context === undefined || isTable === true || !(run.has_report || isUnfinished(run.status))) return undefined;
  // It can be read without the others.
  return findRoot(taskId, signal).catch(() => undefined);
}

async function findRoot(taskId: string, signal: AbortSignal): Promise<string | undefined> {
  const [root] = (await load(taskId)(signal)).earlier;
  if (root?.has_report !== true) return undefined;
  // A page shows a limited number of turns.
  const { later } = await load(root.task_id)(signal);
  return later.some((turn) => turn.task_id === taskId) ? root.task_id : undefined;
}

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

interface Conversation {
  view: ConversationView | undefined;
  error: unknown;
  reload: () => void;
  draft: string;
  write: (text: string) => void;
}

/** What continues a run, once it has a report. */
export function useConversation({ task_id: taskId, has_report: hasReport }: RunLive): Conversation {
  const { value, error, reload } = useLoad(`${taskId} ${hasReport}`, async (signal) =>
    hasReport ? load(taskId)(signal) : undefined,
  );
  const [draft, write] = useFollowupDraft(taskId);
  useLive({
    // A follow-up may be asked elsewhere, too.
    runs: ({ runs }) => {
      const isNews = runs.some(
        ({ task_id: id, followup_context: context }) => context !== undefined && !isKnownEnd(value?.later ?? [], id),
      );
      if (hasReport && isNews) reload();
    },
  });
  return { view: value, error, reload, draft, write };
}

interface LaterProps extends Conversation {
  run: RunLive;
  /** What the report leaves open, to be asked next. */
  suggestions: readonly string[];
  /** The page has a scroll position already. */
  isReturning: boolean;
}

/** Below a report: its follow-ups, and what can be asked next. */
export function Later({ run, view, error, reload, suggestions, isReturning, write }: LaterProps) {
  if (view === undefined) return error === undefined ? null : <Problem error={error} />;
  const { later, next, table } = view;
  const open = next === undefined ? [] : suggestions.filter((text) => !later.some(({ query }) => query === text));
  if (later.length + open.length === 0 && table === undefined) return null;
  return (
    <section class="turns stack" id="follow-ups" aria-label="Follow-ups">
      {later.length === 0 ? null : <h2>Follow-ups</h2>}
      {later.map((turn) => (
        <OpenTurn key={turn.task_id} turn={turn} isReturning={isReturning} />
      ))}
      {open.length === 0 ? null : (
        <>
          <h2>Ask next</h2>
          <Suggestions texts={open} choose={write} />
        </>
      )}
      {table === undefined ? null : <TableForm taskId={run.task_id} terms={table} asked={reload} />}
    </section>
  );
}

const BOX = "follow-up";

/** The user may change one before asking it. */
const Suggestions = ({ texts, choose }: { texts: readonly string[]; choose: (text: string) => void }) => (
  <ul class="row suggested" aria-label="Suggested questions">
    {texts.map((text) => (
      <li key={text}>
        <button
          type="button"
          class="button small"
          dir="auto"
          onClick={() => {
            choose(text);
            document.getElementById(BOX)?.focus();
          }}
        >
          {text}
        </button>
      </li>
    ))}
  </ul>
);

/** What is typed stays in this tab. */
function useFollowupDraft(taskId: string): [string, (text: string) => void] {
  const kept = `followup ${taskId}`;
  const [text, setText] = useState(() => readKept(kept) ?? "");
  const write = (written: string): void => {
    setText(written);
    keep(kept, written === "" ? undefined : written);
  };
  return [text, write];
}

const isKnownEnd = (turns: readonly Turn[], taskId: string): boolean =>
  turns.some(({ task_id, status }) => task_id === taskId && !isUnfinished(status));

function OpenTurn({ turn, isReturning }: { turn: Turn; isReturning: boolean }) {
  const id = turnId(turn.task_id);
  const show = (): void => {
    const target = targetOf(location.hash);
    if (target?.id === id && !isReturning) focusTarget(target, { scroll: true });
  };
  useEffect(show, []);
  /** When the page is long enough for its answer to begin at the top, unless the user has gone on to something else. */
  const showAgain = (): void => {
    const focused = document.activeElement;
    if (focused === null || focused === document.body || focused.id === id) show();
  };
  return (
    <article class="turn stack tight" aria-label={nameOf(turn)}>
      <h3 dir="auto" id={id}>
        <a href={alonePath(turn.task_id)}>{nameOf(turn)}</a>
      </h3>
      {turn.status === "completed" ? null : <Status status={turn.status} />}
      <Progress run={turn} />
      {turn.has_report ? <Answer turn={turn} onShown={showAgain} /> : null}
    </article>
  );
}

/** A report within the page of another one. */
function Answer({ turn: { task_id: taskId }, onShown }: { turn: Turn; onShown?: () => void }) {
  const { report, waiting } = useReport(taskId);
  const body = useRef<HTMLDivElement>(null);
  const prefix = `turn-${taskId.slice(0, 8)}-`;
  const rename = (): void => renameAnchors(body.current, prefix);
  useLayoutEffect(rename, [report]);
  const complete = (): void => {
    rename();
    onShown?.();
  };
  if (report === undefined) return waiting;
  return (
    <div class="report-body" ref={body}>
      {report.has_table === true ? (
        <div class="row report-tools">
          <TableDownloads taskId={taskId} />
        </div>
      ) : null}
      <ReportHtml report={report} onComplete={complete} />
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
    <>
      <p class="quiet small">Sources of this answer</p>
      <ol class="turn-sources small">
        {sources.map((source) => (
          <li key={source.n} id={`${prefix}source-${source.n}`} value={source.n} tabIndex={-1}>
            <SourceLink source={source} />
          </li>
        ))}
      </ol>
    </>
  );
}

interface FollowupFormProps {
  /** The run that the follow-up continues. */
  taskId: string;
  terms: NonNullable<ConversationView["table"]>;
  label: string;
  /** Of the request; undefined while something is missing. */
  body: { question: string; columns?: string[] } | undefined;
  /** Called after it was accepted. */
  clear: () => void;
  /** Called after it was sent, whatever the outcome. */
  asked: () => void;
  children: ComponentChildren;
}

function FollowupForm({ taskId, terms, label, body, clear, asked, children }: FollowupFormProps) {
  const { pending, error, send } = useSending<"ask">();
  const consent = useConsent(terms.question);
  const isReady = body !== undefined && consent.isGiven;
  const ask = async (): Promise<void> => {
    try {
      const sent = { ...body, agreed: consent.agreed };
      const { joined } = await postJson<Acted>(`/api/runs/${taskId}/followup`, sent);
      announce(joined === true ? "This was asked before; nothing is charged." : "Asked.");
      clear();
    } finally {
      asked();
    }
  };
  return (
    <form
      class="followup"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) void send("ask", ask);
      }}
    >
      <Problem error={error} />
      <Consent {...consent} />
      <div class="fields">{children}</div>
      <button type="submit" class="button primary" disabled={!isReady || pending !== undefined}>
        <span>
          {pending === undefined ? label : "Asking…"}
          {pending !== undefined || terms.likely_usd === undefined ? null : (
            <>
              {" · "}
              <span class="about">about </span>
              {money(terms.likely_usd)}
            </>
          )}
        </span>
      </button>
    </form>
  );
}

/** The box for the next question, which stays in reach. */
export function NextQuestion({ view, reload, draft, write }: Conversation) {
  const next = view?.next;
  if (next === undefined) return null;
  const body = /[\p{L}\p{N}]/u.test(draft) ? { question: draft.trim() } : undefined;
  return (
    <div class="composer">
      <FollowupForm taskId={next.task_id} terms={next} label="Ask" body={body} clear={() => write("")} asked={reload}>
        <textarea
          id={BOX}
          rows={1}
          maxLength={10_000}
          aria-label="Ask a follow-up"
          placeholder="Ask a follow-up"
          value={draft}
          dir="auto"
          onInput={({ currentTarget }) => write(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            event.currentTarget.form?.requestSubmit();
          }}
        />
      </FollowupForm>
    </div>
  );
}

const ROWS = "One row per item that the report compares.";

interface TableFormProps {
  taskId: string;
  terms: NonNullable<ConversationView["table"]>;
  asked: () => void;
}

function TableForm(props: TableFormProps) {
  const [text, setText] = useState("");
  const [rows, setRows] = useState("");
  const columns = text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const body = columns.length === 0 ? undefined : { question: rows.trim() === "" ? ROWS : rows.trim(), columns };
  return (
    <details class="make-table">
      <summary>Make a table</summary>
      <FollowupForm {...props} label="Make a table" body={body} clear={() => setText("")}>
        <p class="quiet small">
          A model reads this report and fills in the table. Every cell has its sources, or is marked as not found.
        </p>
        <TextField
          label="Columns, separated by commas"
          hint="maker, price, noise in dB"
          value={text}
          maxLength={2_000}
          write={setText}
        />
        <TextField
          label="What a row is (optional)"
          hint="one heat pump"
          value={rows}
          maxLength={1_000}
          write={setRows}
        />
      </FollowupForm>
    </details>
  );
}

interface TextFieldProps {
  label: string;
  hint: string;
  value: string;
  maxLength: number;
  write: (text: string) => void;
}

const TextField = ({ label, hint, value, maxLength, write }: TextFieldProps) => (
  <label class="stack tight">
    <span>{label}</span>
    <input
      type="text"
      placeholder={hint}
      value={value}
      maxLength={maxLength}
      onInput={({ currentTarget }) => write(currentTarget.value)}
      dir="auto"
    />
  </label>
);
