/** The estimate of a research run: requested when typing pauses, shown before the start. */

import { useEffect, useState } from "preact/hooks";
import type { EstimateView } from "../../prices.ts";
import { postJson } from "../app/request.ts";
import { durationText } from "../../../platform/duration.ts";
import { announce, Problem } from "../ui/parts.tsx";
import { money, rangeText } from "../ui/amounts.ts";
import { withoutNames } from "../ui/plain-words.ts";
import { attachmentProblem } from "./attachments.tsx";
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

interface Answer {
  key: string;
  estimate?: EstimateView;
  error?: unknown;
}

/** `forceNew`: the estimate of a second start, which needs confirmation even if joining a run would not. */
export function useEstimate(
  draft: Draft,
  { files, forceNew }: { files: readonly File[]; forceNew: boolean },
): Estimating {
  const [answer, setAnswer] = useState<Answer>();
  const [last, setLast] = useState<EstimateView>();
  const [times, setTimes] = useState(0);
  const key = `${estimateKey(draft, files)} ${forceNew}`;
  const possible = draftProblem(draft) === undefined && !isSearch(draft) && attachmentProblem(files) === undefined;
  useEffect(() => {
    if (!possible) return undefined;
    let current = true;
    const request = (): void => {
      const { depth: model, hours } = draft;
      const attachments = files.map(({ name, size }) => ({ name, bytes: size }));
      const start = {
        ...draft.wishes,
        query: draft.query.trim(),
        model,
        max_wait_hours: hours,
        force_new: forceNew,
        plan: draft.plan,
        attachments,
      };
      postJson<EstimateView>("/api/estimate", start).then(
        (estimate) => {
          if (!current) return;
          setAnswer({ key, estimate });
          setLast(estimate);
          announce(`Estimate: ${estimateText(estimate)}.`);
        },
        (error: unknown) => {
          if (current) setAnswer({ key, error });
        },
      );
    };
    const timer = setTimeout(request, TYPING_PAUSE_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [key, possible, times]);
  const isCurrent = possible && answer?.key === key;
  return {
    estimate: isCurrent ? answer.estimate : undefined,
    last: possible ? last : undefined,
    error: isCurrent ? answer.error : undefined,
    retry: () => {
      setAnswer(undefined);
      setTimes((before) => before + 1);
    },
  };
}

const MINUTE_MS = 60_000;

const minutesText = (minutes: number): string => durationText(minutes * MINUTE_MS);

const estimateText = ({ estimated_cost: cost, estimated_duration: duration }: EstimateView): string =>
  `about ${money(cost.likely_usd)}, about ${minutesText(duration.likely_minutes)}`;

const COMPLEXITIES: Record<string, string> = { simple: "Simple", medium: "Medium", complex: "Complex" };

export function EstimateCard({ estimate, last, error, retry }: Estimating) {
  const shown = estimate ?? last;
  return (
    <section class="card stack estimate" aria-labelledby="estimate-title" aria-busy={estimate === undefined}>
      <h2 id="estimate-title">Estimate</h2>
      {error === undefined ? null : (
        <Problem error={error}>
          <button type="button" class="button small" onClick={retry}>
            Estimate again
          </button>
        </Problem>
      )}
      {shown === undefined ? (
        <p class="quiet">The likely cost and duration appear here before you start.</p>
      ) : (
        <Figures {...shown} />
      )}
    </section>
  );
}

const Range = ({ text }: { text: string | undefined }) =>
  text === undefined ? null : <span class="quiet">{text}</span>;

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
          <Range text={rangeText(money(cost.min_usd), money(cost.max_usd))} />
        </dd>
      </div>
      <div>
        <dt>Time</dt>
        <dd>
          <strong>about {minutesText(duration.likely_minutes)}</strong>
          <Range text={rangeText(minutesText(duration.min_minutes), minutesText(duration.max_minutes))} />
        </dd>
      </div>
      <div>
        <dt>Complexity</dt>
        <dd>
          <strong>{COMPLEXITIES[complexity] ?? complexity}</strong>
        </dd>
      </div>
    </dl>
    <details class="small">
      <summary>How this is estimated</summary>
      <p>{withoutNames(recommendation)}</p>
    </details>
  </>
);
