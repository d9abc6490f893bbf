/** The Deep Research part of a scenario: the behaviour of runs and of each request about them. */

import { z } from "zod";
import { ERROR_FORMS, FAULTS, type Fault } from "../fault-names.ts";

/** Google accepts the start or cancel (and charges for a start), and then the response fails. */
const ACCEPTED_FAULTS = [
  "accept-then-reset",
  "accept-then-hang",
  "accept-then-404",
  "accept-then-500",
  "accept-then-malformed",
  "accept-then-html",
] as const;

type AcceptedFault = (typeof ACCEPTED_FAULTS)[number];

const FAULT_AFTER_ACCEPTANCE: Record<AcceptedFault, Fault> = {
  "accept-then-reset": "reset-before",
  "accept-then-hang": "hang",
  "accept-then-404": "http-404",
  "accept-then-500": "http-500",
  "accept-then-malformed": "invalid-json",
  "accept-then-html": "html-200",
};

/** All times except latency are virtual: `speed` virtual milliseconds pass per real millisecond. */
const LIFE = {
  /** From start to end; 0 ends at once. */
  duration_ms: z.int().nonnegative(),
  speed: z.number().positive(),
  /** The final status, which may be unknown to clients; `in_progress` and `queued` never end. */
  status: z.string().min(1),
  errors: z.array(z.strictObject({ code: z.string(), message: z.string() })),
  /** The text at the end; by default the one that fits the status. */
  text: z.enum(["whole", "half", "none"]),
  /** The exact report; `[cite: n]` in it becomes a citation. */
  report: z.string(),
  /** A text that polls show while the run works, whatever the text at its end is. Not seen at Google so far. */
  draft: z.string(),
  /** The exact answer of a model, which has neither the report nor the course of an agent. */
  answer: z.string(),
  /** The pages that `[cite: n]` refers to, instead of invented ones. */
  sources: z.array(z.strictObject({ url: z.url(), title: z.string() })),
  /** The exact thoughts, each with the searches that follow it. */
  course: z.array(z.strictObject({ thought: z.string(), queries: z.array(z.string()) })),
  /** Invents in English only; otherwise in several languages, so that bytes and characters differ. */
  english: z.boolean(),
  /** A picture in the middle, which splits the report into two texts; by default only if the question asks for one. */
  image: z.boolean(),
  /** What the pictures are instead of a chart, valid or not. */
  images: z.array(z.strictObject({ mime_type: z.string(), data: z.string() })),
  /** Sizes of the picture and of the texts before and after it, in bytes. */
  image_bytes: z.int().positive(),
  text_bytes: z.tuple([z.int().positive(), z.int().positive()]),
  /** `outputs` is the schema until June 2026. */
  schema: z.enum(["steps", "outputs"]),
  /**
   * `output` shows neither thoughts nor searches, even if requested; `thought` shows one thought with many summaries;
   * with `none` the finished interaction has no steps at all.
   */
  steps: z.enum(["all", "thought", "output", "none"]),
  /** Number of outputs of the report, with thoughts between them. */
  parts: z.int().min(1).max(4),
  /** Without annotations, the sources are only links in the text. */
  annotations: z.boolean(),
  /** What a poll of an unfinished run shows: its head, also the question, or all steps so far. */
  poll_shows: z.enum(["head", "input", "all"]),
  /** Which events of a stream have an id: none, every fifth, or all. */
  event_ids: z.enum(["none", "sparse", "all"]),
  /** The SDK's name is `thought_summary`, the documentation's is `thought`. */
  thought_delta: z.enum(["thought_summary", "thought"]),
  /** Overrides fields of the invented usage. */
  usage: z.record(z.string(), z.unknown()),
  /** How long the usage is missing after the end. */
  usage_after_ms: z.int().nonnegative(),
  /** When the interaction expires, counted from its start. */
  expires_after_ms: z.int().nonnegative(),
  /** A cancel is answered at once, but polls show the run in progress for this long. */
  cancel_lag_ms: z.int().nonnegative(),
  cancel_ignored: z.boolean(),
};

const lifeSchema = z.strictObject({
  ...LIFE,
  duration_ms: LIFE.duration_ms.default(8 * 60_000),
  speed: LIFE.speed.default(1),
  status: LIFE.status.default("completed"),
  errors: LIFE.errors.optional(),
  text: LIFE.text.optional(),
  report: LIFE.report.optional(),
  draft: LIFE.draft.optional(),
  answer: LIFE.answer.optional(),
  sources: LIFE.sources.optional(),
  course: LIFE.course.optional(),
  english: LIFE.english.default(false),
  image: LIFE.image.optional(),
  images: LIFE.images.optional(),
  image_bytes: LIFE.image_bytes.optional(),
  text_bytes: LIFE.text_bytes.optional(),
  schema: LIFE.schema.default("steps"),
  steps: LIFE.steps.default("all"),
  parts: LIFE.parts.default(2),
  annotations: LIFE.annotations.default(true),
  poll_shows: LIFE.poll_shows.default("head"),
  event_ids: LIFE.event_ids.default("sparse"),
  thought_delta: LIFE.thought_delta.default("thought_summary"),
  usage: LIFE.usage.default({}),
  usage_after_ms: LIFE.usage_after_ms.default(2_000),
  expires_after_ms: LIFE.expires_after_ms.optional(),
  cancel_lag_ms: LIFE.cancel_lag_ms.default(0),
  cancel_ignored: LIFE.cancel_ignored.default(false),
});

const life = z.strictObject(LIFE).partial();

/** `unavailable` is a bare JSON body between the events; with `hang` the stream stays open without data. */
const STREAM_CUTS = ["end", "unavailable", "error-array", "error-event", "hang", "reset"] as const;

export type StreamCut = (typeof STREAM_CUTS)[number];

const request = z.strictObject({
  fault: z.enum(FAULTS).optional(),
  /** The Retry-After header of a 429, sent as it is; fractions of a second are only in the body. */
  retry_after: z.union([z.number(), z.string()]).transform(String).optional(),
  latency_ms: z.int().nonnegative().optional(),
  /** The id in the response, to simulate another interaction's. */
  as_id: z.string().optional(),
  /** Nesting depth of an extra field in the response. */
  extra_depth: z.int().nonnegative().optional(),
});

const cancel = request.extend({ fault: z.enum([...FAULTS, ...ACCEPTED_FAULTS]).optional() });

const create = request.extend({
  fault: z.enum([...FAULTS, ...ACCEPTED_FAULTS]).optional(),
  /** Overrides the common settings for this run. */
  life: life.optional(),
});

const stream = request.extend({
  cut_ms: z.int().nonnegative().optional(),
  cut: z.enum(STREAM_CUTS).optional(),
  /** Interrupts the stream after this many events. */
  cut_after: z.int().positive().optional(),
});

/**
 * The n-th start gets the n-th step of `create`; the n-th poll, stream, cancel and delete of each interaction gets the
 * n-th step of its kind. The last step repeats.
 */
export const interactionsSchema = z.strictObject({
  ...life.shape,
  /** Google ends a stream after ten minutes, finished or not. */
  stream_cut_ms: z.int().nonnegative().default(600_000),
  stream_cut: z.enum(STREAM_CUTS).default("unavailable"),
  /** `string` is the format of the Interactions API, `google` that of Google's other APIs, `array` that of a gateway. */
  error_form: z.enum(ERROR_FORMS).default("string"),
  /** Status for requests with another key than the one that started the run. */
  foreign_key: z.literal([403, 404]).default(403),
  /** No interaction can be continued any more, as after the end of Google's retention. */
  previous_forgotten: z.boolean().default(false),
  /** A start with labels is refused, as in August and September 2026. */
  labels_refused: z.boolean().default(false),
  webhooks_refused: z.boolean().default(false),
  create: z.array(create).default([]),
  get: z.array(request).default([]),
  stream: z.array(stream).default([]),
  cancel: z.array(cancel).default([]),
  delete: z.array(request).default([]),
});

export type Life = z.output<typeof lifeSchema>;
type InteractionSettings = z.output<typeof interactionsSchema>;
type CreateStep = z.output<typeof create>;
export type RequestStep = Omit<z.output<typeof stream>, "fault"> & { fault?: CreateStep["fault"] };
export type RunRequest = "get" | "stream" | "cancel" | "delete";

// Google has carried out the request, although its response is incomplete or slow.
const ACCEPTED_BY_FAULT: readonly Fault[] = [
  "http-201",
  "http-202",
  "reset-mid-body",
  "short-body",
  "short-gzip",
  "malformed-json",
  "invalid-json",
  "slow-drip",
  "slowloris",
  "gzip-bomb",
];

const isAcceptedFault = (fault: Fault | AcceptedFault): fault is AcceptedFault => fault in FAULT_AFTER_ACCEPTANCE;

/** Whether a request with this fault is carried out, and the fault of its response. */
export function effectOf(fault: CreateStep["fault"]): { accepted: boolean; fault: Fault | undefined } {
  if (fault === undefined) return { accepted: true, fault };
  if (isAcceptedFault(fault)) return { accepted: true, fault: FAULT_AFTER_ACCEPTANCE[fault] };
  return { accepted: ACCEPTED_BY_FAULT.includes(fault), fault };
}

/** Reads settings from a state file. */
export const parseLife = (saved: unknown): Life => lifeSchema.parse(saved);

export interface InteractionPlayer {
  readonly settings: InteractionSettings;
  create(): { step: CreateStep; life: Life };
  request(kind: RunRequest, id: string): RequestStep;
}

/** A non-empty list; `none` is the default step. */
function atLeastOne<Step extends object>(steps: readonly Step[], none: Step): [Step, ...Step[]] {
  const [first = none, ...rest] = steps;
  return [first, ...rest];
}

export function createInteractionPlayer(settings: InteractionSettings): InteractionPlayer {
  const counts = new Map<string, number>();
  const common = Object.fromEntries(Object.entries(settings).filter(([key]) => key in LIFE));
  const withLife = (step: CreateStep): { step: CreateStep; life: Life } => ({
    step,
    life: lifeSchema.parse({ ...common, ...step.life }),
  });
  const creates = atLeastOne(settings.create.map(withLife), withLife({}));

  function nth<Step>(steps: readonly [Step, ...Step[]], key: string): Step {
    // Needs no counter, which saves memory with a hundred thousand runs.
    if (steps.length === 1) return steps[0];
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return steps[Math.min(count, steps.length - 1)] ?? steps[0];
  }

  return {
    settings,
    create: () => nth(creates, "create"),
    request: (kind, id) => nth(atLeastOne<RequestStep>(settings[kind], {}), `${kind} ${id}`),
  };
}
