/** The head of a run: question, state, progress, what it is doing, cost, and warnings. */

import type { RunLive } from "../../../operations/view/run-view.ts";
import {
  costRemark,
  durationOf,
  elapsed,
  exactTime,
  isUnfinished,
  kindName,
  markedMoney,
  money,
} from "../ui/format.ts";
import { Age, ProgressBar, Status, TimeLeft, useNow } from "../ui/parts.tsx";
import { activityCounts } from "../../../runs/activity/time-left.ts";
import { durationText } from "../../../platform/duration.ts";
import { SourceLink } from "../report/sources.tsx";

const MAX_TITLE_CHARACTERS = 240;

export function RunHead({ run }: { run: RunLive }) {
  const took = durationOf(run);
  return (
    <header class="run-head stack tight">
      <Question run={run} />
      <p class="on-paper" dir="auto">
        {run.title === undefined ? "" : `${run.query} · `}
        {exactTime(run.completed_at ?? run.created_at)}
      </p>
      <div class="row run-line">
        <Status status={run.status} />
        <span>{kindName(run)}</span>
        <span>
          <Age at={run.created_at} />
          {took === undefined ? "" : ` · ${took}`}
        </span>
        <Cost run={run} />
        {run.partial === true ? <span class="badge partial">Partial report</span> : null}
        {run.archived === true ? <span class="badge">Archived</span> : null}
      </div>
      {run.note_of_user === undefined ? null : (
        <p class="note-of-user small" dir="auto">
          {run.note_of_user}
        </p>
      )}
      <Activity run={run} />
      <Warnings run={run} />
    </header>
  );
}

/** The heading: the title and, until there is a report, the question; the details have all of it. */
function Question({ run: { title, query, has_report: hasReport } }: { run: RunLive }) {
  const shown = query.length > MAX_TITLE_CHARACTERS ? `${query.slice(0, MAX_TITLE_CHARACTERS).trimEnd()}…` : query;
  return (
    <>
      <h1 tabIndex={-1} dir="auto">
        {title ?? shown}
      </h1>
      {title === undefined || hasReport ? null : (
        <p class="asked quiet" dir="auto">
          {shown}
        </p>
      )}
    </>
  );
}

function Cost({ run }: { run: RunLive }) {
  const { cost_usd: cost, estimate = {}, usage_final } = run;
  const { min_usd: min, max_usd: max } = estimate;
  const likely = estimate.likely_usd ?? run.estimated_usd;
  const bounds = [min, max].filter((bound) => bound !== undefined).map(money);
  const range = new Set(bounds).size < 2 ? undefined : bounds.join("–");
  const estimated =
    likely === undefined || usage_final ? undefined : `estimated ${money(likely)}${range ? ` (${range})` : ""}`;
  const spent = cost === undefined ? undefined : `${markedMoney(cost, run)}${usage_final ? "" : " so far"}`;
  if (spent === undefined && estimated === undefined) return null;
  return (
    <span>
      {spent === undefined ? null : <strong title={costRemark(run)}>{spent}</strong>}
      {spent === undefined || estimated === undefined ? "" : ", "}
      {estimated}
    </span>
  );
}

function Warnings({ run }: { run: RunLive }) {
  const { error, backup_file, cancel_requested_at, stalled_since } = run;
  return (
    <>
      {stalled_since === undefined || !isUnfinished(run.status) ? null : (
        <div class="notice warn">
          <p>
            Last update <Age at={stalled_since} />. It may be stuck.
          </p>
          <p class="suggestion">We keep checking. You can wait, or cancel it.</p>
        </div>
      )}
      {cancel_requested_at === undefined || !isUnfinished(run.status) ? null : (
        <div class="notice warn">
          <p>
            Cancellation requested <Age at={cancel_requested_at} />; it stops as soon as possible.
          </p>
        </div>
      )}
      {error === undefined ? null : (
        <div class={run.status === "failed" ? "notice bad" : "notice warn"}>
          <p>{error.message}</p>
          {error.suggestion === undefined ? null : <p class="suggestion">{error.suggestion}</p>}
        </div>
      )}
      {backup_file === undefined ? null : (
        <div class="notice warn">
          <p>
            The report could not be written to the database; it was saved as <code>{backup_file}</code>.
          </p>
        </div>
      )}
    </>
  );
}

function Activity({ run }: { run: RunLive }) {
  const now = useNow(1_000);
  const { activity } = run;
  if (!isUnfinished(run.status)) return null;
  const found = activity && activityCounts(activity);
  return (
    <div class="activity progress stack tight">
      <ProgressBar run={run} />
      <p>
        <strong>{activity?.phase ?? run.current_action}</strong>
        {found === undefined ? "" : ` · ${found}`}
        {` · ${durationText(elapsed(run, now))} so far`}
        <TimeLeft run={run} />
      </p>
      {activity === undefined ? null : activity.latest_sites.length > 0 ? (
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
