/** What every view shows in the same way: states, ages, amounts, progress, refusals, and what a screen reader hears. */

import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { RunSummary } from "../../wire.ts";
import { RefusedError } from "../app/request.ts";
import { ago, exactly } from "./ages.ts";

export { minutes, money } from "./amounts.ts";

/** A word and a shape, because colours alone do not speak to everybody. Paths in a square of 16. */
const STATUSES: Record<RunSummary["status"], { word: string; shape: string }> = {
  pending: { word: "Waiting", shape: "M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3" },
  running: { word: "Running", shape: "M8 3a5 5 0 1 1-5 5M8 5.5V8l2 1.5" },
  running_async: { word: "Running", shape: "M8 3a5 5 0 1 1-5 5M8 5.5V8l2 1.5" },
  start_unknown: { word: "Start unknown", shape: "M8 2.5 14 13H2zM8 6.5v3M8 11.3v.2" },
  completed: { word: "Completed", shape: "m3 8.5 3.5 3.5L13 4.5" },
  failed: { word: "Failed", shape: "m4 4 8 8M12 4l-8 8" },
  cancelled: { word: "Cancelled", shape: "M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3M4.5 11.5l7-7" },
};

export const statusWord = (status: RunSummary["status"]): string => STATUSES[status].word;

export function Status({ status }: { status: RunSummary["status"] }) {
  const { word, shape } = STATUSES[status];
  return (
    <span class="badge" data-status={status}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={shape} />
      </svg>
      {word}
    </span>
  );
}

export function Age({ at }: { at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={exactly(at)}>
      {ago(Date.parse(at), now)}
    </time>
  );
}

type Progressing = Pick<
  RunSummary,
  "status" | "progress" | "progress_is_estimate" | "current_action" | "stalled_since"
>;

/** Nothing for a run that is over. */
export function Progress({ run }: { run: Progressing }) {
  if (run.status !== "pending" && run.status !== "running" && run.status !== "running_async") return null;
  const percent = `${Math.round(run.progress)} %${run.progress_is_estimate === true ? " (estimate)" : ""}`;
  return (
    <div class="progress">
      <progress max={100} value={run.progress} aria-label={`Progress: ${percent}`} />
      <span class="quiet">
        {percent} · {run.current_action}
      </span>
      {run.stalled_since === undefined ? null : (
        <span class="stalled">
          Last heard of <Age at={run.stalled_since} />
        </span>
      )}
    </div>
  );
}

/** What went wrong and what to do; a server that refuses says both itself. */
export function Problem({ error, children }: { error: unknown; children?: ComponentChildren }) {
  const refused = error instanceof RefusedError ? error : undefined;
  return (
    <div class="notice bad" role="alert">
      <p>{refused?.message ?? "This page made a mistake."}</p>
      <p class="suggestion">
        {codeMarked(refused?.suggestion ?? "Load it again. Runs go on, whatever the page does.")}
      </p>
      {children}
    </div>
  );
}

/** Commands stand in backticks in the server's sentences. */
const codeMarked = (text: string): ComponentChildren[] =>
  text.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));

interface Loaded<Value> {
  value: Value | undefined;
  error: unknown;
  loading: boolean;
  /** Looks again and keeps showing what is there until the answer comes. */
  reload: () => void;
}

/** What `load` gives for `key`; an answer to an earlier key or an earlier look is not taken. */
export function useLoad<Value>(key: string, load: (signal: AbortSignal) => Promise<Value>): Loaded<Value> {
  const [state, setState] = useState<{ key: string; value?: Value; error?: unknown; loading: boolean }>({
    key,
    loading: true,
  });
  const latest = useRef(load);
  latest.current = load;
  const running = useRef<AbortController | undefined>(undefined);
  const look = useCallback(() => {
    running.current?.abort();
    const mine = new AbortController();
    running.current = mine;
    setState((before) => (before.key === key ? { ...before, loading: true } : { key, loading: true }));
    latest.current(mine.signal).then(
      (value) => mine.signal.aborted || setState({ key, value, loading: false }),
      (error: unknown) =>
        mine.signal.aborted ||
        setState((before) => ({ ...(before.key === key ? before : { key }), error, loading: false })),
    );
  }, [key]);
  useEffect(() => {
    look();
    return () => running.current?.abort();
  }, [look]);
  const current = state.key === key ? state : { key, loading: true };
  return { value: current.value, error: current.error, loading: current.loading, reload: look };
}

const TICK_MS = 15_000;
const clocks = new Set<(now: number) => void>();
let ticking: ReturnType<typeof setInterval> | undefined;

/** The time, told to everybody at once, so that a long list has one timer. */
function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    clocks.add(setNow);
    ticking ??= setInterval(() => {
      const time = Date.now();
      for (const tell of clocks) tell(time);
    }, TICK_MS);
    return () => {
      clocks.delete(setNow);
      if (clocks.size > 0) return;
      clearInterval(ticking);
      ticking = undefined;
    };
  }, []);
  return now;
}

export const ANNOUNCEMENTS = "announcements";

/** Said by screen readers when they have finished what they are saying. */
export function announce(text: string): void {
  const region = document.querySelector(`#${ANNOUNCEMENTS}`);
  if (region === null) return;
  region.textContent = "";
  // Only a change is heard, also when the same is said twice.
  setTimeout(() => {
    region.textContent = text;
  }, 50);
}
