/** The view of one run: state, actions, report, and timeline. */

import { useEffect, useRef, useState } from "preact/hooks";
import { Actions } from "./actions.tsx";
import { Problem, useLoad } from "../ui/parts.tsx";
import { go, scrollOf, turnPath } from "../app/router.ts";
import { blocksOf, openPoints } from "../report/open-points.ts";
import { ReportSection } from "../report/section.tsx";
import { nameOf } from "../ui/format.ts";
import { RunFacts } from "./facts.tsx";
import { RunHead } from "./head.tsx";
import { type LoadedRun, loadRun, useWatchedRun } from "./watch.ts";
import { TimelineList } from "./timeline.tsx";
import { LazyView } from "../app/lazy-view.tsx";
import { Earlier, Later, NextQuestion, rootOf, useConversation } from "./conversation.tsx";
import { showTitle } from "../app/frame.tsx";
import { RefusedError } from "../app/request.ts";
import type { Refused } from "../../wire.ts";

const planSection = async () => (await import("./plan.tsx")).PlanSection;

export function RunView({ taskId, isAlone }: { taskId: string; isAlone: boolean }) {
  const { value, error } = useLoad(taskId, async (signal) => {
    const loaded = await loadRun(taskId, signal);
    return { loaded, root: isAlone ? undefined : await rootOf(loaded.run, signal) };
  });
  const { loaded, root } = value ?? {};
  useEffect(() => {
    if (root === undefined) return;
    // A position that was kept for this address belongs to no other.
    history.replaceState(null, "");
    go(turnPath(root, taskId), { replace: true });
  }, [root]);
  const isMissing = error instanceof RefusedError && error.code === "TASK_NOT_FOUND";
  // Read before the first rendering: a page that is still short cannot be scrolled.
  const [scroll] = useState(() => scrollOf(history.state));
  if (loaded !== undefined && root === undefined) return <WatchedRun first={loaded} scroll={scroll} />;
  return (
    <div class="run stack">
      <h1 tabIndex={-1}>{isMissing ? "Run not found" : "Run"}</h1>
      {error === undefined ? (
        <p class="quiet" role="status">
          Loading the run…
        </p>
      ) : (
        <>
          <Problem error={isMissing ? new RefusedError(NOT_FOUND) : error} />
          <p>
            <a href="/">All runs</a>
          </p>
        </>
      )}
    </div>
  );
}

/** The server's own words are for models. */
const NOT_FOUND: Refused = {
  success: false,
  error: {
    code: "TASK_NOT_FOUND",
    message: "There is no run at this address.",
    suggestion: "It may have been deleted, or belong to someone else or a different database.",
  },
};

function WatchedRun({ first, scroll }: { first: LoadedRun; scroll: number | undefined }) {
  const { run, entries, reload } = useWatchedRun(first);
  const timeline = useRef<HTMLElement>(null);
  // A user who opened the run before it had a report is notified of it, keeps the scroll position and what is unfolded.
  const hadNoReport = useRef(!first.run.has_report);
  const [suggestions, setSuggestions] = useState<string[]>([]);
  useEffect(() => showTitle(nameOf(run)), [nameOf(run)]);
  const plan = run.plan_turn === undefined ? null : <LazyView load={planSection} run={run} done={reload} />;
  const conversation = useConversation(run);
  return (
    <article class={run.has_report ? "run stack has-report" : "run stack"}>
      <RunHead run={run} />
      <Actions run={run} done={reload} />
      {run.has_report ? null : plan}
      {run.followup_context === undefined ? null : <Earlier run={run} />}
      {run.has_report ? (
        <ReportSection
          key={`${run.status} ${run.partial}`}
          taskId={run.task_id}
          isNew={hadNoReport.current}
          scroll={hadNoReport.current ? undefined : scroll}
          below={timeline}
          onShown={(text) => setSuggestions(openPoints(blocksOf(text)))}
        />
      ) : null}
      {run.has_report ? (
        <Later {...conversation} run={run} suggestions={suggestions} isReturning={scroll !== undefined} />
      ) : null}
      {run.has_report ? plan : null}
      <TimelineList entries={entries} run={run} section={timeline} isFolded={!hadNoReport.current} />
      <RunFacts run={run} />
      {run.has_report ? <NextQuestion {...conversation} /> : null}
    </article>
  );
}
