/** How often the comparison of claims with pages is right: on public collections, our own traps, and changed claims. */

import { join } from "node:path";
import { comparePage } from "../../src/claims/compare-page.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import type { Table } from "../report.ts";
import { share } from "../wilson.ts";
import { type ChangedClaim, changedClaims, isSaidInOneSentence, pageSentences } from "./changes.ts";
import {
  type Collection,
  isForFitting,
  type LabelledClaim,
  missingCollections,
  readCollections,
  readOwnFormat,
} from "./collections.ts";

/** Our own pairs, of which most are traps: false in one word, and otherwise in the words of the page. */
export const OWN_SETS = ["labelled-pairs", "held-out-pairs-1", "held-out-pairs-2"];
const fileOf = (name: string): string => join(import.meta.dirname, `../data/${name}.json`);
export const ownSet = (name: string): Collection => ({ name, claims: readOwnFormat(fileOf(name)) });

export interface VerdictOptions {
  /** A file of pairs instead of all collections. */
  set?: string | undefined;
  /** Further directories with public collections. */
  collections?: readonly string[] | undefined;
  /** Measure the judge instead; it costs money, so nothing is sent without `yes`. */
  judge?: boolean | undefined;
  yes?: boolean | undefined;
}

const CHANGED_CLAIMS = 200;

interface Compared extends LabelledClaim {
  verdict: string;
  passage: string;
}

function compare<Claim extends LabelledClaim>(claim: Claim): Claim & Compared {
  const { verdict, passage = "" } = comparePage({ text: claim.claim, context: [] }, claim.page);
  return { ...claim, verdict, passage };
}

export interface VerdictCounts {
  notSaid: number;
  wronglyConfirmed: number;
  wronglyLikely: number;
  said: number;
  confirmed: number;
  likely: number;
  wronglyInConflict: number;
  /** Not said and in conflict: rightly, if the page is about the same thing, which no label says. */
  inConflict: number;
}

export const verdictCounts = (claims: readonly LabelledClaim[]): VerdictCounts => countsOf(claims.map(compare));

function countsOf(compared: readonly Compared[]): VerdictCounts {
  const count = (label: LabelledClaim["label"], verdict?: string): number =>
    compared.filter((each) => each.label === label && (verdict === undefined || each.verdict === verdict)).length;
  return {
    notSaid: count("not said"),
    wronglyConfirmed: count("not said", "confirmed"),
    wronglyLikely: count("not said", "likely"),
    said: count("said"),
    confirmed: count("said", "confirmed"),
    likely: count("said", "likely"),
    wronglyInConflict: count("said", "conflict"),
    inConflict: count("not said", "conflict"),
  };
}

const COLUMNS = [
  "claims",
  "false accepts: confirmed",
  "false accepts: likely",
  "said: confirmed",
  "said: likely",
  "said: in conflict",
  "not said: in conflict",
];

const rowOf = (name: string, counts: VerdictCounts): string[] => [
  name,
  share(counts.wronglyConfirmed, counts.notSaid),
  share(counts.wronglyLikely, counts.notSaid),
  share(counts.confirmed, counts.said),
  share(counts.likely, counts.said),
  share(counts.wronglyInConflict, counts.said),
  share(counts.inConflict, counts.notSaid),
];

interface ChangeCounts {
  changed: number;
  confirmed: number;
  likely: number;
  /** In conflict with the passage that has what the claim said before. */
  found: number;
}

function changeCounts(claims: readonly ChangedClaim[]): ChangeCounts {
  const compared = claims.map(compare);
  return {
    changed: compared.length,
    confirmed: compared.filter(({ verdict }) => verdict === "confirmed").length,
    likely: compared.filter(({ verdict }) => verdict === "likely").length,
    found: compared.filter(({ verdict, passage, original }) => verdict === "conflict" && passage.includes(original))
      .length,
  };
}

const changedRow = (name: string, { changed, confirmed, likely, found }: ChangeCounts): string[] => [
  name,
  share(confirmed, changed),
  share(likely, changed),
  "–",
  "–",
  "–",
  `with the right passage: ${share(found, changed)}`,
];

interface Goal {
  name: string;
  /** Undefined where the collection that it is about is missing. */
  isMet: boolean | undefined;
}

const MAX_FALSE_ACCEPTS = 0.03;
const MIN_RECALL = 0.4;
const MIN_FOUND = 0.8;
const MAX_FALSE_CONFLICTS = 0.02;
const SEARCH_CITATIONS = "Stanford-GenSearch";
/** The parts of its development file. */
const ATTRIBUTION_BENCH = [SEARCH_CITATIONS, "AttributedQA", "ExpertQA", "LFQA"];

function acceptGoals(counts: VerdictCounts | undefined): Goal[] {
  return [
    {
      name: "search citations: at least 40 % confirmed or likely",
      isMet: counts && counts.confirmed + counts.likely >= MIN_RECALL * counts.said,
    },
    {
      name: "search citations: at most 3 % false accepts",
      isMet: counts && counts.wronglyConfirmed + counts.wronglyLikely <= MAX_FALSE_ACCEPTS * counts.notSaid,
    },
  ];
}

export async function verdicts(
  { set, collections: directories, judge, yes }: VerdictOptions,
  environment = readEnvironment(),
): Promise<Table | undefined> {
  const missing = set === undefined ? missingCollections(directories) : [];
  const given = set === undefined ? readCollections(directories) : [{ name: set, claims: readOwnFormat(set) }];
  // JNLI was not used for fitting at all.
  const unfitted = given.map(({ name, claims }) => ({
    name,
    claims: set !== undefined || name === "JNLI" ? claims : claims.filter((claim) => !isForFitting(claim)),
  }));
  if (judge === true) {
    const { judgeBench } = await import("./judge.ts");
    // No part of it was used for fitting the judge. Another file is named with --set.
    const judged = given.filter(({ name }) => set !== undefined || ATTRIBUTION_BENCH.includes(name));
    if (judged.length === 0) {
      console.error("The judge is measured on AttributionBench (--collections), or on a file that --set names.");
      process.exitCode = 1;
      return undefined;
    }
    const claims = judged.flatMap((collection) => collection.claims);
    return judgeBench(
      claims.map(({ claim, page, label }) => ({ claim, page, isSaid: label === "said" })),
      { yes },
      environment,
    );
  }
  const measured = [...unfitted, ...(set === undefined ? OWN_SETS.map(ownSet) : [])].map(({ name, claims }) => ({
    name,
    counts: verdictCounts(claims),
  }));
  const prose = unfitted.filter(({ name }) => name !== "JNLI").flatMap(({ claims }) => claims);
  const sentences = pageSentences(prose);
  const ofSentences = changeCounts(changedClaims(sentences, CHANGED_CLAIMS));
  const changed = changedClaims(
    prose.filter(({ label }) => label === "said"),
    CHANGED_CLAIMS,
  );
  const ofClaims = changeCounts(changed);
  const ofOneSentence = changeCounts(changed.filter(isSaidInOneSentence));
  const unchanged = verdictCounts(sentences);
  const countsFor = (name: string): VerdictCounts | undefined => measured.find((each) => each.name === name)?.counts;
  const isMetOn = (name: string): boolean | undefined => {
    const counts = countsFor(name);
    return counts && counts.wronglyConfirmed === 0;
  };
  const ifProse = (isMet: boolean): boolean | undefined => (prose.length === 0 ? undefined : isMet);
  const alarms = [unchanged, ...measured.filter(({ name }) => name !== "JNLI").map(({ counts }) => counts)];
  const goals: Goal[] = [
    ...acceptGoals(countsFor(SEARCH_CITATIONS)),
    ...OWN_SETS.map((name) => ({ name: `confirmed alone: no false accepts, ${name}`, isMet: isMetOn(name) })),
    { name: "confirmed alone: no false accepts in Japanese", isMet: isMetOn("JNLI") },
    {
      name: "changed sentences: at least 80 % in conflict",
      isMet: ifProse(ofSentences.found >= MIN_FOUND * ofSentences.changed),
    },
    {
      name: "changed claims of people: at least 80 % in conflict",
      isMet: ifProse(ofClaims.found >= MIN_FOUND * ofClaims.changed),
    },
    {
      name: "unchanged sentences and claims: at most 2 % in conflict",
      isMet: ifProse(alarms.every(({ wronglyInConflict, said }) => wronglyInConflict <= MAX_FALSE_CONFLICTS * said)),
    },
  ];
  return {
    title: "Verdicts without a model",
    columns: COLUMNS,
    rows: [
      ...measured.map(({ name, counts }) => rowOf(name, counts)),
      ...(prose.length === 0
        ? []
        : [
            rowOf("Sentences of the pages", unchanged),
            changedRow(`${ofSentences.changed} of them, one figure, date or name changed`, ofSentences),
            changedRow(`${ofClaims.changed} claims that people call supported, changed`, ofClaims),
            changedRow(
              `${ofOneSentence.changed} of them, with half of their words in the sentence that has it`,
              ofOneSentence,
            ),
          ]),
    ],
    notes: [
      "Shares with Wilson intervals of 95 %, on the half of each public collection that was not used for fitting (by the first byte of the claim's SHA-256), on all of JNLI and of our own pairs. Partly supported claims are in neither column.",
      ...(missing.length === 0
        ? []
        : [
            `Not measured, because the file was not found: ${missing.join("; ")}. Put it into a directory, and name that with --collections.`,
          ]),
      ...goals.map(({ name, isMet }) => `${isMet === undefined ? "NOT MEASURED" : isMet ? "met" : "MISSED"}: ${name}.`),
    ],
    passed: goals.every(({ isMet }) => isMet !== false),
  };
}
