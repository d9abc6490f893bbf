/** What a run in progress is doing: phase, searches and sites so far, time, and the newest sites. */

import { activityCounts } from "../../../runs/activity/counts.ts";
import { durationText } from "../../../platform/duration.ts";
import type { RunLive } from "../../../operations/view/run-view.ts";
import { SourceLink } from "../report/sources.tsx";
import { useNow } from "../ui/parts.tsx";
import { elapsed } from "../ui/run-state.ts";

export function Activity({ run }: { run: RunLive }) {
  const now = useNow();
  const { activity } = run;
  if (activity === undefined) return null;
  return (
    <div class="activity stack tight">
      <p>
        <strong>{activity.phase}</strong>
        {[activityCounts(activity), `${durationText(elapsed(run, now))} so far`].map((part) =>
          part === undefined ? "" : ` · ${part}`,
        )}
      </p>
      {activity.latest_sites.length > 0 ? (
        <Sites {...activity} />
      ) : run.kind === "search" ? null : (
        <p class="quiet small">
          {run.kind === "agent"
            ? "Sites are listed as soon as Google names them."
            : "Sites are listed at the end of each round."}
        </p>
      )}
    </div>
  );
}

function Sites({ latest_sites: latest, sites }: NonNullable<RunLive["activity"]>) {
  const more = sites - latest.length;
  return (
    <ul class="row sites small" aria-label="Latest sites">
      {latest.map((site) => (
        <li key={site.url} dir="auto">
          <SourceLink source={site} />
          {site.domain === "" || site.domain === site.title ? null : <span class="quiet"> {site.domain}</span>}
        </li>
      ))}
      {more > 0 ? <li class="quiet">and {more} more</li> : null}
    </ul>
  );
}
