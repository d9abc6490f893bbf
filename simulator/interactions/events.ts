/** The life of an interaction as the events of a stream, each with its time; few of them have an id. */

import { createHash } from "node:crypto";
import type { ReportContent } from "./report.ts";
import { endOf, headOf, naturalEnd, workingStatus, type Json } from "./resource.ts";
import type { Run } from "./runs.ts";
import { RESEARCH_SHARE } from "./script.ts";
import { errorsOf, outputSteps, researchSteps, type Step, type TimedStep } from "./steps.ts";

type Event = Json & { event_type: string };

export interface TimedEvent {
  /** Virtual milliseconds since the start. */
  at: number;
  event: Event;
}

const CHUNK = /[\s\S]{1,400}/gu;

/** What a step is before its deltas have come. */
function skeletonOf(step: Step): Json {
  if ("arguments" in step) return { ...step, arguments: {} };
  if ("result" in step) return { type: step.type, call_id: step.call_id, result: [] };
  return { type: step.type };
}

/** Citations follow the piece of text that completes their mark; their offsets count from the text's beginning. */
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

function deltasOf(step: Step, { life }: Run): Json[] {
  if (step.type === "thought") {
    return [
      ...step.summary.map((content) => ({ type: life.thought_delta, content })),
      { type: "thought_signature", signature: step.signature },
    ];
  }
  if (step.type === "model_output") {
    return (step.content ?? []).flatMap((one): Json[] => (one.type === "text" ? textDeltas(one) : [{ ...one }]));
  }
  if ("arguments" in step) return [{ type: step.type, arguments: step.arguments }];
  return [{ type: step.type, result: step.result, is_error: step.is_error }];
}

function eventsOfStep(run: Run, step: Step, index: number): Event[] {
  return [
    { event_type: "step.start", index, step: skeletonOf(step) },
    ...deltasOf(step, run).map((delta) => ({ event_type: "step.delta", index, delta })),
    { event_type: "step.stop", index },
  ];
}

function researchEvents(run: Run, { at, from = at, step }: TimedStep, index: number): TimedEvent[] {
  const events = eventsOfStep(run, step, index);
  return events.map((event, place) => ({ at: from + ((at - from) * (place + 1)) / events.length, event }));
}

/** Spread over the last part of the run, as if it were written word by word. */
function writingEvents(run: Run, index: number): TimedEvent[] {
  const end = naturalEnd(run);
  if (end === undefined) return [];
  const events = outputSteps(run, end).flatMap((step, place) => eventsOfStep(run, step, index + place));
  const began = end.at * RESEARCH_SHARE;
  return events.map((event, place) => ({ at: began + ((end.at - began) * (place + 1)) / events.length, event }));
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

/** All there will be, as far as it is settled. A cancel shortens it, but never changes what has been sent. */
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

/** One in five was seen with an id. */
const EVENTS_PER_ID = 5;

/** Opaque, and without an order that could be read from it. */
function eventIdOf({ start, life }: Run, index: number): string | undefined {
  const hasId =
    life.event_ids === "all" || (life.event_ids === "sparse" && index % EVENTS_PER_ID === EVENTS_PER_ID - 1);
  if (!hasId) return undefined;
  return `v1_${createHash("sha256").update(`${start.id} ${index}`).digest("base64url").slice(0, 32)}`;
}

/** The place of the first event after this one, or nothing if there was no such event. */
export function placeAfter(eventId: string | null, events: readonly TimedEvent[]): number | undefined {
  if (eventId === null) return 0;
  const place = events.findIndex(({ event }) => event["event_id"] === eventId);
  return place === -1 ? undefined : place + 1;
}
