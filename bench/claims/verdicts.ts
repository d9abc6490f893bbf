/** How often the comparison of a claim with a page's text is right, on labelled pairs. */

import { join } from "node:path";
import { comparePage } from "../../src/claims/compare-page.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import type { PageText } from "../../src/pages/page.ts";
import type { Table } from "../report.ts";
import { type LabelledPair, pageOf, partOf, readPairs } from "./labelled-pairs.ts";
import { share } from "../wilson.ts";

/** Our own pairs, of which most are negatives. */
export const OWN_PAIRS = join(import.meta.dirname, "../data/labelled-pairs.json");

interface Judged extends LabelledPair {
  verdict: string;
  /** The page, if it could be read. */
  page?: PageText;
}

function compare(pair: LabelledPair): Judged {
  const content = pageOf(pair);
  if (content.outcome !== "text") return { ...pair, verdict: content.outcome };
  const { page } = content;
  return { ...pair, page, verdict: comparePage({ text: pair.claim, context: [] }, page).verdict };
}

export interface VerdictCounts {
  /** Pairs whose page does not say it, and those of them that were called confirmed or likely. */
  bad: number;
  falseAccepts: number;
  /** Pairs whose page can be read and says it at least in part, and those called a conflict, gone or unreadable. */
  good: number;
  accused: number;
  supported: number;
  recalled: number;
}

const isAccepted = (verdict: string): boolean => verdict === "confirmed" || verdict === "likely";

const count = (pairs: readonly Judged[], is: (pair: Judged) => boolean): number => pairs.filter(is).length;

const ACCUSATIONS = new Set(["conflict", "gone", "unreadable"]);

function countsOf(pairs: readonly Judged[]): VerdictCounts {
  const isGood = ({ expected }: Judged): boolean => expected === "supported" || expected === "weak";
  const bad = pairs.filter((pair) => !isGood(pair));
  const good = pairs.filter(isGood);
  const supported = pairs.filter(({ expected }) => expected === "supported");
  return {
    bad: bad.length,
    falseAccepts: count(bad, ({ verdict }) => isAccepted(verdict)),
    good: good.length,
    accused: count(good, ({ verdict }) => ACCUSATIONS.has(verdict)),
    supported: supported.length,
    recalled: count(supported, ({ verdict }) => isAccepted(verdict)),
  };
}

export const verdictCounts = (pairs: readonly LabelledPair[]): VerdictCounts => countsOf(pairs.map(compare));

export interface VerdictOptions {
  set?: string | undefined;
  /** `tuned` or `unseen`; both if undefined. */
  part?: string | undefined;
  /** Measure the judge instead; it costs money, so nothing is sent without `yes`. */
  judge?: boolean | undefined;
  yes?: boolean | undefined;
}

/** Goals for pairs that were not used for tuning. A literal comparison misses the second, which stays red. */
const MAX_FALSE_ACCEPTS = 0.03;
const MIN_RECALL = 0.35;

export async function verdicts(
  { set = OWN_PAIRS, part, judge, yes }: VerdictOptions,
  environment = readEnvironment(),
): Promise<Table | undefined> {
  const compared = readPairs(set)
    .filter((pair) => part === undefined || partOf(pair) === part)
    .map(compare);
  if (judge !== true) return tableOf(compared, part);
  const { judgeBench } = await import("./judge.ts");
  const claims = compared.flatMap(({ claim, page, expected }) =>
    page === undefined ? [] : { claim, page, isSaid: expected === "supported" },
  );
  return judgeBench(claims, { yes }, environment);
}

function tableOf(judged: readonly Judged[], part: string | undefined): Table {
  const all = countsOf(judged);
  const kinds = [...new Set(judged.map(({ kind }) => kind))].toSorted();
  const row = (name: string, counts: VerdictCounts): string[] => [
    name,
    share(counts.falseAccepts, counts.bad),
    share(counts.accused, counts.good),
    share(counts.recalled, counts.supported),
  ];
  const wrong = judged.filter(({ verdict, expected }) => isAccepted(verdict) && expected !== "supported");
  return {
    title: `Verdicts without a model, ${judged.length} pairs${part === undefined ? "" : ` (${part})`}`,
    columns: ["kind", "false accepts", "false accusations", "recall"],
    rows: [row("all", all), ...kinds.map((kind) => row(kind, countsOf(judged.filter((pair) => pair.kind === kind))))],
    notes: [
      "Shares with Wilson intervals of 95 %. False accepts: called confirmed or likely although the page does not say it. False accusations: called a conflict, gone or unreadable although the page says it. Recall: called confirmed or likely of those that are supported.",
      `Called confirmed or likely wrongly: ${wrong.map(({ id, expected }) => `${id} (${expected})`).join(", ") || "none"}.`,
      ...(part === undefined
        ? ["The halves of a file: --part tuned and --part unseen, by the first byte of the SHA-256 of the id."]
        : []),
    ],
    passed: all.falseAccepts <= MAX_FALSE_ACCEPTS * all.bad && all.recalled >= MIN_RECALL * all.supported,
  };
}
