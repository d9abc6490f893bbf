/** Routes of `interactions`: starts, polls, streams, cancels and deletes, as the scenario defines them. */

import { setTimeout as sleep } from "node:timers/promises";
import { errorNamed, type ErrorName, type GoogleError, isErrorName } from "../google-errors.ts";
import { bareLine, interactionsError, refusesContent } from "./errors.ts";
import type { ErrorForm } from "../fault-names.ts";
import { eventsOf, indexAfter } from "./events.ts";
import type { Traffic } from "./ledger.ts";
import { readCreate, type ReadCreate } from "./request.ts";
import { endOf, headOf, interactionAt, statusAt, workingStatus, type Json } from "./resource.ts";
import type { Run } from "./runs.ts";
import { effectOf, type Life, type RequestStep, type RunRequest } from "./scenario.ts";
import { announceEnd } from "./webhooks.ts";
import { streamLive, streamSoFar } from "./stream.ts";
import type { LedgerEntry } from "../ledger.ts";
import type { Call, Route, SimulatorContext } from "../route.ts";
import { fingerprintOf, recordOutcome, openLedgerEntry, refusalFor, serve } from "../served-call.ts";
import type { Reply } from "../models/wire.ts";

/** A request that is being answered. */
interface ActiveRequest {
  call: Call;
  context: SimulatorContext;
  kind: RunRequest | "create";
  /** Undefined for polls and streams. */
  entry: LedgerEntry | undefined;
}

const TRAFFIC: Record<RunRequest, keyof Traffic> = {
  get: "polls",
  stream: "streams",
  cancel: "cancels",
  delete: "deletes",
};

const jsonReply = (body: Json): Reply => ({
  status: 200,
  headers: { "content-type": "application/json; charset=UTF-8" },
  frames: [JSON.stringify(body)],
});

const EMPTY = jsonReply({});

const MISSING = "route-unknown";

const invalid = (message: string): GoogleError => ({ code: 400, message, status: "INVALID_ARGUMENT" });

const ALREADY_COMPLETED = invalid("Interaction is already completed.");

function recordServed({ context, kind, entry }: ActiveRequest, served: string): void {
  context.ledger.recordAnswer(kind, served);
  if (entry !== undefined) entry.served = served;
}

function refuse(active: ActiveRequest, name: string, error: GoogleError | ErrorName): Promise<void> {
  recordServed(active, name);
  return serve(active.call, active.entry, {
    reply: interactionsError(error, { form: formOf(active) }),
    fault: undefined,
    latencyMs: 0,
  });
}

const formOf = ({ context }: ActiveRequest): ErrorForm => context.player().interactions.settings.error_form;

const latencyOf = ({ context }: ActiveRequest, step: RequestStep): number =>
  step.latency_ms ?? context.player().scenario.latency_ms;

/** Sends the reply, changed by the step's fault. */
function answer(active: ActiveRequest, step: RequestStep, reply: Reply): Promise<void> {
  const { fault } = effectOf(step.fault);
  // The general http-404 error is about models.
  const error = fault === "http-404" && active.kind !== "create" ? MISSING : fault;
  const refusal =
    error !== undefined && isErrorName(error)
      ? interactionsError(error, { form: formOf(active), retryAfter: step.retry_after })
      : undefined;
  return serve(active.call, active.entry, {
    reply: refusal ?? reply,
    fault: refusal === undefined ? fault : undefined,
    latencyMs: latencyOf(active, step),
    retryAfter: step.retry_after,
  });
}

interface StreamOptions {
  run: Run;
  step: RequestStep;
  from: number;
  onOpen: () => void;
}

async function sendStream(active: ActiveRequest, { run, step, from, onOpen }: StreamOptions): Promise<void> {
  const { call, context, entry } = active;
  const { settings } = context.player().interactions;
  const latencyMs = latencyOf(active, step);
  if (latencyMs > 0) await sleep(latencyMs, undefined, { signal: call.signal });
  await streamLive(call.response, {
    run,
    runs: context.runs,
    from,
    cutMs: step.cut_ms ?? settings.stream_cut_ms,
    cut: step.cut ?? settings.stream_cut,
    cutAfter: step.cut_after ?? Infinity,
    signal: call.signal,
    onOpen,
    onCut: () => {
      if (entry !== undefined) recordOutcome(call, entry, "cut");
    },
  });
}

type Start = Extract<ReadCreate, { kind: "start" }>;

/** A model answers in one output, and in twenty seconds where an agent takes eight minutes. */
const modelLife = ({ answer: report, sources: _sources, course: _course, ...life }: Life): Life => ({
  ...life,
  report,
  duration_ms: Math.round(life.duration_ms / 24),
  parts: 1,
});

async function acceptStart(active: ActiveRequest, start: Start, key: string): Promise<void> {
  const { call, context } = active;
  const { step, life } = context.player().interactions.create();
  const { accepted, fault } = effectOf(step.fault);
  const { latency_ms, retry_after } = step;
  recordServed(active, step.fault ?? "accepted");
  if (!accepted) {
    const error = fault !== undefined && isErrorName(fault) ? errorNamed(fault) : undefined;
    if (start.stream && error !== undefined && refusesContent(error)) return answer(active, {}, bareLine(error));
    return answer(active, { fault, latency_ms, retry_after }, EMPTY);
  }
  // The start is charged before it is answered, so that a lost answer costs money.
  const run = context.runs.open({
    ...start.facts,
    life: start.facts.model === undefined ? life : modelLife(life),
    key,
  });
  if (start.uris.length > 0) announceEnd(run, context.runs, start.uris);
  const onOpen = (): void => context.runs.markDelivered(run);
  if (start.stream && fault === undefined) return sendStream(active, { run, step: { latency_ms }, from: 0, onOpen });
  if (fault === undefined || fault === "slow-drip") call.response.once("finish", onOpen);
  const reply = start.stream ? streamSoFar(run, 0, 0) : jsonReply(headOf(run, workingStatus(run)));
  return answer(active, { fault, latency_ms }, reply);
}

async function create(call: Call, context: SimulatorContext): Promise<void> {
  const { settings } = context.player().interactions;
  const { previous_forgotten: forgotten, labels_refused: labelsRefused, webhooks_refused: webhooksRefused } = settings;
  const key = fingerprintOf(call) ?? "";
  const stored = { runs: context.runs, key, forgotten, labelsRefused, webhooksRefused };
  const read = readCreate(call.body, stored);
  const facts =
    read.kind === "start"
      ? { model: read.facts.agent, question: read.facts.query, tools: read.tools, attachments: read.attachments }
      : {};
  const active: ActiveRequest = { call, context, kind: "create", entry: openLedgerEntry(call, context, facts) };
  const refusal = refusalFor(call, context);
  if (refusal !== undefined) return refuse(active, refusal, refusal);
  if (read.kind === "refused") return refuse(active, read.name, read.error);
  return acceptStart(active, read, key);
}

async function poll(active: ActiveRequest, run: Run, step: RequestStep): Promise<void> {
  const elapsed = active.context.runs.elapsed(run);
  recordServed(active, step.fault ?? statusAt(run, elapsed));
  const withInput = active.call.url.searchParams.get("include_input") === "true";
  const { as_id: id, extra_depth: depth } = step;
  const body = { ...interactionAt(run, elapsed, { withInput }), ...(id !== undefined && { id }) };
  return answer(active, step, depth === undefined ? jsonReply(body) : nestedReply(body, depth));
}

/** Built as text, because it is nested too deeply for JSON.stringify. */
function nestedReply(body: Json, depth: number): Reply {
  const reply = jsonReply(body);
  const nested = `${"[".repeat(depth)}${"]".repeat(depth)}`;
  return { ...reply, frames: [reply.frames.join("").replace(/^\{/, () => `{"extra":${nested},`)] };
}

async function stream(active: ActiveRequest, run: Run, step: RequestStep): Promise<void> {
  const from = indexAfter(active.call.url.searchParams.get("last_event_id"), eventsOf(run));
  if (from === undefined) return refuse(active, "event-unknown", "http-400");
  recordServed(active, step.fault ?? "open");
  if (step.fault === undefined) return sendStream(active, { run, step, from, onOpen: () => {} });
  return answer(active, step, streamSoFar(run, active.context.runs.elapsed(run), from));
}

async function cancel(active: ActiveRequest, run: Run, step: RequestStep): Promise<void> {
  const { runs } = active.context;
  const elapsed = runs.elapsed(run);
  const ended = elapsed >= (endOf(run)?.at ?? Infinity) && statusAt(run, elapsed);
  if (ended !== false && ended !== "cancelled") return refuse(active, "not-running", ALREADY_COMPLETED);
  recordServed(active, step.fault ?? "cancelled");
  if (effectOf(step.fault).accepted) runs.cancel(run);
  // Google answers `cancelled` at once; a poll may see it later.
  const status = run.life.cancel_ignored ? statusAt(run, elapsed) : "cancelled";
  return answer(active, step, jsonReply({ ...interactionAt(run, elapsed, { withInput: false }), status }));
}

async function remove(active: ActiveRequest, run: Run, step: RequestStep): Promise<void> {
  recordServed(active, step.fault ?? "deleted");
  if (effectOf(step.fault).accepted) active.context.runs.remove(run);
  return answer(active, step, EMPTY);
}

const HANDLERS = { get: poll, stream, cancel, delete: remove };

/** Checks the key before taking a step of the scenario, so that rejected requests use up no step. */
async function handleRunRequest(
  kind: RunRequest,
  { call, context, id }: { call: Call; context: SimulatorContext; id: string },
): Promise<void> {
  const entry = kind === "cancel" || kind === "delete" ? openLedgerEntry(call, context) : undefined;
  const active: ActiveRequest = { call, context, kind, entry };
  const refusal = refusalFor(call, context);
  if (refusal !== undefined) return refuse(active, refusal, refusal);
  if (!INTERACTION_ID.test(id)) {
    return refuse(active, "name-invalid", invalid(`Invalid interaction name: interactions/${id}`));
  }
  const run = context.runs.find(id);
  if (run === undefined) return refuse(active, "missing", MISSING);
  context.ledger.recordTraffic(id, TRAFFIC[kind]);
  const { interactions } = context.player();
  if (run.start.key !== fingerprintOf(call)) {
    return refuse(active, "foreign-key", interactions.settings.foreign_key === 404 ? MISSING : "http-403");
  }
  return HANDLERS[kind](active, run, interactions.request(kind, id));
}

/** Names of another form are refused before they are looked up. */
const INTERACTION_ID = /^v1_[\w-]+$/;

const SINGLE_PATH = /\/v1\w*\/interactions\/([^/]+)$/;

export const INTERACTION_ROUTES: readonly Route[] = [
  { method: "POST", path: /\/v1\w*\/interactions$/, handle: create },
  {
    method: "GET",
    path: SINGLE_PATH,
    handle: (call, context, [, id = ""]) =>
      handleRunRequest(call.url.searchParams.get("stream") === "true" ? "stream" : "get", { call, context, id }),
  },
  {
    method: "POST",
    path: /\/v1\w*\/interactions\/([^/]+)\/cancel$/,
    handle: (call, context, [, id = ""]) => handleRunRequest("cancel", { call, context, id }),
  },
  {
    method: "DELETE",
    path: SINGLE_PATH,
    handle: (call, context, [, id = ""]) => handleRunRequest("delete", { call, context, id }),
  },
];
