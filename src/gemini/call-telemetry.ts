/** The two ports to Gemini as telemetry sees them: which model, how long, how many tokens; never what was said. */

import { modelLabel } from "../telemetry/instruments.ts";
import type { PollCounts, PollOutcome } from "../telemetry/poll-counts.ts";
import { add, type Attributes, errorTypeOf, inSpan, measure } from "../telemetry/telemetry.ts";
import type { Agent, Look } from "./research-agent.ts";
import type { AskRequest, Backend, Usage } from "./search-backend.ts";

// The names are those of OpenTelemetry's GenAI conventions, which are still in flux: copied, not imported.
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
    const began = performance.now();
    const lasted = (more: Attributes): void =>
      measure("gen_ai.client.operation.duration", (performance.now() - began) / 1_000, { ...CALL, ...model, ...more });
    return inSpan(start, async (span) => {
      try {
        const answer = await backend.ask(request);
        const answered = { "gen_ai.response.model": modelLabel(answer.model) };
        span.set({
          ...answered,
          "gen_ai.response.finish_reasons": [answer.cut ? "length" : "stop"],
          "gen_ai.usage.input_tokens": answer.usage.input,
          "gen_ai.usage.output_tokens": answer.usage.output,
        });
        lasted(answered);
        countTokens(answer.usage, { ...CALL, ...model, ...answered });
        return answer;
      } catch (error) {
        lasted({ "error.type": errorTypeOf(error) });
        throw error;
      }
    });
  };
  return { ...backend, ask };
}

/** `counts`: its polls, for the process's heartbeat. */
export function observedAgent(agent: Agent, counts: PollCounts): Agent {
  const look = (name: string, work: () => Promise<Look>): Promise<Look> =>
    inSpan({ name, kind: "client", attributes: PROVIDER }, async (span) => {
      const seen = await work();
      span.set({ "gemini_search.look.outcome": seen.kind === "found" ? seen.interaction.status : seen.kind });
      if (seen.kind !== "found") span.fail(seen.kind);
      return seen;
    });
  return {
    fingerprint: agent.fingerprint,
    begin: (request) => {
      const model = modelLabel(request.agent);
      const attributes = { ...INVOKE, "gen_ai.request.model": model, "gen_ai.agent.name": model };
      return inSpan({ name: `invoke_agent ${model}`, kind: "client", attributes }, async (span) => {
        const begun = await agent.begin(request);
        span.set({ "gemini_search.start.outcome": begun.kind });
        if (begun.kind !== "accepted") span.fail(begun.kind);
        return begun;
      });
    },
    look: async (id, signal) => {
      const seen = await look("look", () => agent.look(id, signal));
      if (!signal.aborted) counts.add(outcomeOf(seen));
      return seen;
    },
    cancel: (id, signal) => look("cancel", () => agent.cancel(id, signal)),
    delete: (id, signal) =>
      inSpan({ name: "delete", kind: "client", attributes: PROVIDER }, async (span) => {
        const answer = await agent.delete(id, signal);
        if (answer.kind === "refused") span.fail(answer.kind);
        return answer;
      }),
    follow: (request) =>
      inSpan({ name: "follow", kind: "client", attributes: PROVIDER }, async () => {
        add("gemini_search.streams", 1, { side: "google" });
        try {
          await agent.follow(request);
        } finally {
          add("gemini_search.streams", -1, { side: "google" });
        }
      }),
  };
}

function outcomeOf(look: Look): PollOutcome {
  if (look.kind === "rate_limited" || look.kind === "rejected") return look.kind;
  if (look.kind === "forbidden") return "wrong_key";
  if (look.kind !== "unreachable") return "answered";
  const { reason } = look.error;
  if (reason === "auth") return "wrong_key";
  if (reason === "timeout") return "timeout";
  return reason === "network" ? "network" : "server_error";
}

/** A run of the agent is one operation, from its start to its end. Its tokens are known then, or some time later. */
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
