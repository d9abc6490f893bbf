/** Compares an extracted answer with the expected one. */

import { isDeepStrictEqual } from "node:util";

import type { ResearchAnswer } from "../../src/search/schemas.ts";
import type { CorpusCase, ExpectedAnswer } from "./corpus-case.ts";

/** The first three verdicts are for outputs with an answer, the last two for outputs without one. */
export type Verdict = "recovered" | "wrong" | "nothing" | "rejected" | "false accept";

interface Comparable extends Omit<ExpectedAnswer, "verified" | "report"> {
  verified?: boolean | undefined;
  report?: string | undefined;
}

export function judge(item: CorpusCase, answer: ResearchAnswer | undefined): Verdict {
  if (item.expected === null) return answer === undefined ? "rejected" : "false accept";
  if (answer === undefined) return "nothing";
  const { expected } = item;
  const got = asExpected(answer);
  const readings = [expected.report, item.alsoFaithful ?? expected.report];
  return readings.some((report) => isDeepStrictEqual(got, asComparable({ ...expected, report })))
    ? "recovered"
    : "wrong";
}

export function asExpected(answer: ResearchAnswer): ExpectedAnswer {
  return asComparable({
    success: answer.success,
    verified: answer.verified,
    report: answer.report,
    sources_visited: answer.metadata.sources_visited,
    search_queries_used: answer.metadata.search_queries_used,
  });
}

/** An absent field equals `undefined`. */
function asComparable(fields: Comparable): ExpectedAnswer {
  const { success, verified, report, sources_visited, search_queries_used } = fields;
  return {
    success,
    ...(verified === undefined ? {} : { verified }),
    ...(report === undefined ? {} : { report }),
    sources_visited,
    search_queries_used,
  };
}
