/** How a research goes, told by its question alone: the same one always thinks and searches the same. */

import { createHash } from "node:crypto";

/** A whole number from 0 up to, but not including, `sides`. */
export type Dice = (sides: number) => number;

export type Beat = { at: number } & (
  | { kind: "thought"; text: string }
  | { kind: "search"; queries: string[] }
  | { kind: "pages"; query: string }
);

export interface Topic {
  query: string;
  agent: string;
}

interface Script {
  /** In order; `at` is the part of the whole duration, from 0 to `RESEARCH_SHARE`. */
  beats: Beat[];
  queries: string[];
}

/** The last part of a run's time goes into writing. */
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

/** Mulberry32: small, quick and good enough for invented research. */
export function diceFor(seed: string): Dice {
  let state = createHash("sha256").update(seed).digest().readUInt32LE(0);
  return (sides) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  };
}

export function titleOf({ query }: Topic): string {
  const line = query.slice(0, 1000).replaceAll(/\s+/g, " ").trim();
  // By code points: half a surrogate pair would not survive the way to bytes and back.
  return /^.{0,100}/u.exec(line.toWellFormed())?.[0].replace(/[?!.]+$/, "") || "An unnamed topic";
}

function queriesFor({ agent }: Topic, title: string, dice: Dice): string[] {
  const count = agent.includes("max") ? 60 + dice(101) : 12 + dice(69);
  return Array.from({ length: count }, (_, index) => {
    const angle = ANGLES[index % ANGLES.length] ?? ANGLES[0];
    const round = Math.floor(index / ANGLES.length);
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

type Untimed = Beat extends infer One ? (One extends Beat ? Omit<One, "at"> : never) : never;

/** Thinks, searches, and every third time reads what it has found. */
function roundOf(title: string, queries: string[], round: number): Untimed[] {
  const words = THOUGHTS[round % THOUGHTS.length] ?? THOUGHTS[0];
  const thought: Untimed = { kind: "thought", text: words.replace("%", () => title) };
  const search: Untimed = { kind: "search", queries };
  const [query = title] = queries;
  return round % 3 === 2 ? [thought, search, { kind: "pages", query }] : [thought, search];
}

export function scriptOf(topic: Topic): Script {
  const dice = diceFor(`script ${topic.agent} ${topic.query}`);
  const title = titleOf(topic);
  const queries = queriesFor(topic, title, dice);
  const untimed: Untimed[] = [];
  for (let start = 0, round = 0; start < queries.length; round += 1) {
    const size = 1 + dice(SEARCHES_PER_CALL);
    untimed.push(...roundOf(title, queries.slice(start, start + size), round));
    start += size;
  }
  const beats = untimed.map((beat, index) =>
    Object.assign(beat, { at: ((index + 1) / untimed.length) * RESEARCH_SHARE }),
  );
  return { beats, queries };
}
