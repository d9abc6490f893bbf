/** `models/…:generateContent`, whole and streamed: checks the key, notes the request, plays the scenario. */

import { exchangeIdIn, takeTurn } from "./generate-content.ts";
import type { LedgerEntry } from "../ledger.ts";
import { readPrompt, type PromptReading } from "./prompt.ts";
import { generateContentRequest, textOf, toolNames, type GenerateContentRequest } from "./request.ts";
import type { Call, Route, Stage } from "../route.ts";
import type { Exchange } from "../scenario.ts";
import { openEntry, refusalOf, refuse, serve } from "../served-call.ts";
import { streamedReply, wholeReply } from "./wire.ts";

function parseBody({ body }: Call): GenerateContentRequest | undefined {
  try {
    return generateContentRequest.parse(JSON.parse(body.toString()));
  } catch {
    return undefined;
  }
}

function noteReading(entry: LedgerEntry, request: GenerateContentRequest, reading: PromptReading): void {
  entry.kind = reading.kind;
  entry.question = reading.question;
  entry.round = reading.round;
  entry.tools = toolNames(request);
  entry.generationConfig = request.generationConfig;
  entry.shorter = /Answer again in the same form, with a report of at most \d+ characters\./.test(
    request.contents.map(textOf).join("\n"),
  );
}

function exchangeFor(entry: LedgerEntry, reading: PromptReading, { play }: Stage): Exchange {
  const id = exchangeIdIn(reading);
  entry.turn = id === undefined ? "opening" : "later";
  return id === undefined ? play().open(reading.kind, reading.round) : play().resume(id);
}

async function generate(call: Call, stage: Stage, match: RegExpExecArray): Promise<void> {
  const [, model = "", method] = match;
  const entry = openEntry(call, stage, { model });
  const request = parseBody(call);
  // Readable requests are noted before they are refused, so that the ledger shows what was refused.
  const isCli = call.headers["user-agent"]?.startsWith("GeminiCLI") === true;
  const reading = request && readPrompt(request, { unescapeAt: isCli });
  if (request !== undefined && reading !== undefined) noteReading(entry, request, reading);
  const refusal = refusalOf(call, stage);
  if (refusal !== undefined) return refuse(call, entry, refusal);
  if (request === undefined || reading === undefined) return refuse(call, entry, "body-invalid");

  const exchange = exchangeFor(entry, reading, stage);
  if (exchange.step.refused !== undefined) return refuse(call, entry, exchange.step.refused);
  const { scenario } = stage.play();
  const turn = takeTurn({ request, reading, exchange, scenario });
  const reply = method === "streamGenerateContent" ? streamedReply : wholeReply;
  // A later turn belongs to a step whose fault has been served.
  const fault = entry.turn === "opening" ? exchange.step.fault : undefined;
  entry.served = fault ?? (turn.calls.length > 0 ? "function-calls" : exchange.step.answer);
  const latencyMs = exchange.step.latency_ms ?? scenario.latency_ms;
  // Only an answer ends oddly; what leads to it is as always.
  const step = turn.calls.length > 0 ? {} : exchange.step;
  return serve(call, entry, { reply: reply({ request, turn, model, step }), fault, latencyMs });
}

/** What a program asks that wants to know whether its key is good: free at Google too. */
async function listModels(call: Call, stage: Stage): Promise<void> {
  const entry = openEntry(call, stage);
  const refusal = refusalOf(call, stage);
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
