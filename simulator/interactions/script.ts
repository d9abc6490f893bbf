/** The simulated course of a research run, derived from its question: the same question always gives the same one. */

import { createHash } from "node:crypto";

/** Returns an integer from 0 to `limit` - 1. */
export type Random = (limit: number) => number;

export type Activity = { at: number } & (
  | { kind: "thought"; text: string }
  | { kind: "search"; queries: string[] }
  | { kind: "pages"; query: string }
);

export interface Topic {
  query: string;
  agent: string;
}

/** The parts of a scenario that shape the course. */
export interface CourseOptions {
  course?: readonly { thought: string; queries: string[] }[] | undefined;
  english: boolean;
}

interface Script {
  /** In order; `at` is the fraction of the duration, from 0 to `RESEARCH_SHARE`. */
  activities: Activity[];
  queries: string[];
}

/** The rest of the duration is for writing. */
export const RESEARCH_SHARE = 0.85;

const SEARCHES_PER_CALL = 4;

const ANGLES = [
  "overview",
  "history",
  "figures",
  "criticism",
  "counter-evidence",
  "primary sources",
  "cost",
  "practice",
  "Europe – état des lieux",
  "latest news",
] as const;

const THOUGHTS = [
  "**Taking stock**\n\nI begin with what is undisputed about “%” and note where sources differ.",
  "**Looking for figures**\n\nThe naïve reading of “%” needs numbers; I look for primary statistics.",
  "**Checking a contradiction**\n\nTwo pages about “%” disagree – I compare dates and methods.",
  "**Widening the view**\n\nSo far Europe dominates; I search for “%” in other regions, 例えば日本.",
  "**Weighing the evidence**\n\nEnough is known about “%” to outline the report; gaps remain ≈ 10 %.",
] as const;

/** Mulberry32: a small, fast pseudo-random generator. */
export function createRandom(seed: string): Random {
  let state = createHash("sha256").update(seed).digest().readUInt32LE(0);
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

/** Whether a model answers instead of an agent. */
export const isModel = ({ agent }: Topic): boolean => agent.startsWith("gemini-");

export function titleOf(topic: Topic): string {
  // Earlier texts may precede a question to a model.
  const query = isModel(topic) ? (topic.query.trim().split("\n\n").at(-1) ?? "") : topic.query;
  const line = query.slice(0, 1000).replaceAll(/\s+/g, " ").trim();
  // By code points, because half a surrogate pair cannot be encoded.
  return /^.{0,100}/u.exec(line.toWellFormed())?.[0].replace(/[?!.]+$/, "") || "An unnamed topic";
}

const ENGLISH = /^[\u0020-\u007e\n“”–≈ï]*$/u;

/** The texts in English only, if wanted. */
export const inLanguage = <Text extends string>(texts: readonly Text[], { english }: { english: boolean }): Text[] =>
  texts.filter((text) => !english || ENGLISH.test(text));

function queriesFor(title: string, random: Random, { agent, english }: { agent: string; english: boolean }): string[] {
  const angles = inLanguage(ANGLES, { english });
  const count = agent.startsWith("gemini-")
    ? 1 + random(3)
    : agent.includes("max")
      ? 60 + random(101)
      : 12 + random(69);
  return Array.from({ length: count }, (_, index) => {
    const angle = angles[index % angles.length] ?? ANGLES[0];
    const round = Math.floor(index / angles.length);
    return `${title} ${angle}${round > 0 ? ` ${2026 - round}` : ""}`;
  });
}

const SUMMARIES = 38;

/** The summaries of one long thought: all but the first begin with two newlines and a bold heading. */
export function summariesOf(topic: Topic): string[] {
  const title = titleOf(topic);
  return Array.from({ length: SUMMARIES }, (_, index) => {
    const [angle, round] = [ANGLES[index % ANGLES.length] ?? ANGLES[0], Math.floor(index / ANGLES.length) + 1];
    return `${index === 0 ? "" : "\n\n"}**Reading about ${angle}, part ${round}**\n\nI weigh what is known about “${title}”: ${angle} comes next.`;
  });
}

type Untimed = Activity extends infer One ? (One extends Activity ? Omit<One, "at"> : never) : never;

/** A thought, a search, and every third time opening the found pages. */
function roundOf(text: string, queries: string[], round: number): Untimed[] {
  const thought: Untimed = { kind: "thought", text };
  const [query] = queries;
  if (query === undefined) return [thought];
  const search: Untimed = { kind: "search", queries };
  return round % 3 === 2 ? [thought, search, { kind: "pages", query }] : [thought, search];
}

export function scriptOf(topic: Topic, { course, english }: CourseOptions): Script {
  const rounds = course ?? inventCourse(topic, english);
  const untimed = rounds.flatMap(({ thought, queries }, round) => roundOf(thought, queries, round));
  const activities = untimed.map((activity, index) =>
    Object.assign(activity, { at: ((index + 1) / untimed.length) * RESEARCH_SHARE }),
  );
  return { activities, queries: rounds.flatMap(({ queries }) => queries) };
}

function inventCourse(topic: Topic, english: boolean): { thought: string; queries: string[] }[] {
  const random = createRandom(`script ${topic.agent} ${topic.query}`);
  const title = titleOf(topic);
  const queries = queriesFor(title, random, { agent: topic.agent, english });
  const thoughts = inLanguage(THOUGHTS, { english });
  const rounds: { thought: string; queries: string[] }[] = [];
  for (let start = 0; start < queries.length;) {
    const size = 1 + random(SEARCHES_PER_CALL);
    const words = thoughts[rounds.length % thoughts.length] ?? THOUGHTS[0];
    rounds.push({ thought: words.replace("%", () => title), queries: queries.slice(start, start + size) });
    start += size;
  }
  return rounds;
}

const PLAN_STEPS = [
  "Find primary sources and recent overviews about “%”.",
  "Collect figures and dates, and note how each was measured.",
  "Look for criticism and counter-evidence, and for studies that failed to confirm it.",
  "Compare regions and periods for which there are data.",
  "Weigh the evidence and write a report with citations.",
] as const;

/** A plan for a question, with a step for each change that was asked for. */
export function planFor(query: string, changes: readonly string[]): string {
  const title = titleOf({ query, agent: "" });
  const steps = [...PLAN_STEPS.slice(0, -1), ...changes, ...PLAN_STEPS.slice(-1)];
  return [
    `Here is a research plan for **${title}**:`,
    ...steps.map(
      (step, index) =>
        `${index + 1}. ${step
          .replace("%", () => title)
          .replaceAll(/\s+/g, " ")
          .trim()}`,
    ),
    "Tell me what to change, or approve the plan to start the research.",
  ].join("\n\n");
}
