/** Measures how many claims of final answers are false: with the model's own verdict, and with verification. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { claimsOf, verdictOn } from "../../../src/search/checks/report-claims.ts";
import { deepSearch } from "../../../src/search/deep.ts";
import { createPrompts } from "../../../src/search/prompts.ts";
import { silentLog } from "../log.ts";
import { createLyingModel, linesIn, type LyingOptions } from "./model.ts";
import { createWorld, LIE_KINDS, type LieKind } from "./world.ts";

/** A count with its total. */
export interface Share {
  part: number;
  total: number;
}

export interface LieFigures {
  /** False claims among all claims of the final texts. */
  inText: Share;
  /** False claims among those that the answer calls confirmed. */
  amongConfirmed: Share;
  /** True claims that the answer does not call confirmed. */
  trueUnconfirmed: Share;
  /** False claims among the confirmed ones, by kind. */
  missed: Record<LieKind, Share>;
}

export interface LieSettings extends Omit<LyingOptions, "seed"> {
  answers: number;
  rounds: number;
  seed: number;
}

export const LIE_SETTINGS: LieSettings = {
  answers: 200,
  rounds: 4,
  seed: 17,
  lieRate: 0.35,
  deceit: 0.5,
  stubbornness: 0.5,
  attention: 6,
  firstClaims: 12,
  newClaims: 1,
};

const PROMPTS = join(import.meta.dirname, "..", "..", "..", "prompts");

/** The prompt as it was before claims were listed: the model chooses what it checks, and only its word counts. */
const WORD_ALONE = readFileSync(join(PROMPTS, "verify-prompt.md"), "utf8").replace("{{claims}}", "");

export type Arm = "word alone" | "server";

export async function measureLies(arm: Arm, settings: LieSettings): Promise<LieFigures> {
  const none = (): Share => ({ part: 0, total: 0 });
  const missed = Object.fromEntries(LIE_KINDS.map((kind) => [kind, none()])) as Record<LieKind, Share>;
  const figures: LieFigures = { inText: none(), amongConfirmed: none(), trueUnconfirmed: none(), missed };
  for (let index = 0; index < settings.answers; index += 1) {
    const seed = settings.seed * 100_003 + index;
    for (const claim of await finalClaims(arm, { ...settings, seed })) count(figures, claim);
  }
  return figures;
}

interface FinalClaim {
  lie: LieKind | undefined;
  isConfirmed: boolean;
}

function count(figures: LieFigures, { lie, isConfirmed }: FinalClaim): void {
  const add = (share: Share, isPart: boolean): void => {
    share.total += 1;
    if (isPart) share.part += 1;
  };
  add(figures.inText, lie !== undefined);
  if (isConfirmed) add(figures.amongConfirmed, lie !== undefined);
  if (lie === undefined) add(figures.trueUnconfirmed, !isConfirmed);
  else add(figures.missed[lie], isConfirmed);
}

async function finalClaims(arm: Arm, settings: LieSettings): Promise<FinalClaim[]> {
  const world = createWorld(settings.seed, 60);
  const model = createLyingModel(world, settings);
  const { best, verified, rounds } = await deepSearch(
    {
      backend: model.backend,
      prompts: promptsOf(arm),
      invalidOutputs: { keep: async () => ({ path: "", remove: async () => {} }) },
      clock: { now: () => 0, monotonic: () => 0, sleep: async () => {} },
      log: silentLog,
      model: undefined,
      correctionModel: undefined,
      maxCycles: 1,
    },
    { query: "What is known about these places and companies?", maxRounds: settings.rounds, onRound: async () => {} },
    {
      signal: new AbortController().signal,
      onActivity: () => {},
      onRoundStart: () => {},
      onAsk: async () => () => {},
    },
  );
  const visited = rounds.flatMap(({ sources }) => sources);
  const findings = rounds.flatMap((round) => round.findings);
  const { claims, sources } = claimsOf(best.report, visited);
  return linesIn(best.report).map((line) => {
    const claim = claims.find(({ text }) => text === line.sentence);
    const verdict = claim === undefined ? undefined : verdictOn(claim, sources, findings)?.verdict;
    return { lie: model.lieIn(line), isConfirmed: arm === "word alone" ? verified : verdict === "likely" };
  });
}

function promptsOf(arm: Arm) {
  const packaged = createPrompts({ packaged: PROMPTS, own: undefined, now: () => 0, log: silentLog });
  if (arm === "server") return packaged;
  return {
    hasPlaceFor: () => false,
    render: (name: Parameters<typeof packaged.render>[0], values: Record<string, string>) =>
      name === "verify-prompt"
        ? WORD_ALONE.replaceAll(/\{\{(\w+)\}\}/g, (_whole, key: string) => values[key] ?? "").replace(
            /-----BEGIN CLAIMS[^]*?-----END CLAIMS[^\n]*\n/,
            "",
          )
        : packaged.render(name, values),
  };
}
