/** `interactions`: starts, looks, streams, cancels and deletes, each as the scenario wants it. */

import { setTimeout as sleep } from "node:timers/promises";
import { errorReply, refusalReply } from "../google-errors.ts";
import { faultReply, inForm } from "./errors.ts";
import type { ErrorForm } from "../fault-names.ts";
import { eventsOf, placeAfter } from "./events.ts";
import type { Traffic } from "./ledger.ts";
import { readCreate, type ReadCreate } from "./request.ts";
import { endOf, headOf, interactionAt, statusAt, workingStatus, type Json } from "./resource.ts";
import type { Run } from "./runs.ts";
import { meaningOf, type RequestStep, type RunRequest } from "./scenario.ts";
import { streamLive, streamSoFar } from "./stream.ts";
import type { LedgerEntry } from "../ledger.ts";
import type { Call, Route, Stage } from "../route.ts";
import { fingerprintOf, noteEnd, openEntry, refusalOf, serve } from "../served-call.ts";
import type { Reply } from "../models/wire.ts";

/** One request, while it is being answered. */
interface Visit {
  call: Call;
  stage: Stage;
  kind: RunRequest | "create";
  /** Looks and streams have none. */
  entry: LedgerEntry | undefined;
}

const TRAFFIC: Record<RunRequest, keyof Traffic> = {
  get: "looks",
  stream: "streams",
  cancel: "cancels",
  delete: "deletes",
};

const jsonReply = (body: Json): Reply => ({
  status: 200,
  headers: { "content-type": "application/json; charset=UTF-8" },
  frames: [JSON.stringify(body)],
});

const NOTHING = jsonReply({});

const MISSING = errorReply("route-unknown");

const NOT_RUNNING = refusalReply({
  code: 400,
  message: "Only an interaction that is in progress can be cancelled.",
  status: "FAILED_PRECONDITION",
});

function note({ stage, kind, entry }: Visit, served: string): void {
  stage.ledger.recordAnswer(kind, served);
  if (entry !== undefined) entry.served = served;
}

function refuse(visit: Visit, name: string, reply: Reply): Promise<void> {
  note(visit, name);
  return serve(visit.call, visit.entry, { reply: inForm(reply, formOf(visit)), fault: undefined, latencyMs: 0 });
}

const formOf = ({ stage }: Visit): ErrorForm => stage.play().interactions.settings.error_form;

const latencyOf = ({ stage }: Visit, step: RequestStep): number => step.latency_ms ?? stage.play().scenario.latency_ms;

/** The reply, or what the step's fault makes of it. */
function answer(visit: Visit, step: RequestStep, reply: Reply): Promise<void> {
  const { fault } = meaningOf(step.fault);
  const form = formOf(visit);
  // The general fault of this name speaks of models.
  const refusal = fault === "http-404" ? inForm(MISSING, form) : fault && faultReply(fault, step.retry_after, form);
  return serve(visit.call, visit.entry, {
    reply: refusal ?? reply,
    fault: refusal === undefined ? fault : undefined,
    latencyMs: latencyOf(visit, step),
    retryAfter: step.retry_after,
  });
}

interface Following {
  run: Run;
  step: RequestStep;
  from: number;
  onOpen: () => void;
}

async function follow(visit: Visit, { run, step, from, onOpen }: Following): Promise<void> {
  const { call, stage, entry } = visit;
  const { settings } = stage.play().interactions;
  const latencyMs = latencyOf(visit, step);
  if (latencyMs > 0) await sleep(latencyMs, undefined, { signal: call.signal });
  await streamLive(call.response, {
    run,
    runs: stage.runs,
    from,
    cutMs: step.cut_ms ?? settings.stream_cut_ms,
    cut: step.cut ?? settings.stream_cut,
    cutAfter: step.cut_after ?? Infinity,
    signal: call.signal,
    onOpen,
    onCut: () => {
      if (entry !== undefined) noteEnd(call, entry, "cut");
    },
  });
}

type Start = Extract<ReadCreate, { kind: "start" }>;

async function begin(visit: Visit, start: Start, key: string): Promise<void> {
  const { call, stage } = visit;
  const { step, life } = stage.play().interactions.create();
  const { accepted, fault } = meaningOf(step.fault);
  const { latency_ms, retry_after } = step;
  note(visit, step.fault ?? "accepted");
  if (!accepted) return answer(visit, { fault, latency_ms, retry_after }, NOTHING);
  // Taken before it is answered, however long that takes: this is what makes a lost answer expensive.
  const run = stage.runs.open({ ...start.facts, life, key });
  const onOpen = (): void => stage.runs.markDelivered(run);
  if (start.stream && fault === undefined) return follow(visit, { run, step: { latency_ms }, from: 0, onOpen });
  if (fault === undefined || fault === "slow-drip") call.response.once("finish", onOpen);
  const reply = start.stream ? streamSoFar(run, 0, 0) : jsonReply(headOf(run, workingStatus(run)));
  return answer(visit, { fault, latency_ms }, reply);
}

async function create(call: Call, stage: Stage): Promise<void> {
  const read = readCreate(call.body, stage.runs);
  const facts = read.kind === "start" ? { model: read.facts.agent, question: read.facts.query } : {};
  const visit: Visit = { call, stage, kind: "create", entry: openEntry(call, stage, facts) };
  const refusal = refusalOf(call, stage);
  if (refusal !== undefined) return refuse(visit, refusal, errorReply(refusal));
  if (read.kind === "refused") return refuse(visit, read.name, read.reply);
  return begin(visit, read, fingerprintOf(call) ?? "");
}

async function look(visit: Visit, run: Run, step: RequestStep): Promise<void> {
  const elapsed = visit.stage.runs.elapsed(run);
  note(visit, step.fault ?? statusAt(run, elapsed));
  const withInput = visit.call.url.searchParams.get("include_input") === "true";
  const { as_id: id, extra_depth: depth } = step;
  const body = { ...interactionAt(run, elapsed, { withInput }), ...(id !== undefined && { id }) };
  return answer(visit, step, depth === undefined ? jsonReply(body) : nestedReply(body, depth));
}

/** Too deep for JSON.stringify. */
function nestedReply(body: Json, depth: number): Reply {
  const reply = jsonReply(body);
  const nested = `${"[".repeat(depth)}${"]".repeat(depth)}`;
  return { ...reply, frames: [reply.frames.join("").replace(/^\{/, () => `{"extra":${nested},`)] };
}

async function stream(visit: Visit, run: Run, step: RequestStep): Promise<void> {
  const from = placeAfter(visit.call.url.searchParams.get("last_event_id"), eventsOf(run));
  if (from === undefined) return refuse(visit, "event-unknown", errorReply("http-400"));
  note(visit, step.fault ?? "open");
  if (step.fault === undefined) return follow(visit, { run, step, from, onOpen: () => {} });
  return answer(visit, step, streamSoFar(run, visit.stage.runs.elapsed(run), from));
}

async function cancel(visit: Visit, run: Run, step: RequestStep): Promise<void> {
  const { runs } = visit.stage;
  const elapsed = runs.elapsed(run);
  const ended = elapsed >= (endOf(run)?.at ?? Infinity) && statusAt(run, elapsed);
  if (ended !== false && ended !== "cancelled") return refuse(visit, "not-running", NOT_RUNNING);
  note(visit, step.fault ?? "cancelled");
  if (meaningOf(step.fault).accepted) runs.cancel(run);
  // Google says `cancelled` at once; a look may see it later.
  const status = run.life.cancel_ignored ? statusAt(run, elapsed) : "cancelled";
  return answer(visit, step, jsonReply({ ...interactionAt(run, elapsed, { withInput: false }), status }));
}

async function remove(visit: Visit, run: Run, step: RequestStep): Promise<void> {
  note(visit, step.fault ?? "deleted");
  if (meaningOf(step.fault).accepted) visit.stage.runs.remove(run);
  return answer(visit, step, NOTHING);
}

const HANDLERS = { get: look, stream, cancel, delete: remove };

/** Whose run it is comes before what the scenario wants: a step is only for those who may ask. */
async function visitRun(kind: RunRequest, call: Call, stage: Stage, id: string): Promise<void> {
  const entry = kind === "cancel" || kind === "delete" ? openEntry(call, stage) : undefined;
  const visit: Visit = { call, stage, kind, entry };
  const refusal = refusalOf(call, stage);
  if (refusal !== undefined) return refuse(visit, refusal, errorReply(refusal));
  const run = stage.runs.find(id);
  if (run === undefined) return refuse(visit, "missing", MISSING);
  stage.ledger.recordVisit(id, TRAFFIC[kind]);
  const { interactions } = stage.play();
  if (run.start.key !== fingerprintOf(call)) {
    return refuse(visit, "foreign-key", interactions.settings.foreign_key === 404 ? MISSING : errorReply("http-403"));
  }
  return HANDLERS[kind](visit, run, interactions.request(kind, id));
}

const ONE = /\/v1\w*\/interactions\/([^/]+)$/;

export const INTERACTION_ROUTES: readonly Route[] = [
  { method: "POST", path: /\/v1\w*\/interactions$/, handle: create },
  {
    method: "GET",
    path: ONE,
    handle: (call, stage, [, id = ""]) =>
      visitRun(call.url.searchParams.get("stream") === "true" ? "stream" : "get", call, stage, id),
  },
  {
    method: "POST",
    path: /\/v1\w*\/interactions\/([^/]+)\/cancel$/,
    handle: (call, stage, [, id = ""]) => visitRun("cancel", call, stage, id),
  },
  { method: "DELETE", path: ONE, handle: (call, stage, [, id = ""]) => visitRun("delete", call, stage, id) },
];
