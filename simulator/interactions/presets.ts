/** Named scenarios of Deep Research. In most of them eight virtual minutes take half a second. */

import type { ScenarioInput } from "../scenario.ts";

type Interactions = NonNullable<ScenarioInput["interactions"]>;

const SPEED = 1000;

const preset = (name: string, interactions: Interactions = {}): ScenarioInput => ({
  name: `research-${name}`,
  interactions: { speed: SPEED, ...interactions },
});

export const RESEARCH_PRESETS: readonly ScenarioInput[] = [
  preset("good"),
  // Ends before the first poll.
  preset("fast", { duration_ms: 0 }),
  preset("fails", { status: "failed" }),
  preset("incomplete", { status: "incomplete" }),
  preset("incomplete-without-steps", { status: "incomplete", steps: "none" }),
  preset("incomplete-thought-only", { status: "incomplete", steps: "thought", text: "none" }),
  preset("over-budget", { status: "budget_exceeded" }),
  preset("needs-action", { status: "requires_action" }),
  preset("unknown-status", { status: "hibernating" }),
  preset("cancelled-by-google", { status: "cancelled" }),
  preset("stuck", { status: "in_progress" }),
  preset("empty", { text: "none" }),
  preset("old-schema", { schema: "outputs" }),
  preset("late-usage", { usage_after_ms: 60_000 }),
  preset("image", { image: true }),
  preset("output-only", { steps: "output" }),
  // Expires two virtual minutes after its end.
  preset("expired", { expires_after_ms: 10 * 60_000 }),
  preset("cancel-lags", { cancel_lag_ms: 60_000 }),
  preset("cancel-ignored", { cancel_ignored: true }),
  preset("foreign-key-hidden", { foreign_key: 404 }),
  // Several interruptions in one run: each stream has to resume where the previous one ended.
  preset("stream-ends", { stream_cut_ms: 100_000 }),
  preset("stream-breaks", { stream_cut_ms: 100_000, stream_cut: "reset" }),
  preset("stream-error-array", { stream_cut_ms: 100_000, stream_cut: "error-array" }),
  preset("stream-error-event", { stream_cut_ms: 100_000, stream_cut: "error-event" }),
  preset("stream-unavailable", { stream_cut_ms: 100_000, stream_cut: "unavailable" }),
  // https://github.com/enricoros/big-AGI/issues/1088: a resumed stream repeats two events and then sends nothing.
  preset("resume-hangs", {
    stream: [
      { cut_ms: 100_000, cut: "unavailable" },
      { cut_after: 2, cut: "hang" },
    ],
  }),
  // Like the one complete recorded stream: one thought with 38 summaries, then text, picture, text.
  preset("as-recorded", {
    steps: "thought",
    event_ids: "none",
    annotations: false,
    parts: 1,
    image: true,
    image_bytes: 207_000,
    text_bytes: [7_000, 19_000],
  }),
  preset("no-annotations", { annotations: false }),
  preset("cancel-answers-404", { cancel: [{ fault: "accept-then-404" }] }),
  preset("cancel-answers-500", { cancel: [{ fault: "accept-then-500" }] }),
  preset("gateway-errors", { error_form: "array", get: [{ fault: "http-503" }, {}] }),
  preset("forbidden-then-invalid", {
    get: [...Array.from({ length: 12 }, () => ({ fault: "http-403" as const })), { fault: "http-400" }],
  }),
  preset("foreign-answer", { get: [{ as_id: "v1_somebody-else" }] }),
  preset("nested-answer", { get: [{ extra_depth: 20_000 }] }),
  preset("start-lost", { create: [{ fault: "accept-then-reset" }] }),
  preset("start-refused", { create: [{ fault: "http-403" }] }),
  preset("start-limited", { create: [{ fault: "http-429-retry-after" }, {}] }),
  preset("start-unpaid", { create: [{ fault: "http-402" }] }),
  preset("start-blocked", { create: [{ fault: "content-prohibited" }] }),
  preset("labels-refused", { labels_refused: true }),
  preset("poll-limited", { get: [{ fault: "http-429-retry-after" }, {}] }),
  preset("poll-flaky", { get: [{ fault: "http-503" }, { fault: "reset-before" }, { fault: "malformed-json" }, {}] }),
  // https://github.com/googleapis/python-genai/issues/2985
  preset("missing-at-first", { get: [...Array.from({ length: 12 }, () => ({ fault: "http-404" as const })), {}] }),
  // https://github.com/googleapis/js-genai/issues/1389
  preset("forbidden-at-first", { get: [{ fault: "http-403" }, {}] }),
];
