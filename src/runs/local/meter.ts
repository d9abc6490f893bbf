/** Adds up what the answers of one run used and cost. */

import { addCosts, type Cost, type CostOf, NO_COST, roundCost } from "../../costs/actual.ts";
import { countCost } from "../../gemini/call-telemetry.ts";
import type { Answer } from "../../gemini/search-backend.ts";
import type { Clock } from "../../platform/clock.ts";

export interface Figures {
  backend: string | undefined;
  /** Notices for the user from the backends, without duplicates. */
  notices: string[];
  tokens: { input: number; output: number };
  cost: Cost;
}

export type Meter = ReturnType<typeof createMeter>;

export function createMeter({ clock, costOf }: { clock: Clock; costOf: CostOf }) {
  const tokens = { input: 0, output: 0 };
  let cost = NO_COST;
  const notices = new Set<string>();
  let backend: string | undefined;
  let model: string | undefined;
  return {
    answered: (answer: Answer) => {
      tokens.input += answer.usage.input;
      tokens.output += answer.usage.output;
      model = answer.model ?? model;
      backend = answer.backend;
      for (const notice of answer.notices) notices.add(notice);
      const added = costOf(answer.usage, answer.model, clock.now());
      countCost(answer.model, added.usd);
      cost = addCosts(cost, added);
    },
    model: () => model,
    figures: (): Figures => ({
      backend,
      notices: [...notices],
      tokens: { ...tokens },
      cost: roundCost(cost),
    }),
  };
}
