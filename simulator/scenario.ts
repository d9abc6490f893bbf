/** Scenarios as data: the answer or fault for each request, by task and order. */

import { randomUUID } from "node:crypto";
import { z } from "zod";
import { FAULTS } from "./fault-names.ts";
import { ERROR_NAMES } from "./google-errors.ts";
import { interactionsSchema, createInteractionPlayer, type InteractionPlayer } from "./interactions/scenario.ts";

const TASK_KINDS = [
  "search",
  "deep_search",
  "verify",
  "research_report",
  "correct_json",
  "decide",
  // Requests without one of our tasks: those of the Gemini CLI's tools and router, and any others.
  "web_search",
  "web_fetch",
  "json_schema",
  "other",
] as const;

export type TaskKind = (typeof TASK_KINDS)[number];

const ANSWERS = [
  // The correct answer for the task: a first round is unverified, a verification is verified.
  "good",
  "verified",
  "unverified",
  "prose",
  "trailing-comma",
  "unescaped-quotes",
  "truncated",
  "echo",
  "empty",
  "refusal",
  "raw",
] as const;

export type { Fault } from "./fault-names.ts";
export type AnswerName = (typeof ANSWERS)[number];

const step = z
  .strictObject({
    answer: z.enum(ANSWERS).default("good"),
    /** The answer text for `raw`. */
    text: z.string().optional(),
    latency_ms: z.int().nonnegative().optional(),
    fault: z.enum(FAULTS).optional(),
    /** Limits the step to this round of a deep search. */
    round: z.int().positive().optional(),
    /** Google's finish reason; by default the one that fits the answer. */
    finish: z.string().optional(),
    /** Google's reason for refusing the prompt itself. */
    block: z.string().optional(),
    /** How a stream ends early: with an error, with half a frame, or without a finish reason. */
    breaks: z.enum(["error", "frame", "silence"]).optional(),
    /** Grounding metadata without content (`{}`, or one chunk `{}`), or no metadata and no opened page at all. */
    grounding: z.enum(["empty", "bare", "none"]).optional(),
    /** How the model answers the claims that it was asked to check. */
    checks: z.enum(["good", "ignored", "malformed"]).optional(),
    /** Overrides the token counts, or omits them. */
    usage: z.union([z.record(z.string(), z.unknown()), z.literal("none")]).optional(),
  })
  .refine((value) => (value.answer === "raw") === (value.text !== undefined), {
    error: "`text` belongs to the answer `raw`, and `raw` needs it",
  });

export const scenarioSchema = z.strictObject({
  name: z.string().min(1),
  /** Google refuses every request, whatever it is for. */
  refuses: z.enum(ERROR_NAMES).optional(),
  /** Grounding contains page URLs instead of redirect links. */
  plain_urls: z.boolean().default(false),
  /** The Gemini CLI's model opens pages with web_fetch after searching. */
  open_pages: z.boolean().default(false),
  /** Default latency of all requests. */
  latency_ms: z.int().nonnegative().default(0),
  /** The n-th request of a task gets the n-th matching step; the last one repeats. */
  tasks: z.partialRecord(z.enum(TASK_KINDS), z.array(step).min(1)).default({}),
  /** Deep Research: the behaviour of its runs and of each request about them. */
  interactions: interactionsSchema.prefault({}),
});

export type Step = z.output<typeof step>;
export type StepInput = z.input<typeof step>;
export type Scenario = z.output<typeof scenarioSchema>;
export type ScenarioInput = z.input<typeof scenarioSchema>;

const GOOD: Step = { answer: "good" };

/** One task of the model: one request through the API, several through the Gemini CLI. */
export interface Exchange {
  id: string;
  step: Step;
}

export interface ScenarioPlayer {
  readonly scenario: Scenario;
  open(kind: TaskKind, round: number | undefined): Exchange;
  /** Later requests of an exchange get the step of its first one. */
  resume(id: string | undefined): Exchange;
  readonly interactions: InteractionPlayer;
}

export function createScenarioPlayer(scenario: Scenario): ScenarioPlayer {
  const served = new Map<string, number>();
  const exchanges = new Map<string, Exchange>();

  function nextStep(kind: TaskKind, round: number | undefined): Step {
    const all = scenario.tasks[kind] ?? [];
    const fitting = all.filter((candidate) => candidate.round === undefined || candidate.round === round);
    // Rounds with their own steps are counted separately.
    const key = [kind, ...fitting.map((candidate) => all.indexOf(candidate))].join(" ");
    const count = served.get(key) ?? 0;
    served.set(key, count + 1);
    return fitting[Math.min(count, fitting.length - 1)] ?? GOOD;
  }

  return {
    scenario,
    open(kind, round) {
      const exchange = { id: randomUUID().slice(0, 8), step: nextStep(kind, round) };
      exchanges.set(exchange.id, exchange);
      return exchange;
    },
    resume: (id) => exchanges.get(id ?? "") ?? { id: id ?? "unknown", step: GOOD },
    interactions: createInteractionPlayer(scenario.interactions),
  };
}
