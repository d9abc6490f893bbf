/** What a run in progress is doing: phase, searches and sites so far, time, and the newest sites. */

import { activityCounts } from "../../../runs/activity/counts.ts";
import { durationText } from "../../../platform/duration.ts";
import type { RunLive } from "../../../operations/view/run-view.ts";
import { useNow } from "../ui/parts.tsx";

export function Activity({ run }: { run: RunLive }) {
  const now = useNow();
  const { activity } = run;
  if (activity === undefined) return null;
  const elapsed = durationText(now - Date.parse(run.started_at ?? run.created_at));
  return (
    <div class="activity stack tight">
      <p>
        <strong>{activity.phase}</strong>
        {[activityCounts(activity), `${elapsed} so far`].map((part) => (part === undefined ? "" : ` · ${part}`))}
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
      {latest.map(({ url, title, domain }) => (
        <li key={url}>
          <a href={url} target="_blank" rel="noopener noreferrer nofollow" referrerpolicy="no-referrer" dir="auto">
            {title}
          </a>
          {domain === "" || domain === title ? null : <span class="quiet"> {domain}</span>}
        </li>
      ))}
      {more > 0 ? <li class="quiet">and {more} more</li> : null}
    </ul>
  );
}
