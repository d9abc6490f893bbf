/** Routes of `models/…:generateContent` and `:streamGenerateContent`. */

import { exchangeIdIn, generateTurn } from "./generate-content.ts";
import type { LedgerEntry } from "../ledger.ts";
import { isErrorName } from "../google-errors.ts";
import { readPrompt, type PromptReading } from "./prompt.ts";
import { generateContentRequest, textOf, toolNames, type GenerateContentRequest } from "./request.ts";
import type { Call, Route, SimulatorContext } from "../route.ts";
import type { Exchange } from "../scenario.ts";
import { openLedgerEntry, refusalFor, refuse, serve } from "../served-call.ts";
import { chargeOf, streamedReply, wholeReply } from "./wire.ts";

function parseBody({ body }: Call): GenerateContentRequest | undefined {
  try {
    return generateContentRequest.parse(JSON.parse(body.toString()));
  } catch {
    return undefined;
  }
}

function recordPrompt(entry: LedgerEntry, request: GenerateContentRequest, reading: PromptReading): void {
  entry.kind = reading.kind;
  entry.question = reading.question;
  entry.wishes = reading.wishes;
  entry.round = reading.round;
  entry.tools = toolNames(request);
  entry.generationConfig = request.generationConfig;
  entry.shorter = /Answer again in the same form, with a report of at most \d+ characters\./.test(
    request.contents.map(textOf).join("\n"),
  );
}

function exchangeFor(entry: LedgerEntry, reading: PromptReading, { player }: SimulatorContext): Exchange {
  const id = exchangeIdIn(reading);
  entry.turn = id === undefined ? "opening" : "later";
  return id === undefined ? player().open(reading.kind, reading.round) : player().resume(id);
}

async function generate(call: Call, context: SimulatorContext, match: RegExpExecArray): Promise<void> {
  const [, model = "", method] = match;
  const entry = openLedgerEntry(call, context, { model });
  const request = parseBody(call);
  // Valid requests are recorded before they are rejected, so that the ledger shows them.
  const isCli = call.headers["user-agent"]?.startsWith("GeminiCLI") === true;
  const reading = request && readPrompt(request, { unescapeAt: isCli });
  if (request !== undefined && reading !== undefined) recordPrompt(entry, request, reading);
  const refusal = refusalFor(call, context);
  if (refusal !== undefined) return refuse(call, entry, refusal);
  if (request === undefined || reading === undefined) return refuse(call, entry, "body-invalid");

  const exchange = exchangeFor(entry, reading, context);
  const { scenario } = context.player();
  const turn = generateTurn({ request, reading, exchange, scenario });
  const reply = method === "streamGenerateContent" ? streamedReply : wholeReply;
  // The fault of a step is served with its opening turn only.
  const fault = entry.turn === "opening" ? exchange.step.fault : undefined;
  entry.served = fault ?? (turn.calls.length > 0 ? "function-calls" : exchange.step.answer);
  // An error is not charged; an answer is, whether it arrives or not.
  if (fault === undefined || !isErrorName(fault)) entry.costUsd = chargeOf({ request, turn, model });
  const latencyMs = exchange.step.latency_ms ?? scenario.latency_ms;
  // Only final answers have unusual endings; function calls are always regular.
  const step = turn.calls.length > 0 ? {} : exchange.step;
  return serve(call, entry, { reply: reply({ request, turn, model, step }), fault, latencyMs });
}

/** Used by programs to check their key, which is free at Google too. */
async function listModels(call: Call, context: SimulatorContext): Promise<void> {
  const entry = openLedgerEntry(call, context);
  const refusal = refusalFor(call, context);
  if (refusal !== undefined) return refuse(call, entry, refusal);
  const models = [{ name: "models/gemini-3.8-flash", supportedGenerationMethods: ["generateContent"] }];
  const headers = { "content-type": "application/json; charset=UTF-8" };
  const reply = { status: 200, headers, frames: [JSON.stringify({ models })] };
  return serve(call, entry, { reply, fault: undefined, latencyMs: 0 });
}

export const MODEL_ROUTES: readonly Route[] = [
  { method: "GET", path: /\/v1\w*\/models$/, handle: listModels },
  {
    method: "POST",
    path: /\/v1\w*\/models\/([^/:]+):(generateContent|streamGenerateContent)$/,
    handle: generate,
  },
];
