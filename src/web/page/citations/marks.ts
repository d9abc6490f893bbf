/** Marks the citations in the text with their verdicts: beside the text, which stays as it was received. */

import { VERDICT_LABELS } from "../../../claims/evidence.ts";
import type { CitationsView } from "../../wire-citations.ts";
import { citedSentence } from "../report/sentence.ts";
import { pairFor } from "./match.ts";
import { verdictShape } from "./verdict.tsx";

/** Again after each check, and after further parts of a long report were loaded. */
export function markCitations(body: HTMLElement, view: CitationsView, numberOf: (shown: number) => number | undefined) {
  for (const citation of body.querySelectorAll<HTMLAnchorElement>(".cite a")) {
    const shown = Number(/\d+/.exec(citation.firstChild?.textContent ?? "")?.[0]);
    const source = numberOf(shown);
    const found = source === undefined ? undefined : pairFor(view, source, citedSentence(citation));
    const verdict = found?.pair.verdict;
    if (verdict === undefined || verdict === "not_checked") {
      delete citation.dataset["verdict"];
      delete citation.dataset["shape"];
      continue;
    }
    citation.dataset["verdict"] = verdict;
    citation.dataset["shape"] = verdictShape(verdict);
    citation.title = VERDICT_LABELS[verdict];
  }
}
