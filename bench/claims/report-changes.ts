/**
 * Pairs of reports with known changes: the sentences of three pages of the labelled pairs, and the same in another order
 * of their paragraphs, where figures, dates and names were changed, sentences left out, added or said in other words, with
 * a table and a list. Always the same.
 */

import { join } from "node:path";
import { compareReports } from "../../src/claims/compare-reports.ts";
import { splitClaims } from "../../src/claims/split-claims.ts";
import { share } from "../wilson.ts";
import type { Table } from "../report.ts";
import { figuresAndDates, namesIn, otherName, otherNumber, randomNumbers, type Spot } from "./changes.ts";
import { reworded, REWORDINGS } from "./rewordings.ts";
import { readPairs } from "./labelled-pairs.ts";

const FILE = join(import.meta.dirname, "../data/labelled-pairs.json");
const PAIRS = 50;
const SEED = 31;
const PAGES = 3;
const CHANGED = 4;
const LEFT_OUT = 2;

const MIN_FOUND = 0.9;
const MAX_FALSE = 0.05;

interface ReportPair {
  before: string;
  now: string;
  /** Sentences and rows of the newer report, with what was changed. */
  changed: Map<string, Spot["about"] | "row" | "labelled">;
  added: string[];
  gone: string[];
  /** Sentences of either that are in both. */
  same: Set<string>;
  /** Sentences that the newer report says in other words: how, and as which sentences. */
  reworded: Map<string, { kind: string; now: string[] }>;
}

const sentencesOf = (paragraph: string): string[] =>
  [...new Intl.Segmenter("en", { granularity: "sentence" }).segment(paragraph)].map(({ segment }) => segment.trim());

/** The paragraphs of each page, as sentences. */
const pages: string[][][] = [
  ...new Set(
    readPairs(FILE).flatMap(({ page_lang, page_text }) =>
      page_lang === "en" && page_text !== undefined ? page_text : [],
    ),
  ),
]
  .filter((text) => text.length > 400)
  .map((text) => text.split("\n").map(sentencesOf));

export function reportPairs(count = PAIRS): ReportPair[] {
  const random = randomNumbers(SEED);
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)];
  const names = [...new Set(pages.flat(2).flatMap((text) => namesIn(text).map((name) => name.text)))];
  return Array.from({ length: count }, () => {
    const [first = 0, ...others] = pages
      .map((_page, index) => ({ index, order: random() }))
      .toSorted((one, other) => one.order - other.order)
      .map(({ index }) => index)
      .slice(0, PAGES + 1);
    const paragraphs = others.flatMap((index) => pages[index] ?? []);
    const whole = paragraphs.flat().join("\n");
    const pair: ReportPair = {
      before: paragraphs.map((sentences) => sentences.join(" ")).join("\n\n"),
      now: "",
      changed: new Map(),
      added: [],
      gone: [],
      same: new Set(),
      reworded: new Map(),
    };
    const edits = new Map<string, string>();
    for (let tries = 0; tries < 200 && pair.changed.size < CHANGED; tries += 1) {
      const sentence = pick(paragraphs.flat()) ?? "";
      const spot = pick([...figuresAndDates(sentence), ...namesIn(sentence)]);
      if (spot === undefined || edits.has(sentence) || sentence.length < 40) continue;
      const other = spot.about === "name" ? otherName(names, whole, random) : otherNumber(spot.text, random);
      if (other === undefined || whole.includes(other)) continue;
      const now = sentence.slice(0, spot.start) + other + sentence.slice(spot.start + spot.text.length);
      edits.set(sentence, now);
      pair.changed.set(now, spot.about);
    }
    for (let tries = 0; tries < 200 && pair.gone.length < LEFT_OUT; tries += 1) {
      const sentence = pick(paragraphs.flat()) ?? "";
      if (edits.has(sentence) || sentence.length < 40) continue;
      edits.set(sentence, "");
      pair.gone.push(sentence);
    }
    pair.added = (pages[first] ?? [])
      .flat()
      .filter(({ length }) => length >= 40)
      .slice(0, LEFT_OUT);
    const kinds = [...Object.entries(REWORDINGS), ["several", reworded] as const];
    for (const [index, sentence] of paragraphs.flat().entries()) {
      if (edits.has(sentence) || index % 2 === 0) continue;
      const turned = [...kinds.slice(index % kinds.length), ...kinds.slice(0, index % kinds.length)];
      const [kind, now] = turned
        .map(([name, reword]) => [name, reword(sentence)] as const)
        .find(([, text]) => text !== sentence) ?? [""];
      if (now === undefined) continue;
      edits.set(sentence, now);
      pair.reworded.set(sentence, { kind, now: sentencesOf(now) });
    }
    const edited = paragraphs.map((sentences) =>
      sentences.map((sentence) => edits.get(sentence) ?? sentence).filter((sentence) => sentence !== ""),
    );
    pair.now = [...edited.toReversed(), pair.added].map((sentences) => sentences.join(" ")).join("\n\n");
    pair.same = new Set(paragraphs.flat().filter((sentence) => !edits.has(sentence)));
    addLists(pair, { names: [...names].toSorted(), random });
    return pair;
  });
}

const ROWS = 4;

/** A table and a list with labels: one row and one item are changed, one row is new, one item is gone. */
function addLists(pair: ReportPair, { names, random }: { names: readonly string[]; random: () => number }): void {
  const start = Math.floor(random() * (names.length - 2 * ROWS));
  const figure = (): number => 1_000 + Math.floor(random() * 90) * 101;
  const rows = names
    .slice(start, start + ROWS)
    .map((name) => ({ name, homes: figure(), share: Math.floor(random() * 90) }));
  const items = names
    .slice(start + ROWS, start + 2 * ROWS)
    .map((name) => ({ name, text: `The town spent ${figure()} million euros on new heat networks.` }));
  const table = (shown: typeof rows): string =>
    [
      "| Town | Homes | Share |",
      "|---|---|---|",
      ...shown.map(({ name, homes, share }) => `| ${name} | ${homes} | ${share} % |`),
    ].join("\n");
  const list = (shown: typeof items): string => shown.map(({ name, text }) => `- **${name}:** ${text}`).join("\n");
  const rowText = ({ name, homes, share }: (typeof rows)[number]): string =>
    `${name}: Homes: ${homes} | Share: ${share} %`;
  const itemText = ({ name, text }: (typeof items)[number]): string => `${name}: ${text}`;
  const [first, ...otherRows] = rows;
  const [item, last, ...otherItems] = items;
  if (first === undefined || item === undefined || last === undefined) return;
  const changedRow = { ...first, homes: first.homes + 7 };
  const newRow = { name: "Kvalsund", homes: figure(), share: 3 };
  const changedItem = { ...item, text: `The town spent ${figure() + 3} million euros on new heat networks.` };
  pair.before += `\n\n${table(rows)}\n\n${list(items)}`;
  pair.now += `\n\n${list([...otherItems, changedItem])}\n\n${table([newRow, ...otherRows, changedRow])}`;
  pair.changed.set(rowText(changedRow), "row").set(itemText(changedItem), "labelled");
  pair.added.push(rowText(newRow));
  pair.gone.push(itemText(last));
  for (const row of otherRows) pair.same.add(rowText(row));
  for (const same of otherItems) pair.same.add(itemText(same));
}

const CHANGES = ["figure", "date", "name", "row", "labelled", "added", "gone"];
const REWORDED = [...Object.keys(REWORDINGS), "several"];

interface Measured {
  kind: string;
  of: number;
  found: number;
}

/** What was found of the known changes, and how many of the other sentences were taken for a change. */
export async function measureChanges(): Promise<Measured[]> {
  const kinds = [...CHANGES, "unchanged", ...REWORDED];
  const rows = new Map(kinds.map((kind) => [kind, { kind, of: 0, found: 0 }]));
  const count = (kind: string, isFound: boolean): void => {
    const row = rows.get(kind);
    if (row === undefined) return;
    row.of += 1;
    row.found += isFound ? 1 : 0;
  };
  for (const pair of reportPairs()) {
    const read = (report: string) => splitClaims({ report, sources: [] });
    const { changed, added, gone } = await compareReports(
      { before: read(pair.before), now: read(pair.now) },
      new AbortController().signal,
    );
    for (const [sentence, about] of pair.changed)
      count(
        about,
        changed.some(({ now }) => now === sentence),
      );
    for (const sentence of pair.added) count("added", added.includes(sentence));
    for (const sentence of pair.gone) count("gone", gone.includes(sentence));
    const reported = new Set([...changed.map(({ now }) => now), ...added, ...gone]);
    for (const sentence of pair.same) count("unchanged", reported.has(sentence));
    for (const [before, { kind, now }] of pair.reworded) {
      count(
        kind,
        [before, ...now].some((sentence) => reported.has(sentence)),
      );
    }
  }
  return [...rows.values()];
}

export async function reportChanges(): Promise<Table> {
  const rows = await measureChanges();
  const sumOf = (kinds: readonly string[]) =>
    rows
      .filter(({ kind }) => kinds.includes(kind))
      .reduce((sum, { of, found }) => ({ of: sum.of + of, found: sum.found + found }), { of: 0, found: 0 });
  const total = sumOf(CHANGES);
  const wrong = sumOf(["unchanged", ...REWORDED]);
  return {
    title: "What changed between two reports",
    notes: [
      `${PAIRS} pairs with known changes, made of bench/data/labelled-pairs.json (seed ${SEED}): at least ${MIN_FOUND * 100} % found, at most ${MAX_FALSE * 100} % of the others listed, which are unchanged, or say the same in other words by a script.`,
    ],
    columns: ["change", "listed"],
    rows: [
      ...rows.filter(({ kind }) => CHANGES.includes(kind)),
      { kind: "all changes", ...total },
      { kind: "unchanged, listed by mistake", ...sumOf(["unchanged"]) },
      { kind: "in other words, listed by mistake", ...sumOf(REWORDED) },
    ].map(({ kind, of, found }) => [kind, share(found, of)]),
    passed: total.found >= MIN_FOUND * total.of && wrong.found <= MAX_FALSE * wrong.of,
  };
}
