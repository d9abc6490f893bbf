/** Writes citations by byte offset into the text as `[cite: 1]`, for a reader that sees the text only. */

import { type ByteCitation, locateCitations } from "./positions.ts";

interface CitedReport {
  report: string;
  citations?: readonly ByteCitation[] | undefined;
}

/** A report without such citations is returned as it is. */
export function withCitationMarks({ report, citations = [] }: CitedReport): string {
  if (citations.length === 0) return report;
  const { text, positions } = locateCitations(report, citations);
  const byPosition = Map.groupBy(positions, ({ at }) => at);
  let marked = "";
  let copied = 0;
  for (const [at, cited] of byPosition) {
    const numbers = [...new Set(cited.map(({ n }) => n))];
    marked += `${text.slice(copied, at)} [cite: ${numbers.join(", ")}]`;
    copied = at;
  }
  return marked + text.slice(copied);
}
