/** The events of an interaction's stream, each with its time; few of them have an id. */

import { createHash } from "node:crypto";
import type { ReportContent } from "./report.ts";
import { endOf, headOf, naturalEnd, workingStatus, type Json } from "./resource.ts";
import type { Run } from "./runs.ts";
import { RESEARCH_SHARE } from "./script.ts";
import { errorsOf, outputSteps, researchSteps, signatureOf, type Step, type TimedStep } from "./steps.ts";

type Event = Json & { event_type: string };

export interface TimedEvent {
  /** Virtual milliseconds since the start. */
  at: number;
  event: Event;
}

const CHUNK = /[\s\S]{1,400}/gu;

/** A step before its deltas. */
function emptyStepOf(step: Step): Json {
  if (step.type === "google_search_call") return { type: step.type, id: step.id, signature: "" };
  if ("arguments" in step) return { ...step, arguments: {} };
  if ("result" in step) return { type: step.type, call_id: step.call_id, result: [] };
  return { type: step.type };
}

/** Citations follow the chunk that completes their mark; their offsets are relative to the whole text. */
function textDeltas(content: Extract<ReportContent, { type: "text" }>): Json[] {
  const deltas: Json[] = [];
  let bytes = 0;
  for (const text of content.text.match(CHUNK) ?? []) {
    const from = bytes;
    bytes += Buffer.byteLength(text);
    deltas.push({ type: "text", text });
    const annotations = content.annotations?.filter(({ end_index }) => end_index > from && end_index <= bytes) ?? [];
    if (annotations.length > 0) deltas.push({ type: "text_annotation_delta", annotations });
  }
  return deltas;
}

function deltasOf(step: Step, { life, start }: Run): Json[] {
  if (step.type === "thought") {
    return [
      ...step.summary.map((content) => ({ type: life.thought_delta, content })),
      // Empty for the agent.
      { type: "thought_signature", signature: start.model === undefined ? "" : step.signature },
    ];
  }
  if (step.type === "model_output") {
    return (step.content ?? []).flatMap((content): Json[] =>
      content.type === "text" ? textDeltas(content) : [{ ...content }],
    );
  }
  if ("arguments" in step) return [{ type: step.type, arguments: step.arguments }];
  const { type, result, is_error } = step;
  return [{ type, result, is_error, ...(type === "google_search_result" && { signature: signatureOf(step.call_id) }) }];
}

function eventsOfStep(run: Run, step: Step, index: number): Event[] {
  return [
    { event_type: "step.start", index, step: emptyStepOf(step) },
    ...deltasOf(step, run).map((delta) => ({ event_type: "step.delta", index, delta })),
    { event_type: "step.stop", index },
  ];
}

function researchEvents(run: Run, { at, from = at, step }: TimedStep, index: number): TimedEvent[] {
  const events = eventsOfStep(run, step, index);
  return events.map((event, position) => ({ at: from + ((at - from) * (position + 1)) / events.length, event }));
}

/** Spreads the report's events over the last part of the run. */
function writingEvents(run: Run, index: number): TimedEvent[] {
  const end = naturalEnd(run);
  if (end === undefined) return [];
  const events = outputSteps(run, end).flatMap((step, position) => eventsOfStep(run, step, index + position));
  const startedAt = end.at * RESEARCH_SHARE;
  return events.map((event, position) => ({
    at: startedAt + ((end.at - startedAt) * (position + 1)) / events.length,
    event,
  }));
}

function endEvents(run: Run): TimedEvent[] {
  const end = endOf(run);
  if (end === undefined) return [];
  const { status, at } = end;
  const events: Event[] = [
    ...(status === "failed" ? [{ event_type: "error", error: errorsOf(run.life)[0] }] : []),
    { event_type: "interaction.completed", interaction: headOf(run, status) },
  ];
  return events.map((event) => ({ at, event }));
}

const OLD_NAMES: Record<string, string> = {
  "interaction.created": "interaction.start",
  "interaction.completed": "interaction.complete",
  "step.start": "content.start",
  "step.delta": "content.delta",
  "step.stop": "content.stop",
};

function inOldSchema({ event_type, step, ...rest }: Event): Event {
  const named = { event_type: OLD_NAMES[event_type] ?? event_type, ...rest };
  if (typeof step !== "object" || step === null || !("type" in step)) return named;
  return { ...named, content: step.type === "model_output" ? { type: "text" } : step };
}

/** All events, as far as they are determined. A cancel shortens the list, but never changes events already sent. */
export function eventsOf(run: Run): TimedEvent[] {
  const status = workingStatus(run);
  const research = researchSteps(run);
  const working: TimedEvent[] = [
    { at: 0, event: { event_type: "interaction.created", interaction: headOf(run, status) } },
    { at: 0, event: { event_type: "interaction.status_update", interaction_id: run.start.id, status } },
    ...research.flatMap((timed, index) => researchEvents(run, timed, index)),
    ...writingEvents(run, research.length),
  ];
  const until = endOf(run)?.at ?? Infinity;
  const all = [...working.filter(({ at }) => at <= until), ...endEvents(run)];
  return all.map(({ at, event }, index) => {
    const eventId = eventIdOf(run, index);
    const named = eventId === undefined ? event : Object.assign(event, { event_id: eventId });
    return { at, event: run.life.schema === "steps" ? named : inOldSchema(named) };
  });
}

/** In recordings every fifth event had an id. */
const EVENTS_PER_ID = 5;

/** Ids are opaque and reveal no order. */
function eventIdOf({ start, life }: Run, index: number): string | undefined {
  const hasId =
    life.event_ids === "all" || (life.event_ids === "sparse" && index % EVENTS_PER_ID === EVENTS_PER_ID - 1);
  if (!hasId) return undefined;
  return `v1_${createHash("sha256").update(`${start.id} ${index}`).digest("base64url").slice(0, 32)}`;
}

/** The index of the event after this one; undefined if the id is unknown. */
export function indexAfter(eventId: string | null, events: readonly TimedEvent[]): number | undefined {
  if (eventId === null) return 0;
  const position = events.findIndex(({ event }) => event["event_id"] === eventId);
  return position === -1 ? undefined : position + 1;
}
