/** An interaction as server-sent events: what has happened at once, the rest when it happens, and the usual cuts. */

import type { ServerResponse } from "node:http";
import { eventsOf, type TimedEvent } from "./events.ts";
import { endOf } from "./resource.ts";
import type { Run, Runs } from "./runs.ts";
import type { StreamCut } from "./scenario.ts";
import type { Reply } from "../models/wire.ts";

const HEADERS = { "content-type": "text/event-stream", "cache-control": "no-cache" };

const DONE = "event: done\ndata: [DONE]\n\n";

// The longest that a timer of Node can wait.
const LONGEST_WAIT_MS = 2 ** 31 - 1;

const frame = ({ event }: TimedEvent): string => `event: ${event.event_type}\ndata: ${JSON.stringify(event)}\n\n`;

const hasEnded = (run: Run, elapsed: number): boolean => elapsed >= (endOf(run)?.at ?? Infinity);

/** What a stream could say at once; faults are served with it. */
export function streamSoFar(run: Run, elapsed: number, from: number): Reply {
  const past = eventsOf(run).filter(({ at }) => at <= elapsed);
  const frames = past.slice(from).map(frame);
  return { status: 200, headers: HEADERS, frames: hasEnded(run, elapsed) ? [...frames, DONE] : frames };
}

export interface LiveStream {
  run: Run;
  runs: Runs;
  /** The place of its first event. */
  from: number;
  /** Virtual milliseconds after its opening. */
  cutMs: number;
  cut: StreamCut;
  /** It is cut after this many events, if it has not been before. */
  cutAfter: number;
  signal: AbortSignal;
  /** Called when the first events are on their way. */
  onOpen: () => void;
  onCut: () => void;
}

function endByCut(response: ServerResponse, { cut, onCut }: LiveStream): void {
  switch (cut) {
    case "end":
      response.end();
      return;
    case "unavailable":
      // Not an event at all: after ten minutes the body of an error stands between the events.
      response.end(
        '{\n  "error": {\n    "code": 503,\n    "message": "The service is currently unavailable.",\n    "status": "UNAVAILABLE"\n  }\n}\n',
      );
      return;
    case "error-array":
      // Not an event at all, but what Google's front end appends when a request has taken too long.
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

/** Until the time has come, something about the runs has changed, or the client is gone. */
function pause(ms: number, { runs, signal }: LiveStream): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      stopListening();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(Math.max(ms, 0), LONGEST_WAIT_MS));
    const stopListening = runs.onChange(done);
    signal.addEventListener("abort", done);
  });
}

export async function streamLive(response: ServerResponse, stream: LiveStream): Promise<void> {
  const { run, runs, signal, cutMs, cutAfter } = stream;
  const cutAt = runs.elapsed(run) + cutMs;
  let place = stream.from;
  let [events, cancelledAt] = [eventsOf(run), run.cancelledAt];
  response.writeHead(200, HEADERS);
  response.flushHeaders();
  while (!signal.aborted) {
    const elapsed = runs.elapsed(run);
    if (run.cancelledAt !== cancelledAt) [events, cancelledAt] = [eventsOf(run), run.cancelledAt];
    for (let next = events[place]; next !== undefined && next.at <= Math.min(elapsed, cutAt); next = events[place]) {
      const isFirst = place === stream.from;
      response.write(frame(next), (error) => {
        if (isFirst && error == null) stream.onOpen();
      });
      place += 1;
      if (place - stream.from >= cutAfter) return endByCut(response, stream);
    }
    // Deleted or expired: Google has nothing more to tell.
    if (runs.find(run.start.id) === undefined) return void response.end();
    if (hasEnded(run, Math.min(elapsed, cutAt))) return void response.end(DONE);
    if (elapsed >= cutAt) return endByCut(response, stream);
    const wakeAt = Math.min(events[place]?.at ?? Infinity, cutAt);
    await pause(Math.ceil((wakeAt - elapsed) / run.life.speed), stream);
  }
}
