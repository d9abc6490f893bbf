/** One run: where it stands, what can be done about it, its report, and what happened. */

import { useRef, useState } from "preact/hooks";
import { Actions } from "./actions.tsx";
import { useLive } from "../live/live.ts";
import { Problem, useLoad } from "../ui/parts.tsx";
import { scrollOf } from "../report/jumps.ts";
import { ReportSection } from "../report/section.tsx";
import { RunFacts } from "./facts.tsx";
import { RunHead } from "./head.tsx";
import { type Looked, lookAt, useWatchedRun } from "../live/run-watch.ts";
import { TimelineList } from "../live/timeline-list.tsx";
import { useTitle } from "../app/title.ts";

export function RunView({ taskId }: { taskId: string }) {
  const { value, error, reload } = useLoad(taskId, (signal) => lookAt(taskId, signal));
  // Read before anything is drawn: a page that is still short cannot be scrolled to where the reader was.
  const [scroll] = useState(() => scrollOf(history.state));
  if (value !== undefined) return <WatchedRun first={value} scroll={scroll} />;
  return (
    <div class="run stack">
      <h1 tabIndex={-1}>Run</h1>
      {error === undefined ? (
        <p class="quiet" role="status">
          Loading the run…
        </p>
      ) : (
        <Unreachable error={error} back={reload} />
      )}
    </div>
  );
}

/** A server that was away tells when it is back. */
function Unreachable({ error, back }: { error: unknown; back: () => void }) {
  useLive({ hello: back });
  return (
    <>
      <Problem error={error} />
      <p>
        <a href="/">All runs</a>
      </p>
    </>
  );
}

function WatchedRun({ first, scroll }: { first: Looked; scroll: number | undefined }) {
  const { run, entries, lookAgain } = useWatchedRun(first);
  const timeline = useRef<HTMLElement>(null);
  // Whoever was here before the report is told of it, and keeps what is being read.
  const sawItWithout = useRef(!first.run.has_report);
  useTitle(run.query);
  return (
    <article class="run stack">
      <RunHead run={run} />
      <Actions run={run} done={lookAgain} />
      <RunFacts run={run} />
      {run.has_report ? (
        <ReportSection
          key={`${run.status} ${run.partial}`}
          taskId={run.task_id}
          isNew={sawItWithout.current}
          scroll={sawItWithout.current ? undefined : scroll}
          below={timeline}
        />
      ) : null}
      <TimelineList entries={entries} run={run} section={timeline} />
    </article>
  );
}
