/** What a research will probably take and cost: asked for when the typing pauses, shown before anything can start. */

import { useEffect, useState } from "preact/hooks";
import type { EstimateView } from "../../wire.ts";
import { tell } from "../app/request.ts";
import { announce, minutes, money, Problem } from "../ui/parts.tsx";
import { type Draft, estimateKey, objection } from "./draft.ts";

const PAUSE_MS = 500;

export interface Estimating {
  /** Of this very question and agent; nothing while that is not known. */
  estimate: EstimateView | undefined;
  /** What was last known, so that the card does not flicker. */
  last: EstimateView | undefined;
  error: unknown;
  again: () => void;
}

interface Answer {
  key: string;
  estimate?: EstimateView;
  error?: unknown;
}

/** `forceNew`: of another start beside one that is there, which is asked about even where joining would not be. */
export function useEstimate(draft: Draft, { forceNew }: { forceNew: boolean }): Estimating {
  const [answer, setAnswer] = useState<Answer>();
  const [last, setLast] = useState<EstimateView>();
  const [times, setTimes] = useState(0);
  const key = `${estimateKey(draft)} ${forceNew}`;
  const possible = objection(draft) === undefined;
  useEffect(() => {
    if (!possible) return undefined;
    let current = true;
    const ask = (): void => {
      const { model, hours } = draft;
      const start = { query: draft.query.trim(), model, max_wait_hours: hours, force_new: forceNew };
      tell<EstimateView>("/api/estimate", start).then(
        (estimate) => {
          if (!current) return;
          setAnswer({ key, estimate });
          setLast(estimate);
          announce(`Estimate: ${inWords(estimate)}.`);
        },
        (error: unknown) => {
          if (current) setAnswer({ key, error });
        },
      );
    };
    const timer = setTimeout(ask, PAUSE_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [key, possible, times]);
  const fits = possible && answer?.key === key;
  return {
    estimate: fits ? answer.estimate : undefined,
    last: possible ? last : undefined,
    error: fits ? answer.error : undefined,
    again: () => {
      setAnswer(undefined);
      setTimes((before) => before + 1);
    },
  };
}

const MINUTE_MS = 60_000;

const inWords = ({ estimated_cost: cost, estimated_duration: duration }: EstimateView): string =>
  `about ${money(cost.likely_usd)}, about ${minutes(duration.likely_minutes * MINUTE_MS)}`;

const COMPLEXITIES: Record<string, string> = { simple: "Simple", medium: "Medium", complex: "Complex" };

export function EstimateCard({ estimate, last, error, again }: Estimating) {
  const shown = estimate ?? last;
  return (
    <section class="card stack estimate" aria-labelledby="estimate-title" aria-busy={estimate === undefined}>
      <h2 id="estimate-title">Estimate</h2>
      {error === undefined ? null : (
        <Problem error={error}>
          <button type="button" class="button small" onClick={again}>
            Estimate again
          </button>
        </Problem>
      )}
      {shown === undefined ? (
        <p class="quiet">What it will probably cost and take appears here, before anything is started.</p>
      ) : (
        <Figures {...shown} />
      )}
    </section>
  );
}

const Figures = ({
  estimated_cost: cost,
  estimated_duration: duration,
  query_complexity: complexity,
  recommendation,
}: EstimateView) => (
  <>
    <dl>
      <div>
        <dt>Cost</dt>
        <dd>
          <strong>about {money(cost.likely_usd)}</strong>
          <span class="quiet">
            {money(cost.min_usd)} to {money(cost.max_usd)}
          </span>
        </dd>
      </div>
      <div>
        <dt>Time</dt>
        <dd>
          <strong>about {minutes(duration.likely_minutes * MINUTE_MS)}</strong>
          <span class="quiet">
            {minutes(duration.min_minutes * MINUTE_MS)} to {minutes(duration.max_minutes * MINUTE_MS)}
          </span>
        </dd>
      </div>
      <div>
        <dt>Question</dt>
        <dd>
          <strong>{COMPLEXITIES[complexity] ?? complexity}</strong>
        </dd>
      </div>
    </dl>
    <details class="small">
      <summary>Where this comes from</summary>
      <p>{recommendation}</p>
    </details>
  </>
);
