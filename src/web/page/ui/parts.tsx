/** Components that all views share: status, age, progress, errors, and screen reader announcements. */

import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { minutesLeft, timeLeftText } from "../../../runs/activity/time-left.ts";
import { type RunStatus, STATUS_LABELS } from "../../../runs/run.ts";
import type { RunHead } from "../../../operations/view/run-view.ts";
import { RefusedError, SERVER_BACK } from "../app/request.ts";
import { ago, elapsed, exactTime, isUnfinished } from "./format.ts";

/** A shape beside the label, because colours alone are not accessible. SVG paths in a 16 by 16 box. */
const SHAPES: Record<RunStatus, string> = {
  pending: "M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3",
  running: "M8 3a5 5 0 1 1-5 5M8 5.5V8l2 1.5",
  running_async: "M8 3a5 5 0 1 1-5 5M8 5.5V8l2 1.5",
  start_unknown: "M8 2.5 14 13H2zM8 6.5v3M8 11.3v.2",
  awaiting_approval: "M4 2.5h8v11H4zM6 6h4M6 9h4",
  completed: "m3 8.5 3.5 3.5L13 4.5",
  failed: "m4 4 8 8M12 4l-8 8",
  cancelled: "M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3M4.5 11.5l7-7",
};

export function Status({ status }: { status: RunStatus }) {
  return (
    <span class="badge" data-status={status}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={SHAPES[status]} />
      </svg>
      {STATUS_LABELS[status]}
    </span>
  );
}

export function Age({ at }: { at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={exactTime(at)}>
      {ago(Date.parse(at), now)}
    </time>
  );
}

/** Renders nothing for a finished run. */
export function Progress({ run }: { run: RunHead }) {
  if (!isUnfinished(run.status)) return null;
  return (
    <div class="progress">
      <ProgressBar run={run} />
      <span class="quiet">
        {run.current_action}
        <TimeLeft run={run} />
      </span>
      {run.stalled_since === undefined ? null : (
        <span class="stalled">
          Last update <Age at={run.stalled_since} />
        </span>
      )}
    </div>
  );
}

/** At 0 nothing of its work was seen yet, which a bar would show as no progress. */
export function ProgressBar({ run: { progress, progress_is_estimate: isEstimate } }: { run: RunHead }) {
  if (progress <= 0) return null;
  const percent = `${isEstimate === true ? "~" : ""}${Math.round(progress)} %`;
  return <progress max={100} value={progress} aria-label={`Progress: ${percent}`} title={percent} />;
}

/** Not for a search, which takes seconds. */
export function TimeLeft({ run }: { run: RunHead }) {
  const elapsedMs = elapsed(run, useNow());
  const { progress, usual_minutes: usual } = run;
  if (usual === undefined || run.kind === "search") return null;
  return <> · {timeLeftText(minutesLeft({ progress, elapsedMs, usual }))}</>;
}

const UNEXPECTED = {
  message: "Something went wrong on this page.",
  suggestion: "Your research isn't affected.",
};

export const ReloadButton = () => (
  <button type="button" class="button small" onClick={() => location.reload()}>
    Reload the page
  </button>
);

/** Shows an error, if there is one, and its suggestion, both from the server if it sent them. */
export function Problem({ error, children }: { error: unknown; children?: ComponentChildren }) {
  if (error === undefined) return null;
  const isKnown = error instanceof RefusedError;
  const { message, suggestion } = isKnown ? error : UNEXPECTED;
  return (
    <div class="notice bad" role="alert">
      <p>{message}</p>
      {suggestion === undefined ? null : <p class="suggestion">{withCode(suggestion)}</p>}
      {isKnown ? children : <ReloadButton />}
    </div>
  );
}

/** The server marks commands with backticks. */
const withCode = (text: string): ComponentChildren[] =>
  text.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));

interface Loaded<Value> {
  /** Of this key; undefined until it is loaded. */
  value: Value | undefined;
  /** The newest value of any key, to be shown until the next one is loaded. */
  last: Value | undefined;
  error: unknown;
  loading: boolean;
  /** Loads again and keeps the current value until then. */
  reload: () => void;
  /** Replaces the value of this key, if it is loaded. */
  update: (change: (value: Value) => Value) => void;
}

/** The result of `load` for `key`; results of earlier keys and loads are ignored. A failed load is repeated when the server is back. */
export function useLoad<Value>(key: string, load: (signal: AbortSignal) => Promise<Value>): Loaded<Value> {
  type State = Pick<Loaded<Value>, "value" | "last" | "error" | "loading"> & { key: string };
  const begin = (before?: State): State =>
    before?.key === key
      ? { ...before, loading: true }
      : { key, value: undefined, last: before?.last, error: undefined, loading: true };
  const [state, setState] = useState(begin);
  const latest = useRef(load);
  latest.current = load;
  const running = useRef<AbortController | undefined>(undefined);
  const startLoad = useCallback(() => {
    running.current?.abort();
    const mine = new AbortController();
    running.current = mine;
    setState(begin);
    latest.current(mine.signal).then(
      (value) => mine.signal.aborted || setState({ key, value, last: value, error: undefined, loading: false }),
      (error: unknown) => mine.signal.aborted || setState((before) => ({ ...begin(before), error, loading: false })),
    );
  }, [key]);
  useEffect(() => {
    startLoad();
    return () => running.current?.abort();
  }, [startLoad]);
  useEffect(() => {
    if (state.error === undefined) return undefined;
    addEventListener(SERVER_BACK, startLoad);
    return () => removeEventListener(SERVER_BACK, startLoad);
  }, [state.error, startLoad]);
  const update = (change: (value: Value) => Value): void =>
    setState((before) => {
      if (before.key !== key || before.value === undefined) return before;
      const value = change(before.value);
      return { ...before, value, last: value };
    });
  return { ...(state.key === key ? state : begin(state)), reload: startLoad, update };
}

const TICK_MS = 15_000;

export function useNow(tickMs = TICK_MS): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** Follows a media query. */
export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const change = (): void => setMatches(media.matches);
    media.addEventListener("change", change);
    return () => media.removeEventListener("change", change);
  }, [query]);
  return matches;
}

export const ANNOUNCEMENTS = "announcements";

/** Screen readers announce it after what they are reading. */
export function announce(text: string): void {
  const region = document.querySelector(`#${ANNOUNCEMENTS}`);
  if (region === null) return;
  region.textContent = "";
  // Screen readers announce only changes, so the same text needs an empty one in between.
  setTimeout(() => {
    region.textContent = text;
  }, 50);
}
