/** The estimate of a research run: requested when typing pauses, shown before the start. */

import type { EstimateView } from "../../wire.ts";
import { postJson } from "../app/request.ts";
import { durationText } from "../../../platform/duration.ts";
import { announce, Problem, useLoad } from "../ui/parts.tsx";
import { money, rangeText } from "../ui/format.ts";
import { attachmentProblem } from "./fields.tsx";
import { type Draft, draftProblem, estimateKey, isSearch } from "./draft.ts";

const TYPING_PAUSE_MS = 500;

export interface Estimating {
  /** For the current question and agent; undefined while unknown. */
  estimate: EstimateView | undefined;
  /** The previous estimate, so that the card does not flicker. */
  last: EstimateView | undefined;
  error: unknown;
  retry: () => void;
}

/** `forceNew`: the estimate of a second start, which needs confirmation even if joining a run would not. */
export function useEstimate(
  draft: Draft,
  { files, forceNew }: { files: readonly File[]; forceNew: boolean },
): Estimating {
  const isPossible = draftProblem(draft) === undefined && !isSearch(draft) && attachmentProblem(files) === undefined;
  const key = isPossible ? `${estimateKey(draft, files)} ${forceNew}` : "";
  const { value, last, error, loading, reload } = useLoad(key, async (signal) => {
    if (!isPossible) return undefined;
    await new Promise((resolve) => setTimeout(resolve, TYPING_PAUSE_MS));
    signal.throwIfAborted();
    const estimate = await postJson<EstimateView>("/api/estimate", {
      ...draft.wishes,
      query: draft.query.trim(),
      model: draft.depth,
      max_wait_hours: draft.hours,
      force_new: forceNew,
      plan: draft.plan,
      attachments: files.map(({ name, size }) => ({ name, bytes: size })),
    });
    signal.throwIfAborted();
    announce(`Estimate: ${estimateText(estimate)}.`);
    return estimate;
  });
  // One that is requested again may have another question to confirm.
  return { estimate: loading ? undefined : value, last, error: loading ? undefined : error, retry: reload };
}

const MINUTE_MS = 60_000;

const minutesText = (minutes: number): string => durationText(minutes * MINUTE_MS);

const estimateText = ({ estimated_cost: cost, estimated_duration: duration }: EstimateView): string =>
  `about ${money(cost.likely_usd)}, about ${minutesText(duration.likely_minutes)}`;

/** The likely cost and time in a line. */
export function EstimateLine({ estimate, last, error, retry }: Estimating) {
  const shown = estimate ?? last;
  return (
    <section class="estimate" aria-label="Estimate" aria-busy={estimate === undefined}>
      <Problem error={error}>
        <button type="button" class="button small" onClick={retry}>
          Estimate again
        </button>
      </Problem>
      {shown === undefined ? null : <Figures {...shown} />}
    </section>
  );
}

function Figures({ estimated_cost: cost, estimated_duration: duration, recommendation }: EstimateView) {
  const costs = rangeText(money(cost.min_usd), money(cost.max_usd));
  const times = rangeText(minutesText(duration.min_minutes), minutesText(duration.max_minutes));
  return (
    <details>
      <summary>
        About <strong>{money(cost.likely_usd)}</strong>
        {costs === undefined ? "" : ` (${costs})`} and <strong>{minutesText(duration.likely_minutes)}</strong>
        {times === undefined ? "" : ` (${times})`}
      </summary>
      <p class="small quiet">{recommendation}</p>
    </details>
  );
}
