/** False claims in final answers of a model that lies at a known rate: with its own verdict, and with verification. */

import {
  type Arm,
  type LieFigures,
  LIE_SETTINGS,
  type LieSettings,
  measureLies,
  type Share,
} from "../test/kit/lies/measure.ts";
import { LIE_KINDS } from "../test/kit/lies/world.ts";
import type { Table } from "./report.ts";
import { wilson } from "./statistics.ts";

const MODELS: readonly (readonly [name: string, changes: Partial<LieSettings>])[] = [
  ["lies in 20 % of its claims", { lieRate: 0.2 }],
  ["lies in 35 %", {}],
  ["lies in 50 %", { lieRate: 0.5 }],
  ["lies in 35 %, never convinced by a refusal", { stubbornness: 1 }],
  ["lies in 35 %, convinced of 80 % of its lies", { deceit: 0.8 }],
];

const ARMS: readonly Arm[] = ["word alone", "server"];

export async function lies(): Promise<Table> {
  const rows: string[][] = [];
  let passed = true;
  let missed = "";
  for (const [name, changes] of MODELS) {
    const [word, server] = await Promise.all(ARMS.map((arm) => measureLies(arm, { ...LIE_SETTINGS, ...changes })));
    if (word === undefined || server === undefined) continue;
    rows.push(rowOf(name, "its word alone", word), rowOf(name, "the server's verification", server));
    if (high(server.amongConfirmed) >= low(word.amongConfirmed)) passed = false;
    if (missed === "") missed = missedLine(server);
  }
  const { answers, rounds, deceit, attention } = LIE_SETTINGS;
  return {
    title: "False claims in final answers",
    columns: ["simulated model", "decided by", "false in the text", "false among the confirmed", "true, not confirmed"],
    rows,
    notes: [
      `${answers} answers each, ${rounds} rounds, 12 claims in the first and one more in each round; Wilson intervals of 95 %. The model checks ${attention} claims a round in both cases, is convinced of ${100 * deceit} % of its lies and then defends them: with a page that it did not open, a real quote that does not say it, an invented quote, or another page.`,
      `Lies that were called supported, by kind: ${missed}. The server cannot recognise an invented quote from a page that was really opened, nor a real quote for a claim with the same figures and another meaning.`,
    ],
    passed,
  };
}

const rowOf = (name: string, decided: string, { inText, amongConfirmed, trueUnconfirmed }: LieFigures): string[] => [
  name,
  decided,
  percent(inText),
  percent(amongConfirmed),
  percent(trueUnconfirmed),
];

const low = ({ part, total }: Share): number => wilson(part, total)[0];
const high = ({ part, total }: Share): number => wilson(part, total)[1];

function percent(share: Share): string {
  const text = (value: number): string => (100 * value).toFixed(1);
  return `${text(share.part / share.total)} % (${text(low(share))}–${text(high(share))})`;
}

const missedLine = ({ missed }: LieFigures): string =>
  LIE_KINDS.map((kind) => `${kind} ${missed[kind].part} of ${missed[kind].total}`).join(", ");
