/** Telemetry of the ports to Gemini: model, duration and tokens, never prompts or answers. */

import { add, type Attributes, errorTypeOf, inSpan, measure, modelLabel } from "../telemetry/telemetry.ts";
import type { PollCounts, PollOutcome } from "../telemetry/poll-counts.ts";
import type { DecisionOutcome, DecisionRequest } from "./decisions.ts";
import type { Agent, PollResult } from "./research-agent.ts";
import type { AskRequest, Backend, Usage } from "./search-backend.ts";

// Attribute names follow OpenTelemetry's GenAI conventions. They are copied, because the conventions still change.
const PROVIDER = { "gen_ai.provider.name": "gcp.gemini" };
const CALL = { ...PROVIDER, "gen_ai.operation.name": "generate_content" };
const INVOKE = { ...PROVIDER, "gen_ai.operation.name": "invoke_agent" };

export function observedBackend<B extends Backend>(backend: B): B {
  const ask = (request: AskRequest): ReturnType<Backend["ask"]> => {
    const model = request.model === undefined ? {} : { "gen_ai.request.model": modelLabel(request.model) };
    const start = {
      name: request.model === undefined ? "generate_content" : `generate_content ${modelLabel(request.model)}`,
      kind: "client" as const,
      attributes: {
        ...CALL,
        ...model,
        "gemini_search.backend": backend.name,
        "gemini_search.purpose": request.purpose,
      },
    };
    const startedAt = performance.now();
    const recordDuration = (more: Attributes): void =>
      measure("gen_ai.client.operation.duration", (performance.now() - startedAt) / 1_000, {
        ...CALL,
        ...model,
        ...more,
      });
    return inSpan(start, async (span) => {
      try {
        const answer = await backend.ask(request);
        const responseModel = { "gen_ai.response.model": modelLabel(answer.model) };
        span.set({
          ...responseModel,
          "gen_ai.response.finish_reasons": [
            answer.cut === false ? "stop" : answer.cut === "output_limit" ? "length" : "error",
          ],
          "gen_ai.usage.input_tokens": answer.usage.input,
          "gen_ai.usage.output_tokens": answer.usage.output,
        });
        recordDuration(responseModel);
        countTokens(answer.usage, { ...CALL, ...model, ...responseModel });
        return answer;
      } catch (error) {
        recordDuration({ "error.type": errorTypeOf(error) });
        throw error;
      }
    });
  };
  return { ...backend, ask };
}

/** The Decisions API has no operation of its own in the conventions. */
const DECIDE = { ...PROVIDER, "gen_ai.operation.name": "decide" };

export function observedDecisions(
  decide: (request: DecisionRequest) => Promise<DecisionOutcome>,
): (request: DecisionRequest) => Promise<DecisionOutcome> {
  return (request) => {
    const model = modelLabel(request.model);
    const attributes = { ...DECIDE, "gen_ai.request.model": model };
    return inSpan({ name: `decide ${model}`, kind: "client", attributes }, async (span) => {
      const outcome = await decide(request);
      if (outcome.kind !== "answered") span.fail(outcome.kind);
      else countTokens({ input: outcome.inputTokens ?? 0, output: 0 }, attributes);
      return outcome;
    });
  };
}

/** `counts` collects poll outcomes for the process's heartbeat. */
export function observedAgent(agent: Agent, counts: PollCounts): Agent {
  const observe = (name: string, request: () => Promise<PollResult>): Promise<PollResult> =>
    inSpan({ name, kind: "client", attributes: PROVIDER }, async (span) => {
      const result = await request();
      span.set({ "gemini_search.poll.outcome": result.kind === "found" ? result.interaction.status : result.kind });
      if (result.kind !== "found") span.fail(result.kind);
      return result;
    });
  return {
    fingerprint: agent.fingerprint,
    start: (request) => {
      const model = modelLabel(request.agent);
      const attributes = { ...INVOKE, "gen_ai.request.model": model, "gen_ai.agent.name": model };
      return inSpan({ name: `invoke_agent ${model}`, kind: "client", attributes }, async (span) => {
        const outcome = await agent.start(request);
        span.set({ "gemini_search.start.outcome": outcome.kind });
        if (outcome.kind !== "accepted") span.fail(outcome.kind);
        return outcome;
      });
    },
    poll: async (id, signal) => {
      const result = await observe("poll", () => agent.poll(id, signal));
      if (!signal.aborted) counts.add(outcomeOf(result));
      return result;
    },
    cancel: (id, signal) => observe("cancel", () => agent.cancel(id, signal)),
    delete: (id, signal) =>
      inSpan({ name: "delete", kind: "client", attributes: PROVIDER }, async (span) => {
        const answer = await agent.delete(id, signal);
        if (answer.kind === "refused") span.fail(answer.kind);
        return answer;
      }),
    stream: (request) =>
      inSpan({ name: "stream", kind: "client", attributes: PROVIDER }, async () => {
        add("gemini_search.streams", 1, { side: "google" });
        try {
          await agent.stream(request);
        } finally {
          add("gemini_search.streams", -1, { side: "google" });
        }
      }),
  };
}

function outcomeOf(result: PollResult): PollOutcome {
  if (result.kind === "rate_limited" || result.kind === "rejected") return result.kind;
  if (result.kind === "forbidden") return "wrong_key";
  if (result.kind !== "unreachable") return "answered";
  const { reason } = result.error;
  if (reason === "auth") return "wrong_key";
  if (reason === "timeout") return "timeout";
  return reason === "network" || reason === "not_google" ? "network" : "server_error";
}

/** Records an agent run as one operation. Its tokens are counted separately, because Google may report them later. */
export function countAgentRun(run: { agent: string; lastedMs: number; failed: boolean }): void {
  measure("gen_ai.client.operation.duration", run.lastedMs / 1_000, {
    ...INVOKE,
    "gen_ai.request.model": modelLabel(run.agent),
    ...(run.failed ? { "error.type": "RESEARCH_FAILED" } : {}),
  });
}

export function countAgentUsage(agent: string, usage: Pick<Usage, "input" | "output">, usd: number | undefined): void {
  countTokens(usage, { ...INVOKE, "gen_ai.request.model": modelLabel(agent) });
  countCost(agent, usd);
}

export function countCost(model: string | undefined, usd: number | undefined): void {
  if (usd !== undefined && usd > 0) add("gemini_search.cost", usd, { "gen_ai.request.model": modelLabel(model) });
}

function countTokens({ input, output }: Pick<Usage, "input" | "output">, attributes: Attributes): void {
  measure("gen_ai.client.token.usage", input, { ...attributes, "gen_ai.token.type": "input" });
  measure("gen_ai.client.token.usage", output, { ...attributes, "gen_ai.token.type": "output" });
}
