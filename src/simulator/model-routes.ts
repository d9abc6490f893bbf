/** `models/…:generateContent`, whole and streamed: checks the key, notes the request, plays the scenario. */

import { deliver, type Delivery } from "./faults.ts";
import { exchangeIdIn, takeTurn } from "./generate-content.ts";
import { errorReply, type ErrorName } from "./google-errors.ts";
import { keyFingerprint, type LedgerEntry } from "./ledger.ts";
import { readPrompt, type PromptReading } from "./prompt.ts";
import { generateContentRequest, toolNames, type GenerateContentRequest } from "./request.ts";
import type { Call, Route, Stage } from "./route.ts";
import type { Exchange } from "./scenario.ts";
import { streamedReply, wholeReply } from "./wire.ts";

const MAX_BODY_BYTES = 20 * 1024 * 1024;

function keyOf({ headers, url }: Call): string | undefined {
  const header = headers["x-goog-api-key"];
  const key = typeof header === "string" ? header : url.searchParams.get("key");
  return key === null || key === "" ? undefined : key;
}

function parseBody({ body }: Call): GenerateContentRequest | undefined {
  try {
    return generateContentRequest.parse(JSON.parse(body.toString()));
  } catch {
    return undefined;
  }
}

function refusalOf(call: Call, stage: Stage): ErrorName | undefined {
  if (keyOf(call) === undefined) return "key-missing";
  if (stage.play().scenario.reject_key) return "key-invalid";
  return call.body.length > MAX_BODY_BYTES ? "body-too-large" : undefined;
}

function noteEnd(call: Call, entry: LedgerEntry, outcome: LedgerEntry["outcome"]): void {
  if (entry.outcome !== "pending") return;
  entry.outcome = outcome;
  if (call.response.headersSent) entry.status = call.response.statusCode;
}

/** Only the connection knows how a request ended; `close` comes after `finish` when all was sent. */
function watchEnd(call: Call, entry: LedgerEntry): void {
  call.response.once("finish", () => noteEnd(call, entry, "completed"));
  call.response.once("close", () => noteEnd(call, entry, "aborted"));
}

function noteReading(entry: LedgerEntry, request: GenerateContentRequest, reading: PromptReading): void {
  entry.kind = reading.kind;
  entry.question = reading.question;
  entry.round = reading.round;
  entry.tools = toolNames(request);
}

function exchangeFor(entry: LedgerEntry, reading: PromptReading, { play }: Stage): Exchange {
  const id = exchangeIdIn(reading);
  entry.turn = id === undefined ? "opening" : "later";
  return id === undefined ? play().open(reading.kind, reading.round) : play().resume(id);
}

const serve = (call: Call, entry: LedgerEntry, what: Omit<Delivery, "signal" | "onCut">): Promise<void> =>
  deliver(call.response, {
    ...what,
    signal: call.signal,
    onCut: () => noteEnd(call, entry, "cut"),
  });

function refuse(call: Call, entry: LedgerEntry, name: ErrorName): Promise<void> {
  entry.served = name;
  return serve(call, entry, { reply: errorReply(name), fault: undefined, latencyMs: 0 });
}

async function generate(call: Call, stage: Stage, match: RegExpExecArray): Promise<void> {
  const [, model = "", method] = match;
  const key = keyOf(call);
  const entry = stage.ledger.record({
    method: call.method,
    path: call.url.pathname,
    model,
    bytes: call.body.length,
    key: key === undefined ? undefined : keyFingerprint(key),
  });
  watchEnd(call, entry);
  const request = parseBody(call);
  // Readable requests are noted before they are refused, so that the ledger shows what was refused.
  const isCli = call.headers["user-agent"]?.startsWith("GeminiCLI") === true;
  const reading = request && readPrompt(request, { unescapeAt: isCli });
  if (request !== undefined && reading !== undefined) noteReading(entry, request, reading);
  const refusal = refusalOf(call, stage);
  if (refusal !== undefined) return refuse(call, entry, refusal);
  if (request === undefined || reading === undefined) return refuse(call, entry, "body-invalid");

  const exchange = exchangeFor(entry, reading, stage);
  const { scenario } = stage.play();
  const turn = takeTurn({ request, reading, exchange, scenario });
  const reply = method === "streamGenerateContent" ? streamedReply : wholeReply;
  // A later turn belongs to a step whose fault has been served.
  const fault = entry.turn === "opening" ? exchange.step.fault : undefined;
  entry.served = fault ?? (turn.calls.length > 0 ? "function-calls" : exchange.step.answer);
  const latencyMs = exchange.step.latency_ms ?? scenario.latency_ms;
  return serve(call, entry, { reply: reply({ request, turn, model }), fault, latencyMs });
}

export const MODEL_ROUTES: readonly Route[] = [
  {
    method: "POST",
    path: /\/v1\w*\/models\/([^/:]+):(generateContent|streamGenerateContent)$/,
    handle: generate,
  },
];
