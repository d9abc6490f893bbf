/** Fuzz target: an interaction is parsed or rejected; no number, citation or source is invented (K1, P1, P6). */

import { isRecord } from "../../src/platform/is-record.ts";
import type { Interaction } from "../../src/gemini/research-agent.ts";
import { readInteraction } from "../../src/gemini/interactions/reader.ts";
import { resultOf } from "../../src/runs/poll/agent-result.ts";
import { type FuzzTarget, must, mustBeUnpolluted, parsed } from "./target.ts";

const STATUSES = ["working", "unknown", "completed", "failed", "cancelled", "ended_early"];

export const interactionJson: FuzzTarget = {
  name: "interaction JSON",
  seeds: [
    '{"id":"v1_a","status":"completed","steps":[{"type":"model_output","content":[{"type":"text","text":"Ünd [cite: 1]\\n\\n1. [a](https://a.example/)\\n2. [b](https://b.example/)","annotations":[{"url":"https://a.example/","title":"A","start_index":0,"end_index":4}]}]}],"usage":{"total_input_tokens":100,"total_output_tokens":5,"grounding_tool_count":[{"type":"google_search","count":3}]}}',
    '{"id":"v1_b","status":"in_progress","steps":[{"type":"thought","summary":[{"text":"Hm"}]},{"type":"google_search_call","arguments":{"queries":["q"]}}]}',
    '{"id":"v1_c","status":"completed","outputs":[{"type":"thought","summary":"Hm"},{"type":"text","text":"\\ud83d","annotations":[{"source":"x","end_index":2}]},{"type":"text","text":"\\ude00","annotations":[{"source":"y","end_index":3}]},{"type":"image"}]}',
  ],
  words: [
    '"steps":[',
    '"outputs":[',
    '{"type":"model_output","content":[',
    '{"type":"text","text":"a","annotations":[{"url":"u","start_index":0,"end_index":1}]},',
    '"usage":{"total_input_tokens":1e999}',
    '"total_tool_use_tokens":-1',
    '"count":1e308',
    '"__proto__":{"a":1}',
    '"status":"constructor"',
    "3. [t](https://t.example/)\\n",
  ],
  open: () => ({ check: (input) => checkInteraction(parsed(input)) }),
};

function checkInteraction(raw: unknown): string {
  const interaction = readInteraction(raw);
  mustBeUnpolluted();
  if (interaction === undefined) {
    must(!isRecord(raw) || typeof raw["id"] !== "string" || raw["id"] === "", "P1: what has an id is an interaction.");
    return "none";
  }
  must(STATUSES.includes(interaction.status), "P1: a known status.");
  mustCite(interaction);
  const { usage } = interaction;
  for (const figure of Object.values(usage ?? {})) {
    must(Number.isFinite(figure) && figure >= 0, "P6: usage is made of numbers that can be counted with.");
  }
  const { sources, citations = [], report } = resultOf(interaction, { partial: false });
  must(withoutMarks(report) === withoutMarks(interaction.report), "K1: the report is kept whole.");
  must(report.length === interaction.report.length, "K1: positions in the report stay.");
  must(new Set(sources.map(({ url }) => url)).size === sources.length, "K1: each source is listed once.");
  const numbers = new Set(sources.map(({ n }) => n));
  must(
    citations.every(({ n }) => numbers.has(n)),
    "K1: what is cited is listed.",
  );
  return `${interaction.status} ${Math.min(3, citations.length)} ${Math.min(3, sources.length)} ${usage === undefined}`;
}

/** The numbers in citation marks may change: a source that is listed twice has one number. */
const withoutMarks = (report: string): string =>
  report.replaceAll(/\[(?:cite:)?[\d, \t]+\]/gi, (mark) => mark.replaceAll(/[\d \t]/g, ""));

function mustCite({ report, citations, sources }: Interaction): void {
  for (const { start, end, sourceIndex } of citations) {
    must(start >= 0 && start < end && end <= report.length, "K1: a citation lies inside the report.");
    must(sourceIndex < sources.length, "K1: a citation has a source.");
  }
}
