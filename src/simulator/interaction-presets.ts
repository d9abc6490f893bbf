/** The scenarios of Deep Research that have a name. Eight virtual minutes take half a second in most of them. */

import type { ScenarioInput } from "./scenario.ts";

type Interactions = NonNullable<ScenarioInput["interactions"]>;

const SPEED = 1000;

const preset = (name: string, interactions: Interactions = {}): ScenarioInput => ({
  name: `research-${name}`,
  interactions: { speed: SPEED, ...interactions },
});

export const RESEARCH_PRESETS: readonly ScenarioInput[] = [
  preset("good"),
  // Ends before it can be looked at.
  preset("fast", { duration_ms: 0 }),
  preset("fails", { status: "failed" }),
  preset("incomplete", { status: "incomplete" }),
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
  // Gone two virtual minutes after its end.
  preset("expired", { expires_after_ms: 10 * 60_000 }),
  preset("cancel-lags", { cancel_lag_ms: 60_000 }),
  preset("cancel-ignored", { cancel_ignored: true }),
  preset("foreign-key-hidden", { foreign_key: 404 }),
  // Several cuts in one run: each stream must be taken up where the last one ended.
  preset("stream-ends", { stream_cut_ms: 100_000 }),
  preset("stream-breaks", { stream_cut_ms: 100_000, stream_cut: "reset" }),
  preset("stream-error-array", { stream_cut_ms: 100_000, stream_cut: "error-array" }),
  preset("stream-error-event", { stream_cut_ms: 100_000, stream_cut: "error-event" }),
  preset("start-lost", { create: [{ fault: "accept-then-reset" }] }),
  preset("start-refused", { create: [{ fault: "http-403" }] }),
  preset("start-limited", { create: [{ fault: "http-429-retry-after" }, {}] }),
  preset("look-limited", { get: [{ fault: "http-429-retry-after" }, {}] }),
  preset("look-flaky", { get: [{ fault: "http-503" }, { fault: "reset-before" }, { fault: "malformed-json" }, {}] }),
  // https://github.com/googleapis/js-genai/issues/1389
  preset("forbidden-at-first", { get: [{ fault: "http-403" }, {}] }),
];
