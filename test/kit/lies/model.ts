/** A model that lies at a known rate: in what it writes, and in what it answers about claims it is asked to check. */

import type { Answer, AskRequest, Backend } from "../../../src/gemini/search-backend.ts";
import { readPrompt } from "../../../simulator/models/prompt.ts";
import { type Fact, type LieKind, randomOf, type World } from "./world.ts";

export interface LyingOptions {
  seed: number;
  /** Share of false claims among those that it writes. */
  lieRate: number;
  /** Share of its false claims that it is convinced of: it defends them instead of correcting or dropping them. */
  deceit: number;
  /** How often it stays convinced after a check was refused with a reason. */
  stubbornness: number;
  /** Claims that it checks in one round, chosen by itself or listed in the prompt. */
  attention: number;
  firstClaims: number;
  newClaims: number;
}

/** What the model knows about a sentence that it wrote. */
interface Written {
  fact: Fact | undefined;
  /** Undefined for a true one. */
  lie: LieKind | undefined;
}

interface Line {
  sentence: string;
  url: string;
}

/** A claim that it checks in this round. */
interface Chosen {
  line: Line;
  n: number;
  /** The last check of it was not accepted. */
  isRefused: boolean;
}

interface CheckEntry {
  claim: number | string;
  verdict: string;
  page: string;
  quote: string;
}

/** How it defends a false claim. The server cannot see through an invented quote: it does not know the page's text. */
const TACTICS = ["unopened", "real quote", "invented quote", "other page"] as const;

const SLOPPY = 0.1;

export function createLyingModel(world: World, options: LyingOptions) {
  const random = randomOf(options.seed);
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[Math.floor(random() * items.length)];
    if (item === undefined) throw new Error("There is nothing to pick from.");
    return item;
  };
  const written = new Map<string, Written>();

  const write = (line: Line, about: Written): Line => {
    written.set(`${line.sentence} ${line.url}`, about);
    return line;
  };
  const writeTrue = (fact: Fact): Line => write({ sentence: fact.claim, url: fact.url }, { fact, lie: undefined });
  const writeClaim = (): Line => {
    const fact = pick(world.facts);
    if (random() >= options.lieRate) return writeTrue(fact);
    const others = world.urls.filter((url) => url !== fact.url);
    const lies = [...fact.lies, { kind: "invented" as const, claim: "" }, { kind: "wrong page" as const, claim: "" }];
    const { kind, claim } = pick(lies);
    if (kind === "invented") return write({ sentence: world.invent(), url: fact.url }, { fact: undefined, lie: kind });
    if (kind === "wrong page") return write({ sentence: fact.claim, url: pick(others) }, { fact, lie: kind });
    return write({ sentence: claim, url: fact.url }, { fact, lie: kind });
  };

  const defend = (line: Line, claim: number, opened: Set<string>): CheckEntry => {
    const { fact } = aboutOf(line);
    const entry = { claim, verdict: "supported", page: line.url, quote: line.sentence };
    const tactic = pick(TACTICS);
    if (tactic === "unopened") return entry;
    opened.add(line.url);
    if (tactic === "invented quote") return entry;
    const onPage = fact?.url === line.url ? fact : pick(world.facts.filter(({ url }) => url === line.url));
    if (tactic === "real quote") return { ...entry, quote: onPage.passage };
    const other = pick(world.facts);
    opened.add(other.url);
    return { ...entry, page: other.url, quote: other.passage };
  };

  const convictions = new Map<string, boolean>();
  const isConvincedOf = ({ sentence }: Line, isRefused: boolean): boolean => {
    const before = convictions.get(sentence);
    const now =
      before === undefined ? random() < options.deceit : before && (!isRefused || random() < options.stubbornness);
    convictions.set(sentence, now);
    return now;
  };

  const aboutOf = ({ sentence, url }: Line): Written =>
    written.get(`${sentence} ${url}`) ?? { fact: undefined, lie: "invented" };

  /** Checks one line: returns what stays of it, and its entries for `checks`. */
  const check = (
    { line, n: claim, isRefused }: Chosen,
    opened: Set<string>,
  ): { line?: Line; entries: CheckEntry[] } => {
    const { fact, lie } = aboutOf(line);
    if (lie === undefined && fact !== undefined) {
      if (random() < SLOPPY) return { line, entries: [] };
      opened.add(line.url);
      return { line, entries: [{ claim, verdict: "supported", page: line.url, quote: fact.passage }] };
    }
    if (isConvincedOf(line, isRefused)) return { line, entries: [defend(line, claim, opened)] };
    // Honest: the page was opened and does not say it.
    if (fact === undefined || random() < 0.5) return { entries: [] };
    const corrected = writeTrue(fact);
    opened.add(fact.url);
    const entry = { claim: corrected.sentence.slice(0, 60), verdict: "supported", page: fact.url, quote: fact.passage };
    return { line: corrected, entries: [entry] };
  };

  const answerFirst = () => ({
    lines: Array.from({ length: options.firstClaims }, writeClaim),
    checks: [],
    opened: [],
  });

  const answerVerify = (prompt: string) => {
    const reading = readPrompt(
      { contents: [{ role: "user", parts: [{ text: prompt }] }], tools: [], generationConfig: {} },
      { unescapeAt: false },
    );
    const lines = linesIn(reading.currentResult ?? "");
    const chosen =
      reading.claims === undefined
        ? shuffled(lines, random).map((line): Chosen => ({ line, n: 0, isRefused: false }))
        : reading.claims.flatMap(({ n, text, reason }): Chosen[] => {
            const line = lines.find(({ sentence }) => sentence.startsWith(text.replace(/…$/, "")));
            return line === undefined ? [] : [{ line, n, isRefused: reason !== undefined }];
          });
    const opened = new Set<string>();
    const checks: CheckEntry[] = [];
    const kept = new Map(lines.map((line) => [line, line as Line | undefined]));
    for (const each of chosen.slice(0, options.attention)) {
      const result = check(each, opened);
      kept.set(each.line, result.line);
      checks.push(...result.entries);
    }
    // The last round is asked to drop what no page supports; it does so as often as it is honest.
    const isLast = reading.claims !== undefined && isLastRound(prompt);
    for (const { line } of isLast ? chosen.slice(options.attention) : []) {
      if (random() >= options.deceit) kept.set(line, undefined);
    }
    const added = Array.from({ length: options.newClaims }, writeClaim);
    const all = [...kept.values(), ...added].filter((line) => line !== undefined);
    return { lines: uniqueLines(all), checks: reading.claims === undefined ? [] : checks, opened: [...opened] };
  };

  const backend: Backend = {
    name: "api",
    obstacle: () => undefined,
    ask: async ({ prompt }: AskRequest): Promise<Answer> => {
      const isVerify = prompt.startsWith("# Task: verify");
      const { lines, checks, opened } = isVerify ? answerVerify(prompt) : answerFirst();
      const report = `# Findings\n\n${lines.map(({ sentence, url }) => `- ${sentence} ([page](${url}))`).join("\n")}`;
      const answer = { success: true, checks, verified: isVerify && isLastRound(prompt), report };
      return answerOf(JSON.stringify(answer), { found: lines.map(({ url }) => url), opened });
    },
  };
  return { backend, lieIn: (line: Line): LieKind | undefined => aboutOf(line).lie };
}

/** It claims to be sure in the last round, so that both measurements have the same number of rounds. */
function isLastRound(prompt: string): boolean {
  const [, round, max] = /round (\d+) of at most (\d+)/.exec(prompt) ?? [];
  return round === max;
}

/** Its reports have one claim per list item. */
export const linesIn = (report: string): Line[] =>
  [...report.matchAll(/^- (.*) \(\[page\]\((\S+)\)\)$/gm)].map(([, sentence = "", url = ""]) => ({ sentence, url }));

const uniqueLines = (lines: readonly Line[]): Line[] => [
  ...new Map(lines.map((line) => [`${line.sentence} ${line.url}`, line])).values(),
];

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item);
}

const answerOf = (json: string, { found, opened }: { found: string[]; opened: string[] }): Answer => ({
  backend: "api",
  text: `\`\`\`json\n${json}\n\`\`\``,
  cut: false,
  model: "lying-model",
  sources: found.map((url) => ({ url, title: "page" })),
  unreadUrls: [],
  openedUrls: opened,
  queries: ["a search"],
  isGrounded: true,
  searchSuggestions: [],
  usage: { input: 0, output: 0, cached: 0, searches: 1 },
  notices: [],
});
