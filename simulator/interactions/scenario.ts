/** The part of a scenario that is about Deep Research: how a run lives, and what each request about it meets. */

import { z } from "zod";
import { ERROR_FORMS, FAULTS, type Fault } from "../fault-names.ts";

/** Of a start or a cancel: Google takes it (and charges for a start), and then the answer goes wrong. */
const ACCEPTED_FAULTS = [
  "accept-then-reset",
  "accept-then-hang",
  "accept-then-404",
  "accept-then-500",
  "accept-then-malformed",
  "accept-then-html",
] as const;

type AcceptedFault = (typeof ACCEPTED_FAULTS)[number];

const FAULT_AFTER: Record<AcceptedFault, Fault> = {
  "accept-then-reset": "reset-before",
  "accept-then-hang": "hang",
  "accept-then-404": "http-404",
  "accept-then-500": "http-500",
  "accept-then-malformed": "malformed-json",
  "accept-then-html": "html-200",
};

/** All times but latency are virtual: `speed` of them go by in one real millisecond. */
const LIFE = {
  /** From the start to the end; 0 ends at once. */
  duration_ms: z.int().nonnegative(),
  speed: z.number().positive(),
  /** The word it ends with, which may be one that nobody knows; `in_progress` and `queued` never end. */
  status: z.string().min(1),
  errors: z.array(z.strictObject({ code: z.string(), message: z.string() })),
  /** What there is to read at the end; without it, what goes with the status. */
  text: z.enum(["whole", "half", "none"]),
  /** The report word for word; `[cite: n]` in it becomes a citation. */
  report: z.string(),
  /** A picture in the middle, which makes two texts of the report. */
  image: z.boolean(),
  /** Bytes of the picture, and of the texts before and after it, where they matter. */
  image_bytes: z.int().positive(),
  text_bytes: z.tuple([z.int().positive(), z.int().positive()]),
  /** `outputs` is what Google sent until June 2026. */
  schema: z.enum(["steps", "outputs"]),
  /** `output` shows neither thoughts nor searches, whatever was asked for; `thought` one thought with many summaries. */
  steps: z.enum(["all", "thought", "output"]),
  /** In how many outputs the report comes, with a thought between them. */
  parts: z.int().min(1).max(4),
  /** False: no citation is annotated, and the sources are links in the text. */
  annotations: z.boolean(),
  /** What a poll shows of a run that works: its head, the question as well, or all of its steps. */
  looks: z.enum(["head", "input", "all"]),
  /** Which events of a stream have an id: none, every fifth, or all. */
  event_ids: z.enum(["none", "sparse", "all"]),
  /** What the SDK calls `thought_summary`, documents call `thought`. */
  thought_delta: z.enum(["thought_summary", "thought"]),
  /** Fields of the usage that differ from the invented ones. */
  usage: z.record(z.string(), z.unknown()),
  /** How long after the end the usage is missing. */
  usage_after_ms: z.int().nonnegative(),
  /** After this, counted from the start, nobody knows the interaction any more. */
  expires_after_ms: z.int().nonnegative(),
  /** A cancel is answered at once, but later looks still see it in progress for this long. */
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
  image: LIFE.image.default(false),
  image_bytes: LIFE.image_bytes.optional(),
  text_bytes: LIFE.text_bytes.optional(),
  schema: LIFE.schema.default("steps"),
  steps: LIFE.steps.default("all"),
  parts: LIFE.parts.default(2),
  annotations: LIFE.annotations.default(true),
  looks: LIFE.looks.default("head"),
  event_ids: LIFE.event_ids.default("sparse"),
  thought_delta: LIFE.thought_delta.default("thought_summary"),
  usage: LIFE.usage.default({}),
  usage_after_ms: LIFE.usage_after_ms.default(2_000),
  expires_after_ms: LIFE.expires_after_ms.optional(),
  cancel_lag_ms: LIFE.cancel_lag_ms.default(0),
  cancel_ignored: LIFE.cancel_ignored.default(false),
});

const life = z.strictObject(LIFE).partial();

/** `unavailable` is a bare JSON body between the events; after `hang` nothing comes, and nothing ends. */
const STREAM_CUTS = ["end", "unavailable", "error-array", "error-event", "hang", "reset"] as const;

export type StreamCut = (typeof STREAM_CUTS)[number];

const request = z.strictObject({
  fault: z.enum(FAULTS).optional(),
  /** The header of a 429, word for word; parts of a second stand in the body alone. */
  retry_after: z.union([z.number(), z.string()]).transform(String).optional(),
  latency_ms: z.int().nonnegative().optional(),
  /** Another interaction's id in the answer. */
  as_id: z.string().optional(),
  /** How deep an extra field of the answer is nested. */
  extra_depth: z.int().nonnegative().optional(),
});

const cancel = request.extend({ fault: z.enum([...FAULTS, ...ACCEPTED_FAULTS]).optional() });

const create = request.extend({
  fault: z.enum([...FAULTS, ...ACCEPTED_FAULTS]).optional(),
  /** This run lives differently from the others. */
  life: life.optional(),
});

const stream = request.extend({
  cut_ms: z.int().nonnegative().optional(),
  cut: z.enum(STREAM_CUTS).optional(),
  /** It is cut after this many events. */
  cut_after: z.int().positive().optional(),
});

/**
 * The n-th start meets the n-th step of `create`; the n-th look, stream, cancel and delete of each interaction meets
 * the n-th step of its kind. The last step repeats.
 */
export const interactionsSchema = z.strictObject({
  ...life.shape,
  /** Google ends a stream after ten minutes, finished or not. */
  stream_cut_ms: z.int().nonnegative().default(600_000),
  stream_cut: z.enum(STREAM_CUTS).default("unavailable"),
  /** `string` is what the Interactions API sends, `google` what Google's other APIs do, `array` a gateway. */
  error_form: z.enum(ERROR_FORMS).default("string"),
  /** What another key than the one that started it gets to hear. */
  foreign_key: z.literal([403, 404]).default(403),
  create: z.array(create).default([]),
  get: z.array(request).default([]),
  stream: z.array(stream).default([]),
  cancel: z.array(cancel).default([]),
  delete: z.array(request).default([]),
});

export type Life = z.output<typeof lifeSchema>;
export type InteractionSettings = z.output<typeof interactionsSchema>;
export type CreateStep = z.output<typeof create>;
export type RequestStep = Omit<z.output<typeof stream>, "fault"> & { fault?: CreateStep["fault"] };
export type RunRequest = "get" | "stream" | "cancel" | "delete";

// Half a reply, or a slow one, is a reply: what was asked for has been done.
const PARTIAL: readonly Fault[] = [
  "http-201",
  "http-202",
  "reset-mid-body",
  "malformed-json",
  "invalid-json",
  "slow-drip",
  "slowloris",
  "gzip-bomb",
];

const isAcceptedFault = (fault: Fault | AcceptedFault): fault is AcceptedFault => fault in FAULT_AFTER;

/** Whether a request with this fault is carried out, and how its answer then goes wrong. */
export function meaningOf(fault: CreateStep["fault"]): { accepted: boolean; fault: Fault | undefined } {
  if (fault === undefined) return { accepted: true, fault };
  if (isAcceptedFault(fault)) return { accepted: true, fault: FAULT_AFTER[fault] };
  return { accepted: PARTIAL.includes(fault), fault };
}

/** From what was once saved of it. */
export const parseLife = (saved: unknown): Life => lifeSchema.parse(saved);

export interface InteractionPlay {
  readonly settings: InteractionSettings;
  create(): { step: CreateStep; life: Life };
  request(kind: RunRequest, id: string): RequestStep;
}

/** The first step stands for all when there are no others. */
function atLeastOne<Step extends object>(steps: readonly Step[], none: Step): [Step, ...Step[]] {
  const [first = none, ...rest] = steps;
  return [first, ...rest];
}

export function playInteractions(settings: InteractionSettings): InteractionPlay {
  const counts = new Map<string, number>();
  const common = Object.fromEntries(Object.entries(settings).filter(([key]) => key in LIFE));
  const withLife = (step: CreateStep): { step: CreateStep; life: Life } => ({
    step,
    life: lifeSchema.parse({ ...common, ...step.life }),
  });
  const creates = atLeastOne(settings.create.map(withLife), withLife({}));

  function nth<Step>(steps: readonly [Step, ...Step[]], key: string): Step {
    // Nothing is kept about a hundred thousand runs that all meet the same.
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
