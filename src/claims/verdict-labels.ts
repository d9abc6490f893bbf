/** Verdicts in words for people, the same on every surface. */

import type { Verdict } from "./evidence.ts";

export const VERDICT_LABELS: Record<Verdict, string> = {
  supported: "confirmed",
  weak: "partly confirmed",
  contradicted: "contradicted",
  unsupported: "not on the page",
  not_confirmed: "not found",
  unreadable: "unreadable",
  gone: "gone",
  unreachable: "unreachable",
  not_checked: "not checked",
};

/** What a verdict means, as a sentence. */
export const VERDICT_MEANINGS: Record<Verdict, string> = {
  supported: "A passage of the page says this.",
  weak: "A passage of the page says a part of this, or a weaker version.",
  contradicted: "A model read the page: it says something else.",
  unsupported: "A model read the page: it does not say this.",
  not_confirmed: "No passage with the same words and figures was found. The page may still say it in other words.",
  unreadable: "The page could not be read.",
  gone: "The page no longer exists.",
  unreachable: "The site did not answer.",
  not_checked: "The page was not checked.",
};
