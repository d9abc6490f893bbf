/** The fault matrix repeated with random latencies of Google and in random order. */

import { createRandom, type Random } from "../../test/corpus/random.ts";
import { FAULT_ROWS, type FaultRow, type FaultyRequest, REQUESTS } from "../../test/faults/fault-cells.ts";
import { faultsOf, type Outcome, play } from "../../test/faults/fault-judge.ts";
import { type Experiment, type Finding, type LabSetting, scaled } from "../experiment.ts";

const REPEATS = 20;
const AT_ONCE = 4;
const MAX_LATENCY_MS = 200;
const FAULTS = new Set(FAULT_ROWS.map(({ fault }) => fault)).size;
const CELLS = FAULTS * REQUESTS.length;

interface Play {
  row: FaultRow;
  at: FaultyRequest;
  latencyMs: number;
}

interface Verdict extends Play {
  outcome: Outcome | undefined;
  wrong: string[];
}

export const faults: Experiment = {
  name: "faults",
  about: `Each of ${FAULTS} faults meets each of the four requests (create, get, cancel, stream) of a run: HTTP statuses, resets, silence, truncated and unexpected responses, a gzip bomb, DNS, TLS, redirects. The final status, the message shown and the number of paid requests are compared with a table, with Google's responses delayed by 0 to 200 ms.`,
  minutes: 20,
  covers: "A6, I8, P3, P4, L1, T9, T16, T18",
  run: async (setting) => {
    const random = createRandom(setting.seed);
    const verdicts: Verdict[] = [];
    for (let repeat = 0; repeat < scaled(setting, REPEATS); repeat += 1) {
      verdicts.push(...(await playAll(shuffled(random), setting)));
    }
    return findingsOf(verdicts);
  },
};

function shuffled({ between, sample }: Random): Play[] {
  const plays = FAULT_ROWS.flatMap((row) => REQUESTS.map((at) => ({ row, at, latencyMs: between(0, MAX_LATENCY_MS) })));
  return sample(plays, plays.length);
}

async function playAll(plays: Play[], { print }: LabSetting): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  const waiting = [...plays];
  const lane = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const verdict = await judge(next);
      verdicts.push(verdict);
      for (const sentence of verdict.wrong) print(`BROKEN: ${nameOf(next)}, ${next.latencyMs} ms: ${sentence}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  print(table(verdicts));
  return verdicts;
}

async function judge(next: Play): Promise<Verdict> {
  const expected = next.row.expected[next.at];
  try {
    const outcome = await play(next.row, next.at, { latencyMs: next.latencyMs });
    return { ...next, outcome, wrong: faultsOf(outcome, expected) };
  } catch (error) {
    return { ...next, outcome: undefined, wrong: [error instanceof Error ? error.message : "an error of the lab"] };
  }
}

const nameOf = ({ row, at }: Pick<Play, "row" | "at">): string =>
  `${row.fault}${row.form === undefined ? "" : ` (${row.form})`} × ${at}`;

function table(verdicts: Verdict[]): string {
  const lines = FAULT_ROWS.map((row) => {
    const cells = REQUESTS.map((at) => {
      const verdict = verdicts.find((each) => each.row === row && each.at === at);
      const { state = "?", end = "?", posts = 0 } = verdict?.outcome ?? {};
      const states = state === end ? state : `${state} → ${end}`;
      return `${verdict?.wrong.length === 0 ? "" : "BROKEN "}${states}, ${posts} POST`;
    });
    return `| ${row.fault}${row.form === undefined ? "" : ` (${row.form})`} | ${cells.join(" | ")} |`;
  });
  return ["| fault | create | get | cancel | stream |", "|---|---|---|---|---|", ...lines].join("\n");
}

function findingsOf(verdicts: Verdict[]): Finding[] {
  const cells = new Set(verdicts.map(({ row, at }) => `${row.fault} × ${at}`));
  const broken = new Set(verdicts.filter(({ wrong }) => wrong.length > 0).map(({ row, at }) => `${row.fault} × ${at}`));
  const starts = verdicts.reduce((sum, { outcome }) => sum + (outcome?.taken ?? 0), 0);
  const about = (pattern: RegExp): number =>
    verdicts.flatMap(({ wrong }) => wrong).filter((text) => pattern.test(text)).length;
  const none = (promise: string, pattern: RegExp, of: string): Finding => ({
    promise,
    target: "0",
    measured: `${about(pattern)} of ${of}`,
    met: about(pattern) === 0,
  });
  return [
    {
      promise: "cells of the matrix with the expected status, message and paid requests",
      target: `${CELLS} of ${CELLS}`,
      measured: `${cells.size - broken.size} of ${CELLS} in ${verdicts.length} plays`,
      met: broken.size === 0 && cells.size === CELLS,
      ...(broken.size > 0 && { note: [...broken].join("; ") }),
    },
    none("paid requests beyond the expected number", /paid requests|taken/, `${starts} paid`),
    none("upstream text shown or logged", /upstream text/, `${verdicts.length} plays`),
  ];
}
