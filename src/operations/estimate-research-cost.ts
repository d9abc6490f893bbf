/** `estimate_research_cost`: estimates duration and cost of a deep research before it is started. */

import { z } from "zod";
import { wholeMinutes, withMaterial } from "../costs/estimate.ts";
import { type AppError, invalidInput } from "../errors.ts";
import { AGENTS, currentAgent, DEFAULT_AGENT } from "../gemini/research-agent.ts";
import { factLines } from "./parts/answer-text.ts";
import { dollars } from "../costs/dollars.ts";
import { defineOperation, outputSchema, queryField } from "./operation.ts";

export const estimateResearchCost = defineOperation({
  name: "estimate_research_cost",
  title: "Estimate research cost",
  description:
    "Estimates minutes and US dollars of start_deep_research for a question, from published figures and your own finished runs. For a start whose price matters, or to choose the agent; search and deep_search cost cents. Free, instant, local. Returns ranges and a recommendation.",
  input: z.strictObject({
    query: queryField("query").describe("The question as it would be asked."),
    model: z
      .string({ error: "{model} must be the name of an agent." })
      .trim()
      .min(1, { error: "{model} must be the name of an agent." })
      .max(200, { error: "{model} must be the name of an agent." })
      .default(DEFAULT_AGENT)
      .describe("As in start_deep_research."),
  }),
  output: outputSchema({
    query_complexity: z.enum(["simple", "medium", "complex"]).describe("How much the question asks for."),
    estimated_duration: z.looseObject({
      min_minutes: z.number(),
      max_minutes: z.number(),
      likely_minutes: z.number(),
    }),
    estimated_cost: z.looseObject({ min_usd: z.number(), max_usd: z.number(), likely_usd: z.number() }),
    will_likely_go_async: z.boolean().describe("Whether it will continue in the background."),
    recommendation: z.string(),
    based_on_runs: z.number().describe("Your own finished runs behind the figures, besides published ones."),
    prices_as_of: z.string().describe("The day of the price list."),
    model: z.string().describe("The agent the estimate is for."),
    notice: z.string().describe("Present when another agent replaces the requested one."),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  positional: "query",
  run: async (deps, { query, model }, call) => {
    const { agent, notice } = currentAgent(model);
    const found = await deps.estimate(query, agent, call.owner);
    if (found === undefined) throw unknownAgent();
    const { minutes, usd } = withMaterial(found, call.expectedTokens ?? 0);
    return {
      success: true,
      query_complexity: found.complexity,
      estimated_duration: {
        min_minutes: wholeMinutes(minutes.min),
        max_minutes: wholeMinutes(minutes.max),
        likely_minutes: wholeMinutes(minutes.likely),
      },
      estimated_cost: { min_usd: usd.min, max_usd: usd.max, likely_usd: usd.likely },
      will_likely_go_async: found.goAsync,
      recommendation: found.recommendation,
      based_on_runs: found.basedOnRuns,
      prices_as_of: found.pricesAsOf,
      model: found.agent,
      ...(notice === undefined ? {} : { notice }),
    };
  },
  toText: ({ success: _success, estimated_cost: cost, estimated_duration: time, recommendation, ...facts }) =>
    [
      `About ${dollars(cost.likely_usd)}${range(dollars(cost.min_usd), dollars(cost.max_usd))}, in about ${time.likely_minutes} min${range(time.min_minutes, time.max_minutes)}.`,
      recommendation,
      factLines(facts),
    ].join("\n\n"),
});

/** Equal bounds are also the likely figure. */
const range = <Bound extends number | string>(min: Bound, max: Bound): string =>
  min === max ? "" : ` (from ${min} to ${max})`;

function unknownAgent(): AppError {
  return invalidInput("No price is known for this model, so nothing can be estimated.", {
    suggestion: `Use one of the agents (${AGENTS.join(", ")}), or add its price to prices.json in the config directory.`,
    field: "model",
  });
}
