/** A verdict as people see it: a word and a shape, the passage that decided, and when the page was checked. */

import { saysInstead, verdictLabel, VERDICT_MEANINGS } from "../../../claims/evidence.ts";
import type { CheckedSource, CitedPairView } from "../../wire.ts";
import { Age } from "../ui/parts.tsx";

type Verdict = CitedPairView["verdict"];

/** A shape besides the colour. */
const SHAPES: Record<Verdict, string> = {
  confirmed: "✓",
  likely: "≈",
  conflict: "≠",
  not_found: "?",
  unreadable: "–",
  gone: "✗",
  unreachable: "–",
  not_checked: "",
};

export const verdictShape = (verdict: Verdict): string => SHAPES[verdict];

export function VerdictBadge({ verdict }: { verdict: Verdict }) {
  return (
    <span class="badge verdict" data-verdict={verdict} title={VERDICT_MEANINGS[verdict]}>
      {SHAPES[verdict] === "" ? null : <span aria-hidden="true">{SHAPES[verdict]} </span>}
      {verdictLabel(verdict)}
    </span>
  );
}

/** What the page says about the sentence. */
export function PairDetails({ pair }: { pair: CitedPairView }) {
  const { verdict, reason, passage, page_says: says, checked_at: at, judged = false, probability, kind } = pair;
  const by = kind === "read" ? "Read by Gemini" : "Checked";
  return (
    <div class="pair stack tight small">
      <p>
        <VerdictBadge verdict={verdict} />{" "}
        {says === undefined ? (
          <span class="quiet">{reason ?? VERDICT_MEANINGS[verdict]}</span>
        ) : (
          <strong class="says" dir="auto">
            {saysInstead(says)}
          </strong>
        )}
      </p>
      {passage === undefined ? null : (
        <blockquote dir="auto">
          <span class="unseen">The page says: </span>
          {passage}
        </blockquote>
      )}
      {at === undefined ? null : (
        <p class="quiet">
          {by} <Age at={at} />
          {judged && probability !== undefined
            ? ` · a model finds it ${Math.round(probability * 100)} % likely that the page says this`
            : ""}
          {pair.by_google === true ? " · Google attaches this source to the sentence" : ""}
        </p>
      )}
    </div>
  );
}

const OUTCOMES: Record<NonNullable<CheckedSource["outcome"]>, string> = {
  text: "Page read",
  unreadable: "Unreadable",
  gone: "Page gone",
  unreachable: "No answer",
  not_checked: "Not checked",
};

/** Health of a link, and what the page says about itself. */
export function SourceFacts({ source }: { source: CheckedSource }) {
  const { outcome, reason, checked_at: at, published, author, link_expires: expires } = source;
  const facts = [
    author,
    published?.slice(0, 10),
    outcome === undefined ? undefined : `${OUTCOMES[outcome]}${reason === undefined ? "" : `: ${reason}`}`,
    outcome === undefined && expires !== undefined ? `Google's link expires on ${expires}` : undefined,
  ].filter((fact) => fact !== undefined && fact !== "");
  if (facts.length === 0) return null;
  return (
    <p class="quiet small" data-outcome={outcome}>
      {facts.join(" · ")}
      {at === undefined ? null : (
        <>
          {" "}
          · <Age at={at} />
        </>
      )}
    </p>
  );
}
