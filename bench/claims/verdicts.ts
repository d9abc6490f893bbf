/** How often the comparison of a claim with a page's text is right, on labelled pairs. */

import { join } from "node:path";
import { comparePage } from "../../src/claims/compare-page.ts";
import type { Table } from "../report.ts";
import { type LabelledPair, pageOf, partOf, readPairs } from "./labelled-pairs.ts";
import { share } from "../wilson.ts";

/** Our own pairs, of which most are negatives. */
export const OWN_PAIRS = join(import.meta.dirname, "../data/labelled-pairs.json");

interface Judged extends LabelledPair {
  verdict: string;
}

function judge(pair: LabelledPair): Judged {
  const content = pageOf(pair);
  if (content.outcome !== "text") return { ...pair, verdict: content.outcome };
  return { ...pair, verdict: comparePage({ text: pair.claim, context: [], headings: [] }, content.page).verdict };
}

export interface VerdictCounts {
  /** Pairs whose page does not say it, and those of them that were called supported. */
  bad: number;
  falseAccepts: number;
  /** Called weak although the page does not say it. */
  weakOnBad: number;
  /** Pairs whose page can be read and says it at least in part, and those called contradicted, unsupported or gone. */
  good: number;
  accused: number;
  supported: number;
  recalled: number;
}

const count = (pairs: readonly Judged[], is: (pair: Judged) => boolean): number => pairs.filter(is).length;

const ACCUSATIONS = new Set(["contradicted", "unsupported", "gone", "unreadable"]);

function countsOf(pairs: readonly Judged[]): VerdictCounts {
  const isGood = ({ expected }: Judged): boolean => expected === "supported" || expected === "weak";
  const bad = pairs.filter((pair) => !isGood(pair));
  const good = pairs.filter(isGood);
  const supported = pairs.filter(({ expected }) => expected === "supported");
  return {
    bad: bad.length,
    falseAccepts: count(bad, ({ verdict }) => verdict === "supported"),
    weakOnBad: count(bad, ({ verdict }) => verdict === "weak"),
    good: good.length,
    accused: count(good, ({ verdict }) => ACCUSATIONS.has(verdict)),
    supported: supported.length,
    recalled: count(supported, ({ verdict }) => verdict === "supported"),
  };
}

export const verdictCounts = (pairs: readonly LabelledPair[]): VerdictCounts => countsOf(pairs.map(judge));

export interface VerdictOptions {
  set?: string | undefined;
  /** `tuned` or `unseen`; both if undefined. */
  part?: string | undefined;
}

/** Goals for pairs that were not used for tuning. */
const MAX_FALSE_ACCEPTS = 0.03;
const MIN_RECALL = 0.35;

export function verdicts({ set = OWN_PAIRS, part }: VerdictOptions): Table {
  const judged = readPairs(set)
    .filter((pair) => part === undefined || partOf(pair) === part)
    .map(judge);
  const all = countsOf(judged);
  const kinds = [...new Set(judged.map(({ kind }) => kind))].toSorted();
  const row = (name: string, counts: VerdictCounts): string[] => [
    name,
    share(counts.falseAccepts, counts.bad),
    share(counts.accused, counts.good),
    share(counts.recalled, counts.supported),
    String(counts.weakOnBad),
  ];
  const wrong = judged.filter(({ verdict, expected }) => verdict === "supported" && expected !== "supported");
  return {
    title: `Verdicts without a model, ${judged.length} pairs${part === undefined ? "" : ` (${part})`}`,
    columns: ["kind", "false accepts", "false accusations", "recall", "weak, not said"],
    rows: [row("all", all), ...kinds.map((kind) => row(kind, countsOf(judged.filter((pair) => pair.kind === kind))))],
    notes: [
      "Shares with Wilson intervals of 95 %. False accepts: called supported although the page does not say it. False accusations: called contradicted, unsupported, gone or unreadable although the page says it. Recall: called supported of those that are.",
      `Called supported wrongly: ${wrong.map(({ id, expected }) => `${id} (${expected})`).join(", ") || "none"}.`,
      ...(part === undefined
        ? ["The halves of a file: --part tuned and --part unseen, by the first byte of the SHA-256 of the id."]
        : []),
    ],
    passed: all.falseAccepts <= MAX_FALSE_ACCEPTS * all.bad && all.recalled >= MIN_RECALL * all.supported,
  };
}
