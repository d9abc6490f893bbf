/** Scenarios of unusual generateContent endings, one step for every research task; docs/engineering/fidelity.md names their sources. */

import type { StepInput } from "../scenario.ts";

interface EndingPreset {
  name: string;
  step: StepInput;
}

const stopped = (name: string, finish: string): EndingPreset => ({ name, step: { answer: "empty", finish } });

export const ENDING_PRESETS: readonly EndingPreset[] = [
  stopped("stopped-safety", "SAFETY"),
  stopped("stopped-recitation", "RECITATION"),
  stopped("stopped-prohibited", "PROHIBITED_CONTENT"),
  stopped("stopped-model-armor", "MODEL_ARMOR"),
  stopped("stopped-malformed-call", "MALFORMED_FUNCTION_CALL"),
  stopped("stopped-other", "OTHER"),
  stopped("thoughts-only", "MAX_TOKENS"),
  { name: "stopped-safety-late", step: { answer: "truncated", finish: "SAFETY" } },
  { name: "prompt-blocked", step: { block: "PROHIBITED_CONTENT" } },
  { name: "prompt-blocked-model-armor", step: { block: "MODEL_ARMOR" } },
  { name: "stream-error", step: { breaks: "error" } },
  { name: "stream-inside-frame", step: { breaks: "frame" } },
  { name: "stream-without-end", step: { breaks: "silence" } },
  { name: "no-evidence", step: { grounding: "empty" } },
  { name: "bare-evidence", step: { grounding: "bare" } },
  { name: "location-unsupported", step: { fault: "location-unsupported" } },
  { name: "interactions-only", step: { fault: "interactions-only" } },
  {
    name: "impossible-usage",
    step: { usage: { promptTokenCount: -50_000_000, candidatesTokenCount: "<b>many</b>", thoughtsTokenCount: 0.5 } },
  },
  { name: "no-usage", step: { usage: "none" } },
];
