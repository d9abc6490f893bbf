/** Generates damaged answers from a seed, together with the expected result. */

import { JSON_SPELLING, joinTokens, writeTokens, type Layout, type WrittenToken } from "./answer-tokens.ts";
import { CORRUPTIONS, type Corruption, type Draft } from "./corruptions.ts";
import type { CorpusCase, ExpectedAnswer } from "./corpus-case.ts";
import { createRandom, type Random } from "./random.ts";
import { drawSoundAnswer } from "./sound-answers.ts";

const ORDERS: readonly Layout["order"][] = [
  ["success", "verified", "report", "metadata"],
  ["success", "verified", "report", "metadata"],
  ["verified", "success", "metadata", "report"],
];

export function generateCase(seed: number): CorpusCase {
  const random = createRandom(seed);
  const { schema, answer } = drawSoundAnswer(random);
  const layout = { pretty: random.next() < 0.6, order: random.pick(ORDERS) };
  const draft: Draft = {
    answer,
    tokens: writeTokens(answer, layout),
    spelling: { ...JSON_SPELLING },
    cut: "nowhere",
    wraps: [],
    preamble: "",
  };
  const chosen = chooseCorruptions(draft, random);
  for (const corruption of chosen) corruption.apply(draft, random);

  const { text, written } = joinTokens(draft.tokens, draft.spelling);
  const end = chooseEnd(draft, { text, written }, random);
  const body = draft.wraps.reduce((inner, wrap) => wrap(inner), text.slice(0, end));
  return {
    id: `generated-${seed}`,
    family: chosen.map(({ name }) => name).join(" + "),
    schema,
    output: putInto(draft, body, random),
    expected: expectedUpTo(draft, written, end),
  };
}

function chooseCorruptions(draft: Draft, random: Random): Corruption[] {
  const wanted = random.between(1, 2);
  const chosen: Corruption[] = [];
  // Cuts are drawn three times as often, because they are the most common damage and must never be accepted.
  const cuts = CORRUPTIONS.filter(({ name }) => name.startsWith("cut"));
  const pool = [...CORRUPTIONS, ...cuts, ...cuts];
  for (const corruption of random.sample(pool, pool.length)) {
    if (chosen.length === wanted) break;
    const clashes = chosen.some(({ kinds }) => kinds.some((kind) => corruption.kinds.includes(kind)));
    if (!clashes && (corruption.fits?.(draft) ?? true)) chosen.push(corruption);
  }
  // In the order of the list, because later corruptions wrap the output of earlier ones.
  return chosen.toSorted((a, b) => CORRUPTIONS.indexOf(a) - CORRUPTIONS.indexOf(b));
}

/** Chooses where the text is cut, never where a parser could take the cut for the end of the report. */
function chooseEnd(
  draft: Draft,
  { text, written }: { text: string; written: readonly WrittenToken[] },
  random: Random,
): number {
  if (draft.cut === "nowhere") return text.length;
  const at = written.findIndex(({ kind, field }) => kind === "string" && field === "report");
  const report = written[at];
  const nextKey = written.slice(at).find(({ field }) => field === "metadata");
  if (draft.cut === "after report" && nextKey) {
    const earliest = draft.spelling.rawQuotes ? nextKey.end : nextKey.start + 1;
    return random.between(earliest, text.length - 1);
  }
  if (report === undefined) throw new Error("a draft without a report");
  const ends = Array.from({ length: 20 }, () => random.between(report.start + 1, report.end - 2));
  // An unescaped quotation mark just before the end would be taken for the end of the report.
  const isClear = (end: number): boolean => /[\p{L}\p{N}]/u.test(text[end - 1] ?? "");
  return (draft.spelling.rawQuotes ? ends.find(isClear) : ends[0]) ?? report.start + 1;
}

function expectedUpTo(draft: Draft, written: readonly WrittenToken[], end: number): ExpectedAnswer | null {
  if (draft.cut === "in report") return null;
  const complete = (wanted: string): string[] =>
    written
      .filter(({ kind, field }) => kind === "string" && field === wanted)
      .filter((token) => token.end <= end)
      .map(({ text }) => text);
  return {
    ...draft.answer,
    sources_visited: complete("sources_visited"),
    search_queries_used: complete("search_queries_used"),
  };
}

const AROUND = [
  ["```json\n", "\n```"],
  ["```json\n", "\n```"],
  ["```JSON\n", "\n```"],
  ["```\n", "\n```"],
  ["~~~json\n", "\n~~~"],
  ["```json\n", ""],
  ["", ""],
  ["", ""],
] as const;

/** Surroundings of the JSON are drawn for every document and do not count as corruption. */
function putInto(draft: Draft, body: string, random: Random): string {
  const before = random.pick(["", "", "Here is the result:\n\n", "Loaded cached credentials.\n"]);
  const after = random.pick(["", "", "\n", "\n\nI hope this helps!"]);
  const [open, close] = random.pick(AROUND);
  // An interrupted stream ends there, unless the model itself closed the fence and stopped.
  const breaksOff = draft.cut !== "nowhere" && (close === "" || random.next() < 0.7);
  const staysOpen = open !== "" && close === "";
  const tail = breaksOff || staysOpen ? "" : close + after;
  return before + draft.preamble + open + body + tail;
}
