/**
 * The event stream that one tab reads for all visible tabs of the browser, with all runs that they watch. It is read with
 * fetch, because `EventSource` cannot send the page's secret.
 */

import { fetchJson, fetchWithSecret } from "../app/request.ts";
import type { Refused } from "../../wire.ts";

export interface Watched {
  taskId: string;
  /** The last known timeline entry, after which the stream resumes. */
  after: number;
}

/** `lost`: disconnected. `refused`: the server responds, but rejects the stream for this reason. */
export type Connection = "opening" | "open" | "lost" | { refused: string };

interface LiveEvent {
  name: string;
  data: unknown;
  id: string;
}

export type Delivery = { connection: Connection } | LiveEvent;

export interface SharedStream {
  /** For a tab that became visible or watches another run. */
  join: (tab: string, watched: Watched | undefined) => void;
  leave: (tab: string) => void;
  close: () => void;
}

const RECONNECT_MS = 1_000;
const MIN_RETRY_MS = 2_000;
const MAX_RETRY_MS = 60_000;
/** Replacing one view by another opens one new stream, not two. */
const UPDATE_DELAY_MS = 30;

/** A tab that joins or leaves reopens it: the server then sends the state of every watched run, and `hello` to all tabs. */
export function openSharedStream(deliver: (delivery: Delivery) => void): SharedStream {
  const tabs = new Map<string, Watched | undefined>();
  let connection: Connection = "opening";
  let closeStream = (): void => {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  const openIn = (ms: number, open: () => void): void => {
    clearTimeout(timer);
    timer = setTimeout(open, ms);
  };
  const setConnection = (changed: Connection): void => {
    connection = changed;
    deliver({ connection });
  };
  const open = (): void => {
    closeStream();
    if (tabs.size === 0) return;
    closeStream = readEvents(pathOf(tabs), {
      opened: () => setConnection("open"),
      received: (name, data, id) => {
        if (name === "timeline") keepPosition(tabs, data, Number(id));
        deliver({ name, data, id });
      },
      lost: (refusal) => {
        // A run that was deleted must not keep the stream from the other tabs.
        if (refusal?.status === 404) for (const tab of tabs.keys()) tabs.set(tab, undefined);
        setConnection(connectionAfter(refusal));
        openIn(retryDelay(refusal), refusal?.status === 401 ? () => void checkSession().then(open) : open);
      },
    });
  };
  return {
    join: (tab, watched) => {
      tabs.set(tab, watched);
      deliver({ connection });
      openIn(UPDATE_DELAY_MS, open);
    },
    leave: (tab) => {
      if (tabs.delete(tab)) openIn(UPDATE_DELAY_MS, open);
    },
    close: () => {
      clearTimeout(timer);
      closeStream();
    },
  };
}

function keepPosition(tabs: ReadonlyMap<string, Watched | undefined>, data: unknown, after: number): void {
  for (const watched of tabs.values())
    if (watched !== undefined && watched.taskId === taskIdOf(data)) watched.after = after;
}

const connectionAfter = (refusal: StreamRefusal | undefined): Connection =>
  refusal?.message === undefined || [401, 404].includes(refusal.status) ? "lost" : { refused: refusal.message };

const retryDelay = (refusal: StreamRefusal | undefined): number =>
  refusal === undefined ? RECONNECT_MS : Math.min(Math.max(MIN_RETRY_MS, refusal.retryMs), MAX_RETRY_MS);

/** A regular request detects that the user was signed out. */
const checkSession = (): Promise<unknown> => fetchJson("/api/runs?limit=1").catch(() => undefined);

/** With the oldest position of the tabs that watch a run: an entry that a tab has already is recognised by its id. */
function pathOf(tabs: ReadonlyMap<string, Watched | undefined>): string {
  const runs = new Map<string, number>();
  for (const watched of tabs.values()) {
    if (watched === undefined) continue;
    runs.set(watched.taskId, Math.min(watched.after, runs.get(watched.taskId) ?? Infinity));
  }
  const query = [...runs].map(([taskId, after]) => `run=${taskId}&after=${after}`).join("&");
  return `/api/live${query === "" ? "" : "?"}${query}`;
}

export function taskIdOf(data: unknown): string | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- wire.ts is the contract of both sides
  return (data as { task_id?: string }).task_id;
}

interface EventHandlers {
  opened: () => void;
  received: (name: string, data: unknown, id: string) => void;
  /** Called once when the stream has ended or could not be opened. */
  lost: (refusal: StreamRefusal | undefined) => void;
}

/** The server responded with an error instead of a stream. */
interface StreamRefusal {
  status: number;
  message: string | undefined;
  /** Delay requested by the server. */
  retryMs: number;
}

/** Returns a function that closes the stream without calling a handler. */
function readEvents(path: string, handlers: EventHandlers): () => void {
  const closing = new AbortController();
  void read(path, { handlers, signal: closing.signal }).then((refusal) => {
    if (!closing.signal.aborted) handlers.lost(refusal);
  });
  return () => closing.abort();
}

async function read(
  path: string,
  { handlers, signal }: { handlers: EventHandlers; signal: AbortSignal },
): Promise<StreamRefusal | undefined> {
  try {
    const response = await fetchWithSecret(path, { signal, cache: "no-store" });
    const { ok, body } = response;
    if (!ok || body === null) return await refusalOf(response);
    handlers.opened();
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done || signal.aborted) return undefined;
      const blocks = `${rest}${value}`.split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) dispatch(block, handlers);
    }
  } catch {
    return undefined;
  }
}

async function refusalOf(response: Response): Promise<StreamRefusal> {
  const seconds = Number(response.headers.get("retry-after") ?? 0);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- wire.ts is the contract of both sides
  const body = (await response.json().catch(() => undefined)) as Partial<Refused> | undefined;
  const retryMs = Number.isFinite(seconds) ? seconds * 1_000 : 0;
  return { status: response.status, message: body?.error?.message, retryMs };
}

/** Our server ends lines with LF and sends `data` as one line. */
function dispatch(block: string, { received }: EventHandlers): void {
  const fields = new Map(
    block.split("\n").map((line) => {
      const at = line.indexOf(": ");
      return [line.slice(0, at), line.slice(at + 2)];
    }),
  );
  const [name, data] = [fields.get("event"), fields.get("data")];
  if (name === undefined || data === undefined) return;
  const parsed: unknown = JSON.parse(data);
  received(name, parsed, fields.get("id") ?? "");
}
