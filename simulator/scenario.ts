/** A scenario is data: which answer or fault each request meets, by task and by turn. */

import { randomUUID } from "node:crypto";
import { z } from "zod";
import { FAULTS } from "./fault-names.ts";
import { interactionsSchema, playInteractions, type InteractionPlay } from "./interactions/scenario.ts";

const TASK_KINDS = [
  "search",
  "deep_search",
  "verify",
  "research_report",
  "correct_json",
  // Requests without a task of ours: what the Gemini CLI's own tools and router ask, and anything else.
  "web_search",
  "web_fetch",
  "json_schema",
  "other",
] as const;

export type TaskKind = (typeof TASK_KINDS)[number];

const ANSWERS = [
  // The right answer for the task: a first round is unverified, a check is verified.
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
    /** The whole answer text of `raw`. */
    text: z.string().optional(),
    latency_ms: z.int().nonnegative().optional(),
    fault: z.enum(FAULTS).optional(),
    /** The step is only for this round of a deep search. */
    round: z.int().positive().optional(),
    /** Google's reason for the end of the answer; what the answer deserves when nothing is said. */
    finish: z.string().optional(),
    /** Google refuses the prompt itself, for this reason. */
    block: z.string().optional(),
    /** How a stream ends before its time: an error in its place, half a frame, or no reason at its end. */
    breaks: z.enum(["error", "frame", "silence"]).optional(),
    /** The request is refused in Google's words. */
    refused: z.enum(["location-unsupported", "interactions-only"]).optional(),
    /** Evidence without content: `{}`, or one chunk `{}`. */
    grounding: z.enum(["empty", "bare"]).optional(),
    /** Instead of the token counts that fit. */
    usage: z.record(z.string(), z.unknown()).optional(),
  })
  .refine((value) => (value.answer === "raw") === (value.text !== undefined), {
    error: "`text` belongs to the answer `raw`, and `raw` needs it",
  });

export const scenarioSchema = z.strictObject({
  name: z.string().min(1),
  /** Google refuses the key, whatever it is. */
  reject_key: z.boolean().default(false),
  /** Grounding names the pages themselves instead of redirect links. */
  plain_urls: z.boolean().default(false),
  /** The Gemini CLI's model opens pages with web_fetch after it has searched. */
  open_pages: z.boolean().default(false),
  /** For every request whose step says nothing else. */
  latency_ms: z.int().nonnegative().default(0),
  /** The n-th request of a task meets the n-th step that fits it; the last one repeats. */
  tasks: z.partialRecord(z.enum(TASK_KINDS), z.array(step).min(1)).default({}),
  /** Deep Research: how its runs live, and what each request about them meets. */
  interactions: interactionsSchema.prefault({}),
});

export type Step = z.output<typeof step>;
export type StepInput = z.input<typeof step>;
export type Scenario = z.output<typeof scenarioSchema>;
export type ScenarioInput = z.input<typeof scenarioSchema>;

const GOOD: Step = { answer: "good" };

/** One task as the model lives through it: one request by the API, several by the Gemini CLI. */
export interface Exchange {
  id: string;
  step: Step;
}

export interface Play {
  readonly scenario: Scenario;
  open(kind: TaskKind, round: number | undefined): Exchange;
  /** A later request of an exchange meets the step of its first one. */
  resume(id: string | undefined): Exchange;
  readonly interactions: InteractionPlay;
}

export function playScenario(scenario: Scenario): Play {
  const served = new Map<string, number>();
  const exchanges = new Map<string, Exchange>();

  function nextStep(kind: TaskKind, round: number | undefined): Step {
    const all = scenario.tasks[kind] ?? [];
    const fitting = all.filter((one) => one.round === undefined || one.round === round);
    // Rounds with steps of their own are counted apart from the others.
    const key = [kind, ...fitting.map((one) => all.indexOf(one))].join(" ");
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
    interactions: playInteractions(scenario.interactions),
  };
}
