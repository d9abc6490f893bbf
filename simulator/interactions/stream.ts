/** Streams an interaction as server-sent events: past events at once, later ones in time, with interruptions. */

import type { ServerResponse } from "node:http";
import { eventsOf, type TimedEvent } from "./events.ts";
import { endOf } from "./resource.ts";
import type { Run, Runs } from "./runs.ts";
import type { StreamCut } from "./scenario.ts";
import type { Reply } from "../models/wire.ts";

const HEADERS = { "content-type": "text/event-stream", "cache-control": "no-cache" };

const DONE = "event: done\ndata: [DONE]\n\n";

// The maximum delay of a Node timer.
const MAX_TIMER_MS = 2 ** 31 - 1;

const frame = ({ event }: TimedEvent): string => `event: ${event.event_type}\ndata: ${JSON.stringify(event)}\n\n`;

const hasEnded = (run: Run, elapsed: number): boolean => elapsed >= (endOf(run)?.at ?? Infinity);

/** A reply with all past events, for faults. */
export function streamSoFar(run: Run, elapsed: number, from: number): Reply {
  const past = eventsOf(run).filter(({ at }) => at <= elapsed);
  const frames = past.slice(from).map(frame);
  return { status: 200, headers: HEADERS, frames: hasEnded(run, elapsed) ? [...frames, DONE] : frames };
}

interface LiveStream {
  run: Run;
  runs: Runs;
  /** Index of the first event. */
  from: number;
  /** When it is interrupted, in virtual milliseconds after its opening. */
  cutMs: number;
  cut: StreamCut;
  /** It is interrupted after this many events at the latest. */
  cutAfter: number;
  signal: AbortSignal;
  /** Called after the first event was written. */
  onOpen: () => void;
  onCut: () => void;
}

function interrupt(response: ServerResponse, { cut, onCut }: LiveStream): void {
  switch (cut) {
    case "end":
      response.end();
      return;
    case "unavailable":
      // Not an event: after ten minutes Google sends an error body between the events.
      response.end(
        '{\n  "error": {\n    "code": 503,\n    "message": "The service is currently unavailable.",\n    "status": "UNAVAILABLE"\n  }\n}\n',
      );
      return;
    case "error-array":
      // Not an event: Google's front end appends this when a request takes too long.
      response.end(
        '[{\n  "error": {\n    "code": 504,\n    "message": "Deadline expired before operation could complete.",\n    "status": "DEADLINE_EXCEEDED"\n  }\n}\n]\n',
      );
      return;
    case "error-event":
      response.end('event: error\ndata: {"event_type":"error","error":{"code":"deadline_exceeded","message":""}}\n\n');
      return;
    case "hang":
      return;
    case "reset":
      onCut();
      response.socket?.resetAndDestroy();
  }
}

/** Resolves after `ms`, when a run has changed, or when the client has disconnected. */
function pause(ms: number, { runs, signal }: LiveStream): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      stopListening();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(Math.max(ms, 0), MAX_TIMER_MS));
    const stopListening = runs.onChange(done);
    signal.addEventListener("abort", done);
  });
}

export async function streamLive(response: ServerResponse, stream: LiveStream): Promise<void> {
  const { run, runs, signal, cutMs, cutAfter } = stream;
  const cutAt = runs.elapsed(run) + cutMs;
  let position = stream.from;
  let [events, cancelledAt] = [eventsOf(run), run.cancelledAt];
  response.writeHead(200, HEADERS);
  response.flushHeaders();
  while (!signal.aborted) {
    const elapsed = runs.elapsed(run);
    if (run.cancelledAt !== cancelledAt) [events, cancelledAt] = [eventsOf(run), run.cancelledAt];
    for (
      let next = events[position];
      next !== undefined && next.at <= Math.min(elapsed, cutAt);
      next = events[position]
    ) {
      const isFirst = position === stream.from;
      response.write(frame(next), (error) => {
        if (isFirst && error == null) stream.onOpen();
      });
      position += 1;
      if (position - stream.from >= cutAfter) return interrupt(response, stream);
    }
    // The run was deleted or has expired.
    if (runs.find(run.start.id) === undefined) return void response.end();
    if (hasEnded(run, Math.min(elapsed, cutAt))) return void response.end(DONE);
    if (elapsed >= cutAt) return interrupt(response, stream);
    const wakeAt = Math.min(events[position]?.at ?? Infinity, cutAt);
    await pause(Math.ceil((wakeAt - elapsed) / run.life.speed), stream);
  }
}
